/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A restart at every point of a request's life: nothing is denied by it, nothing runs twice, and
 * what the ledger knows better is believed.
 */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

#include <sqlite3.h>
#include <string.h>

static void
meddle (Bed *bed, const char *sql)
{
  g_autofree char *path = g_build_filename (bed->dir, "state", "queue.db", NULL);
  sqlite3 *db = NULL;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
}

static void
test_pending (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;

  fake_need (bed->fake, 2);
  path = caller_submit (agent, run, "a@example.com", NULL);
  g_assert_true (caller_approve (lead, path, "it.lead", "good", NULL, &error));
  g_assert_false (caller_approve (jones, path, "hr.jones", "bad", NULL, &error));
  g_clear_error (&error);
  g_assert_false (caller_again (jones, path, &error));
  bed_stop (bed);
  bed_start (bed);
  wait_again (jones, path);
  wait_state (agent, path, "pending");
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 2);
  g_assert_cmpuint (limits_pending (bed->broker->limits, FAKE_AGENT), ==, 1);

  /* The wrong assertion still counts. */
  for (guint i = 1; i < REQUEST_ATTEMPTS; i++)
    {
      g_assert_false (caller_approve (jones, path, "hr.jones", "bad", NULL, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_SIGNATURE));
      g_clear_error (&error);
    }
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_ATTEMPTS));
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static void
test_pending_goes_on (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GError) error = NULL;

  bed_stop (bed);
  bed_start (bed);
  wait_again (jones, path);
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  wait_state (agent, path, "done");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

static gsize
count_cards (const Pending *pending)
{
  g_autoptr (GVariant) cards = NULL;

  g_assert_no_error (pending->error);
  cards = g_variant_get_child_value (pending->reply, 0);
  return g_variant_n_children (cards);
}

static void
begin_register (Caller *caller, Pending *pending)
{
  caller_begin (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, "Register",
                g_variant_new ("(a{sv})", NULL), pending);
}

static gboolean
is_registering (gpointer data)
{
  return ((const Bed *) data)->broker->registering->len > 0;
}

/* Whoever asks first after a start is told of all that waits. */
static void
test_pending_listed (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_auto (Pending) first = { 0 };
  g_auto (Pending) second = { 0 };

  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *to = g_strdup_printf ("a%u@example.com", i);

      g_free (caller_submit (agent, run, to, NULL));
    }
  bed_stop (bed);
  fake_hold (bed->fake);
  bed_start (bed);
  begin_register (jones, &first);
  bed_wait (is_registering, bed);
  fake_release (bed->fake);
  pending_wait (&first);
  g_assert_cmpuint (count_cards (&first), ==, 3);

  begin_register (jones, &second);
  pending_wait (&second);
  g_assert_cmpuint (count_cards (&second), ==, 3);
}

/* Nobody is kept waiting for what has to be tried again, or for a service that ends. */
static void
test_pending_not_listed (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_auto (Pending) halted = { 0 };
  g_auto (Pending) ending = { 0 };

  bed_stop (bed);
  fake_refuse (bed->fake, US_ERROR_HALTED, US_REASON_HALTED);
  bed_start (bed);
  begin_register (jones, &halted);
  pending_wait (&halted);
  g_assert_cmpuint (count_cards (&halted), ==, 0);

  bed_stop (bed);
  fake_hold (bed->fake);
  bed_start (bed);
  begin_register (jones, &ending);
  bed_wait (is_registering, bed);
  bed_stop (bed);
  pending_wait (&ending);
  g_assert_nonnull (ending.error);
  fake_release (bed->fake);
}

