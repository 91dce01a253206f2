/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ends that nobody waits for, on a disk that is full: each is kept once the disk gives again, as
 * what it was, and until then nobody is told of it.
 */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "tests/broker/caller.h"
#include "tests/broker/disk.h"
#include "tests/broker/sample.h"

#include <sqlite3.h>
#include <string.h>

static gboolean
has_struck (gpointer data)
{
  return disk_has_struck ();
}

typedef struct
{
  Bed *bed;
  const char *path;
} EndWait;

/* It has ended, or is shown to people, as if nothing had been the matter. */
static gboolean
is_settled (gpointer data)
{
  const EndWait *wait = data;
  const Request *request =
      g_hash_table_lookup (wait->bed->broker->requests, request_id_of (wait->path));

  return request == NULL || request_state_has_ended (request->state) ||
         (request->state == REQUEST_PENDING && request->is_ready);
}

/* wait_ends: as @state, and nothing else. */
static void
wait_ends (Bed *bed, Caller *agent, const char *path, const char *state)
{
  EndWait wait = { bed, path };
  g_autofree char *found = NULL;

  bed_wait (is_settled, &wait);
  found = caller_state (agent, path, NULL);
  g_assert_cmpstr (found, ==, state);
}

/* is_tried_again: it goes on by itself. */
static gboolean
is_tried_again (const Bed *bed, const char *path, gboolean expires)
{
  const Request *request = g_hash_table_lookup (bed->broker->requests, request_id_of (path));

  return request != NULL && !request->is_ready &&
         (expires ? request->deadline_timer : request->retry_timer) != NULL;
}

static void
change_copy (const Bed *bed, const char *path)
{
  g_autofree char *copy =
      g_build_filename (bed->dir, "state", "spool", request_id_of (path), "0", NULL);

  g_assert_true (g_file_set_contents (copy, "Content", 7, NULL));
}

/* What is found after a restart. */
static const struct
{
  const char *state, *reason;
  int code; /* what prepare is refused with */
  const char *refusal;
  const char *row, *why; /* of the ledger */
  gboolean expires, changed;
} cases[] = {
  { "refused", US_REASON_DENIED_BY_RULE, US_ERROR_REFUSED, US_REASON_DENIED_BY_RULE, NULL, NULL,
    FALSE, FALSE },
  { "unreachable", "", US_ERROR_NO_APPROVER, US_REASON_NO_APPROVER, NULL, NULL, FALSE, FALSE },
  { "refused", US_REASON_RECORD_CHANGED, 0, NULL, NULL, NULL, FALSE, TRUE },
  { "expired", "", 0, NULL, NULL, NULL, TRUE, FALSE },
  { "withdrawn", "", 0, NULL, "closed", "withdrawn", FALSE, FALSE },
};

static void
assert_ends (Bed *bed, Caller *agent, const char *run, guint i)
{
  g_autofree char *path = NULL;
  g_autofree char *state = NULL;
  g_autofree char *reason = NULL;

  fake_lifetime (bed->fake, cases[i].expires ? 1000 : 60000);
  path = caller_submit_file (agent, run);
  bed_stop (bed);
  fake_refuse (bed->fake, cases[i].code, cases[i].refusal);
  if (cases[i].row != NULL)
    fake_put (bed->fake, request_id_of (path), cases[i].row, cases[i].why);
  if (cases[i].changed)
    change_copy (bed, path);
  if (cases[i].expires)
    g_usleep (1200 * 1000);
  fake_hold_kind (bed->fake, HANDOVER_QUERY);
  bed_start (bed);
  disk_fail (DISK_FULL, 0, FALSE);
  fake_hold_kind (bed->fake, 0);
  bed_wait (has_struck, NULL);
  state = caller_state (agent, path, NULL);
  g_assert_cmpstr (state, ==, "pending");
  g_assert_true (is_tried_again (bed, path, cases[i].expires));

  disk_heal ();
  wait_ends (bed, agent, path, cases[i].state);
  reason = caller_detail (agent, path, "reason");
  g_assert_true (g_str_has_prefix (reason, cases[i].reason));
  g_assert_null (g_hash_table_lookup (bed->broker->requests, request_id_of (path)));
  fake_refuse (bed->fake, 0, NULL);
}

