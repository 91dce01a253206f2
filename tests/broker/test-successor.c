/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What takes the place of a request that was refused, and the key of both: it goes on with the wish,
 * at no time stands for neither or both, and stays for good.
 */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "tests/broker/caller.h"
#include "tests/broker/disk.h"
#include "tests/broker/sample.h"

#include <sqlite3.h>
#include <string.h>

#define KEY "{'idempotency-key': <'k1'>}"
#define OTHER_KEY "{'idempotency-key': <'k2'>}"
#define SWEEP_MAX 200

static void
meddle (Bed *bed, const char *sql)
{
  g_autofree char *path = g_build_filename (bed->dir, "state", "queue.db", NULL);
  sqlite3 *db = NULL;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
}

/* One that a person approved and the executor refuses. */
static char *
submit_refused (Bed *bed, Caller *agent, Caller *jones, const char *run, const char *options)
{
  char *path = caller_submit (agent, run, "a@example.com", options);
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "refuse");
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_FACT_CHANGED));
  fake_execute (bed->fake, "done");
  return path;
}

static void
approve_done (Caller *agent, Caller *jones, const char *path)
{
  g_autoptr (GError) error = NULL;

  caller_approve (jones, path, "hr.jones", "good", NULL, &error);
  g_assert_no_error (error);
  wait_state (agent, path, "done");
}

static void
assert_given (Caller *agent, const char *run, const char *options, const char *path)
{
  g_autofree char *given = caller_submit (agent, run, "a@example.com", options);

  g_assert_cmpstr (given, ==, path);
}

static void
assert_used (Caller *agent, const char *run, const char *to)
{
  g_autoptr (GError) error = NULL;

  assert_fails (caller_agent (agent, "Submit", mail_parameters (run, to, KEY), &error), &error,
                US_ERROR_INVALID_ARGUMENT, US_REASON_KEY_REUSED);
}

/* --- whose the successor is --- */

/* Two keys are two wishes: that of the second is not taken into what takes the first one's place. */
static void
test_two_keys (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = submit_refused (bed, agent, jones, run, KEY);
  g_autofree char *successor = wait_successor (agent, path);
  g_autofree char *keyless = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *other = NULL;

  g_assert_cmpstr (keyless, ==, successor);
  other = caller_submit (agent, run, "a@example.com", OTHER_KEY);
  g_assert_cmpstr (other, !=, successor);
  assert_given (agent, run, KEY, successor);
  approve_done (agent, jones, successor);
  approve_done (agent, jones, other);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 2);
  assert_given (agent, run, KEY, successor);
  assert_given (agent, run, OTHER_KEY, other);
}