/* While the executor is away a pending request waits: it can be denied, and not approved. */
static void
test_pending_executor_away (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GError) error = NULL;

  bed_stop (bed);
  fake_refuse (bed->fake, US_ERROR_HALTED, US_REASON_HALTED);
  bed_start (bed);
  bed_spin (200);
  wait_state (agent, path, "pending");
  g_assert_false (caller_again (jones, path, &error));
  g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
  g_clear_error (&error);
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
  g_clear_error (&error);

  fake_refuse (bed->fake, 0, NULL);
  bed_stop (bed);
  bed_start (bed);
  wait_again (jones, path);
  fake_refuse (bed->fake, US_ERROR_HALTED, US_REASON_HALTED);
  bed_stop (bed);
  bed_start (bed);
  bed_spin (100);
  g_assert_true (caller_deny (jones, path, "not-now", &error));
  wait_state (agent, path, "denied");
}

/* What can't be prepared anew is refused, with its reason; it is no denial. */
static void
test_pending_refused (Bed *bed, gconstpointer config)
{
  static const struct
  {
    int code;
    const char *reason, *state;
  } cases[] = {
    { US_ERROR_REFUSED, US_REASON_DENIED_BY_RULE, "refused" },
    { US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT, "refused" },
    { US_ERROR_NO_APPROVER, US_REASON_NO_APPROVER, "unreachable" },
  };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
      g_autofree char *reason = NULL;
      g_autofree char *executed = NULL;

      bed_stop (bed);
      fake_refuse (bed->fake, cases[i].code, cases[i].reason);
      bed_start (bed);
      wait_state (agent, path, cases[i].state);
      reason = caller_detail (agent, path, "reason");
      executed = caller_detail (agent, path, "executed");
      if (i < 2)
        g_assert_true (g_str_has_prefix (reason, cases[i].reason));
      g_assert_cmpstr (executed, ==, "no");
      fake_refuse (bed->fake, 0, NULL);
    }

  /* Policy would now let it through: it has to be submitted anew. */
  {
    g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);

    bed_stop (bed);
    fake_decide (bed->fake, "allow");
    bed_start (bed);
    wait_state (agent, path, "refused");
  }
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static void
test_pending_expired (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = NULL;

  fake_lifetime (bed->fake, 1000);
  path = caller_submit (agent, run, "a@example.com", NULL);
  bed_stop (bed);
  g_usleep (1200 * 1000);
  bed_start (bed);
  wait_state (agent, path, "expired");
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 1);
}

/* The ledger heard of an end that the queue has lost. */
static void
test_pending_closed (Bed *bed, gconstpointer config)
{
  static const char *const whys[] = { "denied", "withdrawn", "expired", "superseded",
                                      "unreachable" };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");

  for (guint i = 0; i < G_N_ELEMENTS (whys); i++)
    {
      g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);

      bed_stop (bed);
      fake_put (bed->fake, request_id_of (path), "closed", whys[i]);
      bed_start (bed);
      wait_state (agent, path, whys[i]);
    }
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

/* The ledger has a row of what the queue thinks is still pending, as after a power failure. */
static void
test_pending_ran (Bed *bed, gconstpointer config)
{
  static const char *const states[] = { "done", "failed", "unknown" };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");

  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    {
      g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);

      bed_stop (bed);
      fake_put (bed->fake, request_id_of (path), states[i], "");
      bed_start (bed);
      wait_state (agent, path, states[i]);
    }
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static void
begin_withdraw (Caller *agent, const char *path, Pending *pending)
{
  caller_begin (agent, path, US_INTERFACE_REQUEST, "Withdraw", NULL, pending);
}

static void
begin_deny (Caller *person, const char *path, Pending *pending)
{
  caller_begin (person, US_OBJECT_PATH, US_INTERFACE_APPROVER, "Deny",
                g_variant_new ("(osa{sv})", path, "not-now", NULL), pending);
}

static void
begin_supersede (Caller *agent, const char *run, const char *to, const char *path, Pending *pending)
{
  g_autofree char *options = g_strdup_printf ("{'supersedes': <objectpath '%s'>}", path);

  caller_begin_submit (agent, mail_parameters (run, to, options), NULL, pending);
}

