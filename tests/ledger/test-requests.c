/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a request in the ledger: whichever row comes first stands, and nothing runs twice. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "tests/ledger/fixture.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
test_first_row_wins (Fixture *fixture, gconstpointer data)
{
  /* what was first, what comes next, and why it is refused */
  static const struct
  {
    const char *first, *next, *reason;
  } cases[] = {
    { "denied", "consume", US_REASON_CLOSED },
    { "withdrawn", "consume", US_REASON_CLOSED },
    { "expired", "consume", US_REASON_CLOSED },
    { "superseded", "consume", US_REASON_CLOSED },
    { "unreachable", "consume", US_REASON_CLOSED },
    { "denied", "withdrawn", US_REASON_CLOSED },
    { "denied", "denied", US_REASON_CLOSED },
    { "consume", "denied", US_REASON_ALREADY_CONSUMED },
    { "consume", "consume", US_REASON_ALREADY_CONSUMED },
    { "finish", "denied", US_REASON_ALREADY_CONSUMED },
    { "finish", "consume", US_REASON_ALREADY_CONSUMED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *id = g_strdup_printf ("%032u", 100 + i);
      g_autofree char *to = g_strdup_printf ("to%u@example.com", i);
      g_autoptr (Record) record = fixture_record_to (to);
      LedgerState before = LEDGER_NONE;

      if (strcmp (cases[i].first, "consume") == 0 || strcmp (cases[i].first, "finish") == 0)
        g_assert_true (fixture_consume (fixture, id, record, &error));
      else
        g_assert_true (fixture_close_request (fixture, id, cases[i].first, &error));
      if (strcmp (cases[i].first, "finish") == 0)
        g_assert_true (ledger_finish (fixture->ledger, id, "failed", "", &error));
      g_assert_no_error (error);

      before = fixture_state (fixture, id);
      if (strcmp (cases[i].next, "consume") == 0)
        g_assert_false (fixture_consume (fixture, id, record, &error));
      else
        g_assert_false (fixture_close_request (fixture, id, cases[i].next, &error));
      g_assert_true (g_error_matches (error, US_ERROR, US_ERROR_WRONG_STATE));
      fixture_assert_reason (&error, cases[i].reason);
      g_assert_cmpint (fixture_state (fixture, id), ==, before);
      fixture_reopen (fixture); /* lets go of the request's lock */
    }
}

static void
test_closed_tells_why (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_auto (LedgerStatus) status = { 0 };

  g_assert_true (fixture_close_request (fixture, FIXTURE_REQUEST, "denied", &error));
  g_assert_true (ledger_query (fixture->ledger, FIXTURE_REQUEST, &status, &error));
  g_assert_no_error (error);
  g_assert_cmpint (status.state, ==, LEDGER_CLOSED);
  g_assert_cmpstr (status.why, ==, "denied");
  g_assert_cmpstr (status.by, ==, "hr.jones");
  g_assert_cmpstr (status.reason, ==, "other");
  g_assert_cmpstr (status.result, ==, "");
}

/* assert_kept: of each row, in the order of ids, whether the record is kept whole; its digest is. */
static void
assert_kept (Fixture *fixture, const gboolean *kept, guint n)
{
  g_autofree char *file = fixture_state_path (fixture, "ledger.db");
  sqlite3_stmt *query = NULL;
  sqlite3 *db = NULL;

  fixture_close (fixture);
  g_assert_cmpint (sqlite3_open (file, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db,
                                       "SELECT length (record), length (digest) FROM request "
                                       "ORDER BY id",
                                       -1, &query, NULL),
                   ==, SQLITE_OK);
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpint (sqlite3_step (query), ==, SQLITE_ROW);
      g_assert_cmpint (sqlite3_column_int (query, 0) > 0, ==, kept[i]);
      g_assert_cmpint (sqlite3_column_int (query, 1), ==, 32);
    }
  g_assert_cmpint (sqlite3_step (query), ==, SQLITE_DONE);
  sqlite3_finalize (query);
  g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
  fixture_reopen (fixture);
}