static void
test_found_at_start (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_ends (bed, agent, run, i);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

/* The ledger has said that it ran, and only that could not be kept: nobody is told that it was
 * withdrawn. */
static void
test_ran_and_full (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_auto (Pending) withdrawn = { 0 };
  Request *request = NULL;

  bed_stop (bed);
  fake_put (bed->fake, request_id_of (path), "done", "");
  fake_hold_kind (bed->fake, HANDOVER_QUERY);
  bed_start (bed);
  request = g_hash_table_lookup (bed->broker->requests, request_id_of (path));
  request->retries = 6; /* the next question is due in a minute */
  disk_fail (DISK_FULL, 0, FALSE);
  fake_hold_kind (bed->fake, 0);
  bed_wait (has_struck, NULL);
  assert_details (agent, path, "pending", "unknown", "");
  g_assert_false (caller_deny (jones, path, "other", &withdrawn.error));
  g_assert_error (withdrawn.error, US_ERROR, US_ERROR_UNAVAILABLE);
  g_clear_error (&withdrawn.error);

  disk_heal ();
  caller_begin (agent, path, US_INTERFACE_REQUEST, "Withdraw", NULL, &withdrawn);
  pending_wait (&withdrawn);
  g_assert_error (withdrawn.error, US_ERROR, US_ERROR_WRONG_STATE);
  wait_state (agent, path, "done");
}

/* Who approved was told that a check failed: it is refused with that, also where it could not be
 * kept at once, and does not run because the check would pass now. */
static void
test_refusal_stands (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *successor = NULL;
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "refuse");
  disk_fail (DISK_FULL, 1, FALSE); /* that it is approved is kept */
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_FACT_CHANGED));
  fake_execute (bed->fake, "done");
  g_assert_true (disk_heal ());
  wait_ends (bed, agent, path, "refused");
  assert_details (agent, path, "refused", "no", "fact-changed: fact known changed");
  successor = wait_successor (agent, path);
  wait_state (agent, successor, "pending");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

/* The same where what they approved was overtaken, and nothing at all was kept of it. */
static void
test_overtaken_stands (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *successor = NULL;
  g_autoptr (GError) error = NULL;

  disk_fail (DISK_FULL, 0, FALSE);
  g_assert_false (caller_approve (jones, path, "hr.jones", "late", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_RECORD_CHANGED));
  g_assert_true (disk_heal ());
  wait_state (agent, path, "refused");
  assert_details (agent, path, "refused", "no", "record-changed: the policy was edited");
  successor = wait_successor (agent, path);
  wait_state (agent, successor, "pending");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

/* Who left a request, and that could not be kept, has not left it, and may try again. */
static void
test_left (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = NULL;

  disk_fail (DISK_FULL, 0, FALSE);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_null (caller_call (agent, path, US_INTERFACE_REQUEST, "Leave", NULL, &error));
      g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
      g_clear_error (&error);
      wait_state (agent, path, "pending");
    }
  g_assert_true (disk_heal ());
  reply = caller_call (agent, path, US_INTERFACE_REQUEST, "Leave", NULL, &error);
  g_assert_no_error (error);
  wait_state (agent, path, "withdrawn");
}

static char *
list_state (Caller *agent)
{
  g_autoptr (GVariant) list = caller_agent (agent, "ListRequests", NULL, NULL);
  g_autoptr (GVariant) rows = g_variant_get_child_value (list, 0);
  char *state = NULL;

  g_assert_cmpuint (g_variant_n_children (rows), ==, 1);
  g_variant_get_child (rows, 0, "(oss)", NULL, NULL, &state);
  return state;
}

/* A row that makes no sense is refused; where that is not kept, later. */
static void
test_unreadable (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *file = g_build_filename (bed->dir, "state", "queue.db", NULL);
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  sqlite3 *db = NULL;

  g_free (caller_submit (agent, run, "a@example.com", NULL));
  bed_stop (bed);
  g_assert_cmpint (sqlite3_open (file, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "UPDATE requests SET body = x'00'", NULL, NULL, NULL), ==,
                   SQLITE_OK);
  sqlite3_close (db);
  disk_fail (DISK_FULL, 0, FALSE);
  bed_start (bed);
  g_assert_true (disk_heal ());
  before = list_state (agent);
  g_assert_cmpstr (before, ==, "pending");
  g_assert_nonnull (bed->broker->resume_timer);
  bed_stop (bed);
  bed_start (bed);
  after = list_state (agent);
  g_assert_cmpstr (after, ==, "refused");
  g_assert_null (bed->broker->resume_timer);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  disk_install ();
  bed_test ("/ends/found-at-start", NULL, test_found_at_start);
  bed_test ("/ends/ran-and-full", NULL, test_ran_and_full);
  bed_test ("/ends/left", NULL, test_left);
  bed_test ("/ends/refusal-stands", NULL, test_refusal_stands);
  bed_test ("/ends/overtaken-stands", NULL, test_overtaken_stands);
  bed_test ("/ends/unreadable", NULL, test_unreadable);
  return g_test_run ();
}
