/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one agent can use up of the disk and of the daemon's time: each of it has a bound. */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

#include <sqlite3.h>

/* --- the disk --- */

static const char no_room[] = "[Limits]\nDiskReserve=4000000G\n";

/* A request without files is written to the disk, too. */
static void
test_disk_reserve (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autoptr (GError) error = NULL;

  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "a@example.com", NULL), &error), &error,
      US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 0);
}

/* --- runs --- */

static const char few_runs[] = "[Limits]\nRunsPerMinute=4\n";

static GVariant *
close_run (Caller *caller, const char *run, GError **error)
{
  return caller_agent (caller, "CloseRun", g_variant_new ("(s)", run), error);
}

/* Each is a write to the disk, whatever is asked and whether there is such a run. */
static void
test_runs (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) second = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autoptr (Caller) kim = bed_caller (bed, FAKE_KIM);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = NULL;
  g_autoptr (GVariant) closed = NULL;
  g_autoptr (GError) error = NULL;

  g_free (caller_open_run (agent, "other ticket"));
  closed = close_run (agent, run, &error);
  g_assert_no_error (error);
  assert_fails (close_run (agent, run, &error), &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);

  assert_fails (caller_open_run_with (second, "{}", &error), &error, US_ERROR_LIMIT_EXCEEDED,
                US_REASON_LIMIT);
  assert_fails (close_run (second, run, &error), &error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);
  g_free (caller_open_run (other, "ticket"));

  /* An initiator's own count. */
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (GVariant) opened = caller_open_run_for (kim, "offboarding", "{}", &error);

      g_assert_no_error (error);
      g_free (run);
      g_variant_get (opened, "(s)", &run);
    }
  assert_fails (caller_open_run_for (kim, "offboarding", "{}", &error), &error,
                US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);
  path = caller_submit (agent, run, "a@example.com", NULL);
}

/* --- keys --- */

/* As many keys of @uid as were ever given to requests that waited already. */
static void
put_adopted (Bed *bed, uid_t uid, guint n)
{
  g_autofree char *path = g_build_filename (bed->dir, "state", "queue.db", NULL);
  g_autofree char *sql = g_strdup_printf (
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
      " INSERT INTO requests SELECT printf ('%%032d', i), %u, 'done', 0, 0, 'key ' || i, '', 0, '',"
      " '', '', 1, 1, x'' FROM n",
      n, (guint) uid);
  sqlite3 *db = NULL;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
}

/* Such a key is remembered for good, by the queue alone. */
static void
test_adopted_keys (Bed *bed, gconstpointer config)
{
  const char *key = "{'idempotency-key': <'k'>}";
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *others_run = caller_open_run (other, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *others = caller_submit (other, others_run, "a@example.com", NULL);
  g_autofree char *again = NULL;
  g_autofree char *keyed = NULL;
  g_autofree char *others_keyed = NULL;
  g_autoptr (GError) error = NULL;

  put_adopted (bed, FAKE_AGENT, QUEUE_ADOPTED_MAX);
  assert_fails (caller_agent (agent, "Submit", mail_parameters (run, "a@example.com", key), &error),
                &error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);

  /* What waits waits on, for who asks without the key; a key of a request of its own is no matter. */
  again = caller_submit (agent, run, "a@example.com", NULL);
  g_assert_cmpstr (again, ==, first);
  keyed = caller_submit (agent, run, "b@example.com", key);
  g_assert_cmpstr (keyed, !=, first);
  others_keyed = caller_submit (other, others_run, "a@example.com", key);
  g_assert_cmpstr (others_keyed, ==, others);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/bounds/disk-reserve", no_room, test_disk_reserve);
  bed_test ("/bounds/runs", few_runs, test_runs);
  bed_test ("/bounds/adopted-keys", NULL, test_adopted_keys);
  return g_test_run ();
}