/* What an agent can end as often as it likes leaves a digest, a person's word its whole record. */
static void
test_closed_record (Fixture *fixture, gconstpointer data)
{
  static const gboolean kept[] = { TRUE, FALSE, FALSE };

  g_assert_true (fixture_close_request (fixture, FIXTURE_REQUEST, "denied", NULL));
  g_assert_true (fixture_close_request (fixture, FIXTURE_OTHER, "withdrawn", NULL));
  g_assert_true (fixture_close_request (fixture, FIXTURE_THIRD, "superseded", NULL));
  assert_kept (fixture, kept, G_N_ELEMENTS (kept));
}

static void
consume_answered (Fixture *fixture, const char *request, const Record *record)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Passkey) passkey = fixture_passkey ("alice", 1001, 0);
  g_autoptr (GPtrArray) answers = fixture_answers ();
  g_autoptr (GPtrArray) limits = fixture_limits ();
  Consumption consumption = {
    .request = request,
    .record = record,
    .answers = answers,
    .limits = limits,
    .deadline = clock_boottime () + 60 * G_USEC_PER_SEC,
  };

  g_ptr_array_add (answers, fixture_answer (passkey, request, record, 1));
  g_assert_true (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  g_assert_true (ledger_add_answer (fixture->ledger, g_ptr_array_index (answers, 0), &error));
  g_assert_true (ledger_consume (fixture->ledger, &consumption, &error));
  g_assert_no_error (error);
}

/* The same of what ran: whole where it has an effect or a person answered for it. */
static void
test_consumed_record (Fixture *fixture, gconstpointer data)
{
  static const gboolean kept[] = { FALSE, TRUE, TRUE };
  g_autoptr (Record) look = fixture_record_of_effect ("read");
  g_autoptr (Record) change = fixture_record_of_effect ("reversible");

  g_assert_true (fixture_consume (fixture, FIXTURE_REQUEST, look, NULL));
  g_assert_true (ledger_finish (fixture->ledger, FIXTURE_REQUEST, "done", "", NULL));
  g_assert_true (fixture_consume (fixture, FIXTURE_OTHER, change, NULL));
  g_assert_true (ledger_finish (fixture->ledger, FIXTURE_OTHER, "done", "", NULL));
  consume_answered (fixture, FIXTURE_THIRD, look);
  assert_kept (fixture, kept, G_N_ELEMENTS (kept));
}

static void
test_outcome_comes_once (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *outcome;
    LedgerState state;
  } cases[] = {
    { "done", LEDGER_DONE },
    { "failed", LEDGER_FAILED },
    { "unknown", LEDGER_UNKNOWN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *id = g_strdup_printf ("%032u", 100 + i);
      g_autofree char *to = g_strdup_printf ("to%u@example.com", i);
      g_autoptr (Record) record = fixture_record_to (to);

      g_assert_false (ledger_finish (fixture->ledger, id, "done", "", &error));
      fixture_assert_reason (&error, US_REASON_WRONG_STATE);
      g_assert_true (fixture_consume (fixture, id, record, &error));
      g_assert_cmpint (fixture_state (fixture, id), ==, LEDGER_EXECUTING);
      g_assert_true (ledger_finish (fixture->ledger, id, cases[i].outcome, "r", &error));
      g_assert_no_error (error);
      g_assert_cmpint (fixture_state (fixture, id), ==, cases[i].state);
      g_assert_false (ledger_finish (fixture->ledger, id, "done", "", &error));
      fixture_assert_reason (&error, US_REASON_WRONG_STATE);
      g_assert_cmpint (fixture_state (fixture, id), ==, cases[i].state);
    }
}

/* in_child: runs as another worker would, with a ledger of its own, and dies as if killed. */
static void
in_child (Fixture *fixture, void (*function) (Fixture *))
{
  pid_t pid = 0;
  int status = 0;

  fixture_close (fixture);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      fixture_reopen (fixture);
      function (fixture);
      _exit (0);
    }
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (status, ==, 0);
  fixture_reopen (fixture);
}

static void
consume_and_die (Fixture *fixture)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");

  if (!fixture_consume (fixture, FIXTURE_REQUEST, record, NULL))
    _exit (1);
}