static void
assert_answered (Pending *pending, int code, const char *reason)
{
  pending_wait (pending);
  if (reason == NULL)
    g_assert_no_error (pending->error);
  else
    {
      g_assert_error (pending->error, US_ERROR, code);
      g_assert_true (us_error_has_reason (pending->error, reason));
    }
}

typedef struct
{
  Bed *bed;
  const char *path;
  guint calls;
  const Pending *last;
} HeldWait;

static gboolean
are_held (gpointer data)
{
  const HeldWait *wait = data;
  const Request *request =
      g_hash_table_lookup (wait->bed->broker->requests, request_id_of (wait->path));

  return request->asking->len == wait->calls || wait->last->done;
}

static void
wait_held (Bed *bed, const char *path, guint calls, const Pending *last)
{
  HeldWait wait = { bed, path, calls, last };

  bed_wait (are_held, &wait);
  g_assert_false (last->done);
}

/* The service ends while a call waits for the ledger: it has its answer, and nothing is made. */
static void
test_doubtful_end (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  Pending pending = { 0 };

  bed_stop (bed);
  fake_hold_kind (bed->fake, HANDOVER_QUERY);
  bed_start (bed);
  begin_supersede (agent, run, "b@example.com", path, &pending);
  wait_held (bed, path, 1, &pending);
  bed_stop (bed);
  assert_answered (&pending, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);
  fake_hold_kind (bed->fake, 0);
  bed_start (bed);
  wait_state (agent, path, "pending");
  g_assert_cmpuint (limits_pending (bed->broker->limits, FAKE_AGENT), ==, 1);
  pending_clear (&pending);
}

/* Until the ledger has been asked, nobody is told that what may have run was withdrawn or denied:
 * who asks for that waits until it is known. */
static void
test_pending_doubtful (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  char *paths[4] = { NULL };
  Pending pending[6] = { 0 };
  g_autofree char *state = NULL;
  const char *successor = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autofree char *to = g_strdup_printf ("a%u@example.com", i);

      paths[i] = caller_submit (agent, run, to, NULL);
    }
  bed_stop (bed);
  fake_put (bed->fake, request_id_of (paths[0]), "done", "");
  fake_hold_kind (bed->fake, HANDOVER_QUERY);
  bed_start (bed);
  assert_details (agent, paths[0], "pending", "unknown", "");
  begin_withdraw (agent, paths[0], &pending[0]);
  begin_deny (jones, paths[0], &pending[1]);
  begin_withdraw (agent, paths[1], &pending[2]);
  begin_deny (jones, paths[2], &pending[3]);
  begin_supersede (agent, run, "b@example.com", paths[3], &pending[4]);
  begin_supersede (agent, run, "c@example.com", paths[0], &pending[5]);
  wait_held (bed, paths[0], 3, &pending[5]);
  wait_held (bed, paths[1], 1, &pending[2]);
  wait_held (bed, paths[2], 1, &pending[3]);
  wait_held (bed, paths[3], 1, &pending[4]);
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    g_assert_false (pending[i].done);
  assert_details (agent, paths[1], "pending", "unknown", "");

  fake_hold_kind (bed->fake, 0);
  assert_answered (&pending[0], US_ERROR_WRONG_STATE, US_REASON_TOO_LATE);
  assert_answered (&pending[1], US_ERROR_WRONG_STATE, US_REASON_TOO_LATE);
  for (guint i = 2; i < 5; i++)
    assert_answered (&pending[i], 0, NULL);
  assert_answered (&pending[5], US_ERROR_WRONG_STATE, US_REASON_TOO_LATE);
  assert_details (agent, paths[0], "done", "yes", "");
  assert_details (agent, paths[1], "withdrawn", "no", "");
  assert_details (agent, paths[2], "denied", "no", "not-now");
  assert_details (agent, paths[3], "superseded", "no", "");
  wait_row (bed, paths[2], "closed denied hr.jones not-now");
  g_variant_get (pending[4].reply, "(&os)", &successor, &state);
  g_assert_cmpstr (state, ==, "pending");
  wait_state (agent, successor, "pending");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    pending_clear (&pending[i]);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    g_free (paths[i]);
}