/* Without a key it is anybody's of the same run, part and intent, as every request that waits. */
static void
test_without_key (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = submit_refused (bed, agent, jones, run, NULL);
  g_autofree char *successor = wait_successor (agent, path);

  assert_given (agent, run, NULL, successor);
  assert_given (agent, run, OTHER_KEY, successor);
  approve_done (agent, jones, successor);
  assert_given (agent, run, OTHER_KEY, successor);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* --- one write --- */

static guint
count_requests (Caller *caller)
{
  g_autoptr (GVariant) reply = caller_agent (caller, "ListRequests", NULL, NULL);
  g_autoptr (GVariant) requests = g_variant_get_child_value (reply, 0);

  return (guint) g_variant_n_children (requests);
}

static gboolean
has_given_up (gpointer data)
{
  const Bed *bed = data;

  return g_hash_table_size (bed->broker->requests) == 0;
}

/* The row of the one or of the other can't be written: then neither is, and what the key says of the
 * wish is true now and after a restart. */
static void
test_not_kept (Bed *bed, gconstpointer config)
{
  static const char *const events[] = {
    "BEFORE UPDATE ON requests WHEN OLD.state = 'refused' AND NEW.state = 'refused'",
    "BEFORE INSERT ON requests WHEN NEW.state = 'pending'",
  };

  for (guint i = 0; i < G_N_ELEMENTS (events); i++)
    {
      g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
      g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
      g_autofree char *label = g_strdup_printf ("ticket-%u", i);
      g_autofree char *run = caller_open_run (agent, label);
      g_autofree char *options = g_strdup_printf ("{'idempotency-key': <'key-%u'>}", i);
      g_autofree char *path = caller_submit (agent, run, "a@example.com", options);
      g_autofree char *sql = g_strdup_printf (
          "CREATE TRIGGER ends %s BEGIN SELECT RAISE (ABORT, 'this is the end'); END", events[i]);
      g_autofree char *refused = NULL;

      meddle (bed, sql);
      refused = submit_refused (bed, agent, jones, run, options);
      g_assert_cmpstr (refused, ==, path);
      bed_wait (has_given_up, bed);
      for (guint j = 0; j < 2; j++)
        {
          g_autofree char *successor = caller_detail (agent, path, "successor");

          g_assert_null (successor);
          assert_given (agent, run, options, path);
          wait_state (agent, path, "refused");
          g_assert_cmpuint (count_requests (agent), ==, i + 1);
          g_assert_cmpuint (limits_pending_all (bed->broker->limits), ==, 0);
          bed_stop (bed);
          bed_start (bed);
        }
      meddle (bed, "DROP TRIGGER ends");
    }
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

/* --- for good --- */

/* What ended long ago, or before many others, is forgotten: never a key before what it stands for,
 * and then it says for good that it was used. */
static void
test_forgotten (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = submit_refused (bed, agent, jones, run, KEY);
  g_autofree char *successor = wait_successor (agent, path);
  g_autoptr (GError) error = NULL;

  queue_trim (bed->broker->queue, FAKE_AGENT, 0);
  queue_purge (bed->broker->queue, G_MAXINT64);
  assert_fails (caller_call (agent, path, US_INTERFACE_REQUEST, "GetState", NULL, &error), &error,
                US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  assert_given (agent, run, KEY, successor);
  assert_used (agent, run, "b@example.com");

  approve_done (agent, jones, successor);
  assert_given (agent, run, KEY, successor);
  queue_trim (bed->broker->queue, FAKE_AGENT, 0);
  assert_fails (caller_call (agent, successor, US_INTERFACE_REQUEST, "GetState", NULL, &error),
                &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  assert_used (agent, run, "a@example.com");
  assert_used (agent, run, "b@example.com");
  queue_purge (bed->broker->queue, G_MAXINT64);
  bed_stop (bed);
  bed_start (bed);
  assert_used (agent, run, "a@example.com");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* A stored request that makes no sense is no reason to ask again with its key. */
static void
test_damaged (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = submit_refused (bed, agent, jones, run, KEY);
  g_autofree char *successor = wait_successor (agent, path);

  approve_done (agent, jones, successor);
  meddle (bed, "UPDATE requests SET body = x'00' WHERE key = 'k1'");
  assert_used (agent, run, "a@example.com");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* A disk that fails for once says nothing of a key: it is asked again. */
static void
test_disk_fails (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = submit_refused (bed, agent, jones, run, KEY);
  g_autofree char *successor = wait_successor (agent, path);
  gboolean struck = TRUE;
  guint n = 0;

  approve_done (agent, jones, successor);
  for (; struck; n++)
    {
      g_autoptr (GVariant) reply = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_cmpuint (n, <, SWEEP_MAX);
      bed_stop (bed);
      bed_start (bed);
      disk_fail (DISK_BROKEN, n, TRUE);
      reply = caller_agent (agent, "Submit", mail_parameters (run, "a@example.com", KEY), &error);
      struck = disk_heal ();
      if (struck)
        g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
      else
        g_assert_no_error (error);
      assert_given (agent, run, KEY, successor);
    }
  g_assert_cmpuint (n, >, 2); /* the key and its request */
}

/* --- after a boot --- */

/* One with a key, approved and not used, that the next boot refuses. */
static char *
refuse_after_boot (Bed *bed, Caller *agent, Caller *jones, const char *run)
{
  char *path = caller_submit (agent, run, "a@example.com", KEY);
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "silent");
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  bed_stop (bed);
  fake_execute (bed->fake, "refuse");
  return path;
}

/* The key stands for the wish: the agent is led to the request that is asked about now, and hears what
 * becomes of that. */
static void
test_key_follows (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = refuse_after_boot (bed, agent, jones, run);
  g_autofree char *successor = NULL;
  g_autofree char *last = NULL;
  g_autofree char *again = NULL;
  g_autoptr (GError) error = NULL;

  bed_start (bed);
  successor = wait_successor (agent, path);
  again = caller_submit (agent, run, "a@example.com", KEY);
  g_assert_cmpstr (again, ==, successor);
  assert_fails (caller_agent (agent, "Submit", mail_parameters (run, "b@example.com", KEY), &error),
                &error, US_ERROR_INVALID_ARGUMENT, US_REASON_KEY_REUSED);

  /* And on from there. */
  g_assert_false (caller_approve (jones, successor, "hr.jones", "good", NULL, &error));
  g_clear_error (&error);
  last = wait_successor (agent, successor);
  fake_execute (bed->fake, "done");
  g_assert_true (caller_approve (jones, last, "hr.jones", "good", NULL, &error));
  wait_state (agent, last, "done");
  bed_stop (bed);
  bed_start (bed);
  g_free (again);
  again = caller_submit (agent, run, "a@example.com", KEY);
  g_assert_cmpstr (again, ==, last);

  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

typedef struct
{
  Bed *bed;
  const char *path;
} Waiting;

static gboolean
has_waiting (gpointer data)
{
  const Waiting *waiting = data;
  const Request *request =
      g_hash_table_lookup (waiting->bed->broker->requests, request_id_of (waiting->path));

  return request != NULL && request->waiting->len > 0;
}

/* While it is not known yet what takes its place, the agent waits for that. */
static void
test_key_waits (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");

  for (guint i = 0; i < 2; i++)
    {
      gboolean has_one = i == 1;
      g_autofree char *run_of = has_one ? caller_open_run (agent, "next") : g_strdup (run);
      g_autofree char *options = g_strdup_printf ("{'idempotency-key': <'key-%u'>}", i);
      g_autofree char *path = NULL;
      g_auto (Pending) pending = { 0 };
      Waiting waiting = { bed, NULL };
      g_autoptr (GError) error = NULL;
      const char *given = NULL;
      const char *state = NULL;

      fake_execute (bed->fake, "silent");
      path = caller_submit (agent, run_of, "a@example.com", options);
      waiting.path = path;
      g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
      bed_stop (bed);
      fake_execute (bed->fake, "refuse");
      fake_hold (bed->fake);
      if (!has_one)
        fake_refuse (bed->fake, US_ERROR_REFUSED, US_REASON_NO_RULE);
      bed_start (bed);
      wait_state (agent, path, "refused");
      caller_begin (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                    mail_parameters (run_of, "a@example.com", options), &pending);
      bed_wait (has_waiting, &waiting);
      fake_release (bed->fake);
      pending_wait (&pending);
      g_assert_no_error (pending.error);
      g_variant_get (pending.reply, "(&o&s)", &given, &state);
      g_assert_cmpstr (state, ==, has_one ? "pending" : "refused");
      g_assert_cmpint (strcmp (given, path) == 0, ==, !has_one);
      fake_refuse (bed->fake, 0, NULL);
    }
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  disk_install ();
  bed_test ("/successor/two-keys", NULL, test_two_keys);
  bed_test ("/successor/without-key", NULL, test_without_key);
  bed_test ("/successor/not-kept", NULL, test_not_kept);
  bed_test ("/successor/forgotten", NULL, test_forgotten);
  bed_test ("/successor/damaged", NULL, test_damaged);
  bed_test ("/successor/disk-fails", NULL, test_disk_fails);
  bed_test ("/successor/key-follows", NULL, test_key_follows);
  bed_test ("/successor/key-waits", NULL, test_key_waits);
  return g_test_run ();
}