static void
test_worker_dies (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");

  in_child (fixture, consume_and_die);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_UNKNOWN);

  /* it is never run again, and neither is the same intent under another id */
  g_assert_false (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  fixture_assert_reason (&error, US_REASON_ALREADY_CONSUMED);
  g_assert_false (fixture_consume (fixture, FIXTURE_OTHER, record, &error));
  fixture_assert_reason (&error, US_REASON_INTENT_UNKNOWN);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_OTHER), ==, LEDGER_NONE);

  g_assert_true (ledger_resolve (fixture->ledger, FIXTURE_REQUEST, "failed", "looked", 0, &error));
  g_assert_no_error (error);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_FAILED);
  g_assert_false (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  fixture_assert_reason (&error, US_REASON_ALREADY_CONSUMED);
  g_assert_true (fixture_consume (fixture, FIXTURE_OTHER, record, &error));
  g_assert_no_error (error);
}

static void
test_resolve_only_unknown (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  gboolean resolved = TRUE;

  g_assert_false (ledger_resolve (fixture->ledger, FIXTURE_REQUEST, "done", "", 0, &error));
  fixture_assert_reason (&error, US_REASON_NOT_FOUND);
  g_assert_true (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  g_assert_false (ledger_resolve (fixture->ledger, FIXTURE_REQUEST, "done", "", 0, &error));
  fixture_assert_reason (&error, US_REASON_WRONG_STATE);
  g_assert_true (ledger_finish (fixture->ledger, FIXTURE_REQUEST, "unknown",
                                "\"event\":\"resolved\"", &error));
  g_assert_true (ledger_was_resolved (fixture->ledger, FIXTURE_REQUEST, &resolved, &error));
  g_assert_false (resolved);
  g_assert_true (ledger_resolve (fixture->ledger, FIXTURE_REQUEST, "done", "note", 0, &error));
  g_assert_no_error (error);
  g_assert_true (ledger_was_resolved (fixture->ledger, FIXTURE_REQUEST, &resolved, &error));
  g_assert_true (resolved);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_DONE);
  g_assert_false (ledger_resolve (fixture->ledger, FIXTURE_REQUEST, "failed", "", 0, &error));
  fixture_assert_reason (&error, US_REASON_WRONG_STATE);

  g_assert_true (fixture_close_request (fixture, FIXTURE_OTHER, "denied", &error));
  g_assert_false (ledger_resolve (fixture->ledger, FIXTURE_OTHER, "done", "", 0, &error));
  fixture_assert_reason (&error, US_REASON_WRONG_STATE);
}

static void
test_intent_while_executing (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  const guint8 *intent = record_intent (record);

  g_assert_true (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  g_assert_false (ledger_check_intent (fixture->ledger, intent, FIXTURE_OTHER, &error));
  fixture_assert_reason (&error, US_REASON_INTENT_UNKNOWN);
  g_assert_true (ledger_check_intent (fixture->ledger, intent, FIXTURE_REQUEST, &error));
  g_assert_true (ledger_finish (fixture->ledger, FIXTURE_REQUEST, "done", "", &error));
  g_assert_true (ledger_check_intent (fixture->ledger, intent, FIXTURE_OTHER, &error));
  g_assert_no_error (error);
}

static gboolean
supersede (Fixture *fixture,
           const char *request,
           const char *superseded,
           const Record *old,
           GError **error)
{
  g_autofree char *to = g_strconcat ("r", request, "@example.com", NULL);
  g_autoptr (Record) record = fixture_record_to (to);
  g_autoptr (GPtrArray) answers = fixture_answers ();
  g_autoptr (GPtrArray) limits = fixture_limits ();
  Consumption consumption = {
    .request = request,
    .record = record,
    .answers = answers,
    .limits = limits,
    .deadline = clock_boottime () + 60 * G_USEC_PER_SEC,
    .supersedes = superseded,
    .supersedes_digest = record_digest (old),
  };

  if (!ledger_consume (fixture->ledger, &consumption, error))
    return FALSE;
  return ledger_finish (fixture->ledger, request, "done", "", error);
}

static void
test_supersede_newer_first (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) old = fixture_record_to ("a@example.com");

  g_assert_true (supersede (fixture, FIXTURE_OTHER, FIXTURE_REQUEST, old, &error));
  g_assert_no_error (error);
  g_assert_false (fixture_consume (fixture, FIXTURE_REQUEST, old, &error));
  fixture_assert_reason (&error, US_REASON_CLOSED);
  g_assert_false (supersede (fixture, FIXTURE_THIRD, FIXTURE_REQUEST, old, &error));
  fixture_assert_reason (&error, US_REASON_ALREADY_CONSUMED);
}

