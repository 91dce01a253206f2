/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pruning: what is gone, what stays, and that an id can never be used again. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/file.h"
#include "tests/ledger/fixture.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

static guint64
number (Fixture *fixture, const char *sql)
{
  g_autofree char *file = fixture_state_path (fixture, "ledger.db");
  sqlite3_stmt *query = NULL;
  sqlite3 *db = NULL;
  guint64 found = 0;

  fixture_close (fixture);
  g_assert_cmpint (sqlite3_open (file, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db, sql, -1, &query, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_step (query), ==, SQLITE_ROW);
  found = (guint64) sqlite3_column_int64 (query, 0);
  sqlite3_finalize (query);
  g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
  fixture_reopen (fixture);
  return found;
}

/* One request done, one denied, one whose outcome nobody knows. */
static void
fill (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Record) other = fixture_record_to ("b@example.com");
  g_autoptr (Passkey) passkey = fixture_passkey ("it.lead", 1002, 0);
  g_autoptr (Answer) answer = fixture_answer (passkey, FIXTURE_REQUEST, record, 0);
  guint8 image[PAE_DIGEST_SIZE] = { 1 };

  g_assert_true (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  g_assert_true (ledger_add_answer (fixture->ledger, answer, &error));
  g_assert_true (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  g_assert_true (ledger_finish (fixture->ledger, FIXTURE_REQUEST, "done", "sent", &error));
  g_assert_true (fixture_close_request (fixture, FIXTURE_OTHER, "denied", &error));
  g_assert_true (fixture_consume (fixture, FIXTURE_THIRD, other, &error));
  g_assert_true (ledger_finish (fixture->ledger, FIXTURE_THIRD, "unknown", "", &error));
  g_assert_true (ledger_note_policy (fixture->ledger, image, TRUE, &error));
  g_assert_no_error (error);
}

static guint64
prune (Fixture *fixture, gint64 before)
{
  g_autoptr (GError) error = NULL;
  guint64 removed = 0;
  gboolean more = TRUE;

  g_assert_true (ledger_prune (fixture->ledger, before, 0, &removed, &more, &error));
  g_assert_no_error (error);
  g_assert_false (more);
  return removed;
}

static void
test_prune (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  guint8 head[PAE_DIGEST_SIZE];
  guint64 count = 0, before = 0;

  fill (fixture);
  g_assert_true (ledger_head (fixture->ledger, &before, head, &error));
  g_assert_cmpuint (prune (fixture, clock_wall () - 3600), ==, 0);
  g_assert_cmpuint (prune (fixture, clock_wall () + 3600), ==, before - 1);

  /* the last of the old, and the one that tells of it */
  g_assert_cmpuint (number (fixture, "SELECT count (*) FROM audit"), ==, 2);
  g_assert_true (ledger_audit_verify (fixture->ledger, &count, head, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (count, ==, before + 1);
  g_assert_true (ledger_check_running (fixture->ledger, &error));
  g_assert_no_error (error);

  /* once more: what tells of the first time goes, too */
  g_assert_cmpuint (prune (fixture, clock_wall () + 3600), ==, 1);
  g_assert_true (ledger_audit_verify (fixture->ledger, &count, head, &error));
  g_assert_no_error (error);
}

static void
test_what_stays (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Record) other = fixture_record_to ("b@example.com");
  g_autoptr (Passkey) passkey = fixture_passkey ("it.lead", 1002, 0);
  g_autoptr (Answer) answer = fixture_answer (passkey, FIXTURE_REQUEST, record, 0);
  g_autoptr (GError) error = NULL;

  fill (fixture);
  prune (fixture, clock_wall () + 3600);
  g_assert_cmpuint (number (fixture, "SELECT count (*) FROM request"), ==, 3);
  g_assert_cmpuint (number (fixture, "SELECT count (*) FROM answer"), ==, 0);
  g_assert_cmpuint (number (fixture, "SELECT count (*) FROM request WHERE pruned AND "
                                     "length (record) = 0 AND result = ''"),
                    ==, 2);
  /* what is not resolved stays whole, and forbids its intent */
  g_assert_cmpuint (number (fixture, "SELECT count (*) FROM request WHERE NOT pruned AND "
                                     "outcome = 'unknown' AND length (record) > 0"),
                    ==, 1);
  g_assert_false (ledger_check_intent (fixture->ledger, record_intent (other), FIXTURE_OTHER,
                                       &error));
  fixture_assert_reason (&error, US_REASON_INTENT_UNKNOWN);

  /* no id is free again, for nothing */
  g_assert_false (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  fixture_assert_reason (&error, US_REASON_ALREADY_CONSUMED);
  g_assert_false (fixture_consume (fixture, FIXTURE_OTHER, record, &error));
  fixture_assert_reason (&error, US_REASON_CLOSED);
  g_assert_false (ledger_add_answer (fixture->ledger, answer, &error));
  fixture_assert_reason (&error, US_REASON_ALREADY_CONSUMED);
  g_assert_false (fixture_close_request (fixture, FIXTURE_REQUEST, "denied", &error));
  fixture_assert_reason (&error, US_REASON_ALREADY_CONSUMED);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_DONE);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_OTHER), ==, LEDGER_CLOSED);
}

/* Entries of no request that are as old as the rest. */
static void
fill_more (Fixture *fixture, guint n)
{
  g_autofree char *file = fixture_state_path (fixture, "ledger.db");
  g_autofree char *sql = g_strdup_printf (
      "INSERT INTO audit (seq, entry, hash) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 "
      "FROM n WHERE i < %u) SELECT i + (SELECT max (seq) FROM audit), "
      "(SELECT entry FROM audit WHERE seq = 1), zeroblob (32) FROM n", n);
  sqlite3 *db = NULL;

  fixture_close (fixture);
  g_assert_cmpint (sqlite3_open (file, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
  fixture_reopen (fixture);
}

/* A request is whole until the last entry that tells of it is taken away. */
static void
test_call_by_call (Fixture *fixture, gconstpointer data)
{
  static const char whole[] = "SELECT count (*) FROM request, answer WHERE request.id = "
                              "answer.request AND length (record) > 0 AND NOT pruned";
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Passkey) passkey = fixture_passkey ("it.lead", 1002, 0);
  g_autoptr (Answer) answer = fixture_answer (passkey, FIXTURE_REQUEST, record, 0);
  guint64 removed = 0;
  gboolean more = FALSE;

  g_assert_true (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  g_assert_true (ledger_add_answer (fixture->ledger, answer, &error));
  fill_more (fixture, LEDGER_PRUNE_MAX);
  g_assert_true (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  g_assert_true (ledger_finish (fixture->ledger, FIXTURE_REQUEST, "done", "sent", &error));
  fill_more (fixture, LEDGER_PRUNE_MAX);

  for (guint i = 0; i < 3; i++)
    {
      g_assert_cmpuint (number (fixture, whole), ==, i < 2);
      g_assert_true (
          ledger_prune (fixture->ledger, clock_wall () + 3600, 0, &removed, &more, &error));
      g_assert_no_error (error);
      g_assert_cmpint (more, ==, i < 2);
      g_assert_cmpint (removed == LEDGER_PRUNE_MAX, ==, i < 2);
    }
  g_assert_cmpuint (number (fixture, "SELECT count (*) FROM answer"), ==, 0);
  g_assert_cmpuint (number (fixture, "SELECT count (*) FROM request WHERE pruned"), ==, 1);
}

/* What was consumed still counts against limits. */
static void
test_limits_stay (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (GPtrArray) limits = fixture_limits ();
  g_autoptr (GError) error = NULL;

  fill (fixture);
  fixture_limit (limits, 2, NULL, FALSE);
  prune (fixture, clock_wall () + 3600);
  g_assert_false (ledger_check_limits (fixture->ledger, record, limits, &error));
  fixture_assert_reason (&error, US_REASON_LIMIT);
}

/* A ledger that is not the one of this boot's mark gives nothing away. */
static void
test_behind (Fixture *fixture, gconstpointer data)
{
  g_autofree char *mark = fixture_runtime_path (fixture, "mark");
  g_autoptr (GError) error = NULL;
  guint64 removed = 0;
  gboolean more = FALSE;

  fill (fixture);
  g_assert_cmpint (g_remove (mark), ==, 0);
  g_assert_false (ledger_prune (fixture->ledger, clock_wall () + 3600, 0, &removed, &more, &error));
  fixture_assert_reason (&error, US_REASON_MARK);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_test ("/ledger/prune/chain", test_prune);
  fixture_test ("/ledger/prune/what-stays", test_what_stays);
  fixture_test ("/ledger/prune/call-by-call", test_call_by_call);
  fixture_test ("/ledger/prune/limits-stay", test_limits_stay);
  fixture_test ("/ledger/prune/behind", test_behind);
  return g_test_run ();
}