static gboolean
is_one_held (gpointer bed)
{
  return fake_held (((Bed *) bed)->fake) >= 1;
}

/* Nobody waits for an executor that is away, or for a service that ends; who asks again is answered
 * as soon as it is there, not when the broker would have asked. */
static void
test_doubtful_executor_away (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_auto (Pending) withdrawn = { 0 };
  g_auto (Pending) denied = { 0 };
  g_auto (Pending) superseded = { 0 };
  g_auto (Pending) ending = { 0 };
  g_auto (Pending) there = { 0 };
  Request *request = NULL;

  bed_stop (bed);
  fake_hold_kind (bed->fake, HANDOVER_QUERY);
  bed_start (bed);
  begin_supersede (agent, run, "b@example.com", path, &superseded);
  begin_deny (jones, path, &denied);
  begin_withdraw (agent, path, &withdrawn);
  wait_held (bed, path, 3, &withdrawn);
  request = g_hash_table_lookup (bed->broker->requests, request_id_of (path));
  request->retries = 6; /* the next question is due in a minute */
  fake_away (bed->fake, TRUE);
  fake_hold_kind (bed->fake, 0);
  assert_answered (&withdrawn, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);
  assert_answered (&denied, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);
  assert_answered (&superseded, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);

  fake_hold_kind (bed->fake, HANDOVER_QUERY);
  fake_away (bed->fake, FALSE);
  assert_details (agent, path, "pending", "unknown", "");
  begin_withdraw (agent, path, &ending);
  wait_held (bed, path, 1, &ending);
  bed_wait (is_one_held, bed);
  bed_stop (bed);
  assert_answered (&ending, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);
  bed_start (bed);
  begin_withdraw (agent, path, &there);
  wait_held (bed, path, 1, &there);
  fake_hold_kind (bed->fake, 0);
  assert_answered (&there, 0, NULL);
  assert_details (agent, path, "withdrawn", "no", "");
}

/* Approved, and nobody knows whether it was handed over: the ledger says. */
static void
test_approved (Bed *bed, gconstpointer config)
{
  static const struct
  {
    const char *row, *why, *state;
    guint ran;
  } cases[] = {
    { NULL, NULL, "done", 1 },          { "done", "", "done", 0 },
    { "failed", "", "failed", 0 },      { "unknown", "", "unknown", 0 },
    { "closed", "denied", "denied", 0 }, { "closed", "expired", "refused", 0 },
  };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  guint ran = 0;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
      g_autoptr (GError) error = NULL;

      fake_execute (bed->fake, "silent");
      g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
      wait_state (agent, path, "approved");
      bed_stop (bed);
      if (cases[i].row != NULL)
        fake_put (bed->fake, request_id_of (path), cases[i].row, cases[i].why);
      fake_execute (bed->fake, "done");
      bed_start (bed);
      wait_state (agent, path, cases[i].state);
      ran += cases[i].ran;
      g_assert_cmpuint (fake_ran (bed->fake), ==, ran);
    }
}

/* An approval that the executor no longer takes (its seal is of another boot) is asked for anew. */
static void
test_approved_refused (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *successor = NULL;
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "silent");
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  bed_stop (bed);
  fake_execute (bed->fake, "refuse");
  bed_start (bed);
  wait_state (agent, path, "refused");
  successor = wait_successor (agent, path);
  wait_state (agent, successor, "pending");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

/* Killed between consumption and reply, and while the module runs. */
static void
test_executing (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "hold");
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  wait_state (agent, path, "executing");
  bed_stop (bed);
  bed_start (bed);
  bed_spin (100);
  wait_state (agent, path, "executing");
  fake_release (bed->fake);
  wait_state (agent, path, "done");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* A ledger that has forgotten what was consumed: nobody knows. */