static void
test_supersede_older_first (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) old = fixture_record_to ("a@example.com");

  g_assert_true (fixture_consume (fixture, FIXTURE_REQUEST, old, &error));
  g_assert_true (ledger_finish (fixture->ledger, FIXTURE_REQUEST, "done", "", &error));
  g_assert_false (supersede (fixture, FIXTURE_OTHER, FIXTURE_REQUEST, old, &error));
  fixture_assert_reason (&error, US_REASON_ALREADY_CONSUMED);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_OTHER), ==, LEDGER_NONE);
}

static void
test_supersede_closed (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) old = fixture_record_to ("a@example.com"); /* as fixture_close_request() */
  g_autoptr (Record) wrong = fixture_record_to ("z@example.com");

  g_assert_true (fixture_close_request (fixture, FIXTURE_REQUEST, "superseded", &error));
  g_assert_false (supersede (fixture, FIXTURE_OTHER, FIXTURE_REQUEST, wrong, &error));
  fixture_assert_reason (&error, US_REASON_RECORD_CHANGED);
  g_assert_true (supersede (fixture, FIXTURE_OTHER, FIXTURE_REQUEST, old, &error));
  g_assert_no_error (error);
  g_assert_false (supersede (fixture, FIXTURE_THIRD, FIXTURE_REQUEST, old, &error));
  fixture_assert_reason (&error, US_REASON_ALREADY_CONSUMED);
}

static void
test_deadline (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (GPtrArray) answers = fixture_answers ();
  g_autoptr (GPtrArray) limits = fixture_limits ();
  Consumption consumption = {
    .request = FIXTURE_REQUEST,
    .record = record,
    .answers = answers,
    .limits = limits,
    .deadline = clock_boottime (),
  };

  g_assert_false (ledger_consume (fixture->ledger, &consumption, &error));
  fixture_assert_reason (&error, US_REASON_DEADLINE_PASSED);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_NONE);
}

static void
test_answer_gone_at_consume (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Passkey) passkey = fixture_passkey ("it.lead", 1002, 0);
  g_autoptr (GPtrArray) answers = fixture_answers ();
  g_autoptr (GPtrArray) limits = fixture_limits ();
  g_autoptr (Answer) anew = NULL;
  Consumption consumption = {
    .request = FIXTURE_REQUEST,
    .record = record,
    .answers = answers,
    .limits = limits,
    .deadline = clock_boottime () + 60 * G_USEC_PER_SEC,
  };

  g_ptr_array_add (answers, fixture_answer (passkey, FIXTURE_REQUEST, record, 1));
  g_assert_false (ledger_consume (fixture->ledger, &consumption, &error));
  fixture_assert_reason (&error, US_REASON_CREDENTIAL_UNKNOWN);

  g_assert_true (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  g_assert_false (ledger_consume (fixture->ledger, &consumption, &error)); /* never stored */
  fixture_assert_reason (&error, US_REASON_STATEMENT_CHANGED);
  g_assert_true (ledger_add_answer (fixture->ledger, g_ptr_array_index (answers, 0), &error));
  anew = fixture_answer (passkey, FIXTURE_REQUEST, record, 2);
  g_assert_true (ledger_add_answer (fixture->ledger, anew, &error));
  g_assert_no_error (error);
  g_assert_false (ledger_consume (fixture->ledger, &consumption, &error)); /* replaced */
  fixture_assert_reason (&error, US_REASON_STATEMENT_CHANGED);
  g_ptr_array_set_size (answers, 0);
  g_ptr_array_add (answers, g_steal_pointer (&anew));
  g_assert_true (ledger_revoke_passkey (fixture->ledger, passkey->credential, 0, &error));
  g_assert_no_error (error);
  g_assert_false (ledger_consume (fixture->ledger, &consumption, &error));
  fixture_assert_reason (&error, US_REASON_CREDENTIAL_REVOKED);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_NONE);
}

/* The mark cannot be written: the approval is used up, nothing runs, and that is what it says. */
static void
test_mark_unwritable (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autofree char *obstacle = fixture_runtime_path (fixture, "mark.new");

  g_assert_cmpint (g_mkdir (obstacle, 0700), ==, 0);
  g_assert_false (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  fixture_assert_reason (&error, US_REASON_MARK);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_FAILED);
  /* a denial is true without a mark */
  g_assert_true (fixture_close_request (fixture, FIXTURE_OTHER, "denied", &error));
  g_assert_no_error (error);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_OTHER), ==, LEDGER_CLOSED);

  g_assert_cmpint (g_rmdir (obstacle), ==, 0);
  g_assert_true (fixture_consume (fixture, FIXTURE_THIRD, record, &error));
  g_assert_no_error (error);
}

#define WORKERS 50

static int
worker_main (Fixture *fixture, int start)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  char byte = 0;

  fixture_reopen (fixture);
  if (read (start, &byte, 1) != 0)
    return 9;
  if (fixture_consume (fixture, FIXTURE_REQUEST, record, &error))
    return ledger_finish (fixture->ledger, FIXTURE_REQUEST, "done", "", NULL) ? 1 : 9;
  return us_error_has_reason (error, US_REASON_ALREADY_CONSUMED) ? 0 : 9;
}

static void
test_parallel_consumers (Fixture *fixture, gconstpointer data)
{
  pid_t pids[WORKERS];
  int start[2];
  guint consumed = 0;

  fixture_close (fixture);
  g_assert_cmpint (pipe (start), ==, 0);
  for (guint i = 0; i < WORKERS; i++)
    {
      pids[i] = fork ();
      g_assert_cmpint (pids[i], >=, 0);
      if (pids[i] == 0)
        {
          close (start[1]);
          _exit (worker_main (fixture, start[0]));
        }
    }
  close (start[1]); /* all at once */
  for (guint i = 0; i < WORKERS; i++)
    {
      int status = 0;

      g_assert_cmpint (waitpid (pids[i], &status, 0), ==, pids[i]);
      g_assert_true (WIFEXITED (status));
      g_assert_cmpint (WEXITSTATUS (status), <=, 1);
      consumed += (guint) WEXITSTATUS (status);
    }
  close (start[0]);
  g_assert_cmpuint (consumed, ==, 1);
  fixture_reopen (fixture);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_DONE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_test ("/ledger/request/first-row-wins", test_first_row_wins);
  fixture_test ("/ledger/request/closed-tells-why", test_closed_tells_why);
  fixture_test ("/ledger/request/closed-record", test_closed_record);
  fixture_test ("/ledger/requests/consumed-record", test_consumed_record);
  fixture_test ("/ledger/request/outcome-comes-once", test_outcome_comes_once);
  fixture_test ("/ledger/request/worker-dies", test_worker_dies);
  fixture_test ("/ledger/request/resolve-only-unknown", test_resolve_only_unknown);
  fixture_test ("/ledger/request/intent-while-executing", test_intent_while_executing);
  fixture_test ("/ledger/supersede/newer-first", test_supersede_newer_first);
  fixture_test ("/ledger/supersede/older-first", test_supersede_older_first);
  fixture_test ("/ledger/supersede/closed", test_supersede_closed);
  fixture_test ("/ledger/consume/deadline", test_deadline);
  fixture_test ("/ledger/consume/answer-gone", test_answer_gone_at_consume);
  fixture_test ("/ledger/consume/mark-unwritable", test_mark_unwritable);
  fixture_test ("/ledger/consume/parallel", test_parallel_consumers);
  return g_test_run ();
}