static void
test_executing_forgotten (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *executed = NULL;
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "hold");
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  bed_stop (bed);
  fake_put (bed->fake, request_id_of (path), "none", "");
  bed_start (bed);
  wait_state (agent, path, "unknown");
  executed = caller_detail (agent, path, "executed");
  g_assert_cmpstr (executed, ==, "unknown");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

static void
assert_resolved (Caller *caller, const char *path, gboolean resolved)
{
  g_autoptr (GVariant) details = NULL;
  gboolean found = !resolved;

  g_free (caller_state (caller, path, &details));
  g_assert_true (g_variant_lookup (details, "resolved", "b", &found));
  g_assert_cmpint (found, ==, resolved);
}

/* An unknown outcome stays, until a person has resolved it in the ledger. */
static void
test_unknown_resolved (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *other = NULL;
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "unknown");
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  wait_state (agent, path, "unknown");
  bed_stop (bed);
  bed_start (bed);
  wait_state (agent, path, "unknown");
  bed_spin (1100);
  wait_state (agent, path, "unknown");
  assert_resolved (agent, path, FALSE);
  fake_resolve (bed->fake, request_id_of (path), "done");
  wait_state (agent, path, "done");
  assert_resolved (agent, path, TRUE);
  bed_stop (bed);
  bed_start (bed);
  assert_resolved (agent, path, TRUE);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);

  /* What the module itself says is no person's word. */
  fake_execute (bed->fake, "done");
  other = caller_submit (agent, run, "b@example.com", NULL);
  g_assert_true (caller_approve (jones, other, "hr.jones", "good", NULL, &error));
  wait_state (agent, other, "done");
  assert_resolved (agent, other, FALSE);
}

/* A row that can't be read is refused; the others and the daemon go on. */
static void
test_unreadable (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *other = caller_submit (agent, run, "b@example.com", NULL);
  g_autofree char *sql =
      g_strdup_printf ("UPDATE requests SET body = x'00' WHERE id = '%s'", request_id_of (path));
  g_autoptr (GVariant) list = NULL;
  g_autofree char *text = NULL;
  g_autofree char *wanted = NULL;
  g_autoptr (GError) error = NULL;

  bed_stop (bed);
  meddle (bed, sql);
  bed_start (bed);
  wait_again (jones, other);
  list = caller_call (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "ListRequests", NULL, &error);
  g_assert_no_error (error);
  text = g_variant_print (list, FALSE);
  wanted = g_strdup_printf ("([('%s', 'mail.send', 'pending'), ('%s', 'mail.send', 'refused')],)",
                            other, path);
  g_assert_cmpstr (text, ==, wanted);
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/restart/pending", NULL, test_pending);
  bed_test ("/restart/pending-goes-on", NULL, test_pending_goes_on);
  bed_test ("/restart/pending-listed", NULL, test_pending_listed);
  bed_test ("/restart/pending-not-listed", NULL, test_pending_not_listed);
  bed_test ("/restart/pending-executor-away", NULL, test_pending_executor_away);
  bed_test ("/restart/pending-refused", NULL, test_pending_refused);
  bed_test ("/restart/pending-expired", NULL, test_pending_expired);
  bed_test ("/restart/pending-closed", NULL, test_pending_closed);
  bed_test ("/restart/pending-ran", NULL, test_pending_ran);
  bed_test ("/restart/doubtful-end", NULL, test_doubtful_end);
  bed_test ("/restart/pending-doubtful", NULL, test_pending_doubtful);
  bed_test ("/restart/doubtful-executor-away", NULL, test_doubtful_executor_away);
  bed_test ("/restart/approved", NULL, test_approved);
  bed_test ("/restart/approved-refused", NULL, test_approved_refused);
  bed_test ("/restart/executing", NULL, test_executing);
  bed_test ("/restart/executing-forgotten", NULL, test_executing_forgotten);
  bed_test ("/restart/unknown-resolved", NULL, test_unknown_resolved);
  bed_test ("/restart/unreadable", NULL, test_unreadable);
  return g_test_run ();
}
