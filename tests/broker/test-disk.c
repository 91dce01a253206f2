/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A disk under the daemon that fails: whoever waits gets an answer, nothing runs twice, and what
 * could not be read for once is neither lost nor refused.
 */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "tests/broker/caller.h"
#include "tests/broker/disk.h"
#include "tests/broker/sample.h"

#include <string.h>

#define SWEEP_MAX 200

/* --- a full disk --- */

typedef struct
{
  Caller *agent;
  const char *path;
} EndWait;

static gboolean
has_ended (gpointer data)
{
  const EndWait *wait = data;
  g_autofree char *state = caller_state (wait->agent, wait->path, NULL);

  return strcmp (state, "pending") != 0 && strcmp (state, "approved") != 0 &&
         strcmp (state, "executing") != 0;
}

typedef struct
{
  Bed *bed;
  Pending approve;
  guint queried; /* before */
} AnswerWait;

static gboolean
is_answered_or_settling (gpointer data)
{
  const AnswerWait *wait = data;

  return wait->approve.done || fake_queried (wait->bed->fake) > wait->queried;
}

/*
 * Approves while the disk is full, and holds the daemon to its answer.  What could not be kept is
 * asked of the ledger a second later at the earliest: who approved has heard by then.
 */
static void
approve_answered (Bed *bed, Caller *person, const char *path)
{
  AnswerWait wait = { .bed = bed, .queried = fake_queried (bed->fake) };
  g_autoptr (GVariant) card = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (
      caller_begin_approve (person, path, "hr.jones", "good", &wait.approve, &error));
  bed_wait (is_answered_or_settling, &wait);
  /* An answer that was sent before comes before that to a later call. */
  card = caller_approver (person, "GetCard", g_variant_new ("(o)", path), NULL);
  g_assert_true (wait.approve.done);
  pending_clear (&wait.approve);
}

/* One request, approved on a disk that takes @n transactions more: Approve is always answered, and
 * once the disk has room the request ends as @end.  Whether it came to the fault. */
static gboolean
approve_while_full (Bed *bed, Caller *agent, Caller *person, guint n, const char *end)
{
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *to = g_strdup_printf ("a%u@example.com", n);
  g_autofree char *path = caller_submit (agent, run, to, NULL);
  g_autofree char *state = NULL;
  EndWait wait = { agent, path };
  gboolean struck = FALSE;

  disk_fail (DISK_FULL, n, FALSE);
  approve_answered (bed, person, path);
  struck = disk_heal ();

  state = caller_state (agent, path, NULL);
  if (strcmp (state, "pending") == 0)
    caller_approve (person, path, "hr.jones", "good", NULL, NULL);
  bed_wait (has_ended, &wait);
  wait_state (agent, path, end);
  return struck;
}

static void
sweep_full (Bed *bed, const char *how, const char *end, guint runs)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  guint n = 0;

  fake_execute (bed->fake, how);
  while (approve_while_full (bed, agent, jones, n, end))
    g_assert_cmpuint (++n, <, SWEEP_MAX);
  /* The approval itself, and what came of it. */
  g_assert_cmpuint (n, >=, 2);
  g_assert_cmpuint (fake_ran (bed->fake), ==, runs * (n + 1));
}

static void
test_full_and_done (Bed *bed, gconstpointer config)
{
  sweep_full (bed, "done", "done", 1);
}

static void
test_full_and_refused (Bed *bed, gconstpointer config)
{
  sweep_full (bed, "refuse", "refused", 0);
}

typedef struct
{
  Bed *bed;
  const char *path;
} PlaceWait;

/* Not refused, or it is settled what takes its place. */
static gboolean
is_settled (gpointer data)
{
  const PlaceWait *wait = data;
  const Request *request =
      g_hash_table_lookup (wait->bed->broker->requests, request_id_of (wait->path));

  return request == NULL || request->state != REQUEST_REFUSED;
}

/* Everything is written that follows from an end. */
static gboolean
is_told (gpointer data)
{
  g_auto (GStrv) due = queue_close_due (((const Bed *) data)->broker->queue, NULL);

  return due != NULL && due[0] == NULL;
}

/* What a key says of its wish is true, and stays so: refused, and nothing waits; or it leads to what
 * waits.  Whether it led on. */
static gboolean
assert_key_is_true (Bed *bed, Caller *agent, const char *run, const char *to, const char *options)
{
  g_autofree char *first = caller_submit (agent, run, to, options);
  g_autofree char *state = caller_state (agent, first, NULL);
  g_autofree char *after = NULL;
  gboolean waits = strcmp (state, "pending") == 0;
  g_autoptr (GVariant) withdrawn = NULL;

  if (!waits)
    g_assert_cmpstr (state, ==, "refused");
  g_assert_cmpuint (limits_pending_all (bed->broker->limits), ==, waits ? 1 : 0);
  bed_stop (bed);
  bed_start (bed);
  g_assert_cmpuint (g_hash_table_size (bed->broker->requests), ==, waits ? 1 : 0);
  after = caller_submit (agent, run, to, options);
  g_assert_cmpstr (after, ==, first);
  if (waits)
    {
      withdrawn = caller_call (agent, first, US_INTERFACE_REQUEST, "Withdraw", NULL, NULL);
      wait_state (agent, first, "withdrawn");
      bed_wait (is_told, bed);
    }
  return waits;
}

/* A disk that is full at each transaction of an approval that is refused. */
static void
test_full_and_key (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  gboolean struck = TRUE;
  guint led_on = 0;
  guint n = 0;

  fake_execute (bed->fake, "refuse");
  for (; struck; n++)
    {
      g_autofree char *to = g_strdup_printf ("a%u@example.com", n);
      g_autofree char *options = g_strdup_printf ("{'idempotency-key': <'key-%u'>}", n);
      g_autofree char *path = caller_submit (agent, run, to, options);
      g_autofree char *state = NULL;
      EndWait end = { agent, path };
      PlaceWait place = { bed, path };

      g_assert_cmpuint (n, <, SWEEP_MAX);
      disk_fail (DISK_FULL, n, FALSE);
      approve_answered (bed, jones, path);
      bed_wait (is_settled, &place);
      struck = disk_heal ();
      state = caller_state (agent, path, NULL);
      if (strcmp (state, "pending") == 0)
        caller_approve (jones, path, "hr.jones", "good", NULL, NULL);
      bed_wait (has_ended, &end);
      bed_wait (is_settled, &place);
      led_on += assert_key_is_true (bed, agent, run, to, options);
    }
  /* Not where its own write failed. */
  g_assert_cmpuint (led_on, ==, n - 1);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

/* --- a start --- */

/* is_left: waits in the queue, and is not taken up. */
static gboolean
is_left (const Bed *bed, const char *path)
{
  return !g_hash_table_contains (bed->broker->requests, request_id_of (path));
}

static gboolean
is_ready (gpointer data)
{
  const EndWait *wait = data;
  g_autoptr (GVariant) card =
      caller_call (wait->agent, US_OBJECT_PATH, US_INTERFACE_APPROVER, "GetCard",
                   g_variant_new ("(o)", wait->path), NULL);

  return card != NULL;
}

/* Each read of a start fails once: it does not start, or it starts and knows everything. */
static void
test_read_at_start (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *damaged = g_build_filename (bed->dir, "state", "queue.db.damaged", NULL);
  EndWait wait = { jones, path };
  gboolean struck = TRUE;
  guint failed = 0;
  guint n = 0;

  for (; struck; n++)
    {
      g_autofree char *state = NULL;
      g_autofree char *again = NULL;

      g_assert_cmpuint (n, <, SWEEP_MAX);
      bed_stop (bed);
      disk_fail (DISK_BROKEN, n, TRUE);
      if (!bed_try_start (bed, NULL))
        failed++;
      struck = disk_heal ();
      if (bed->broker == NULL)
        bed_start (bed);
      state = caller_state (agent, path, NULL);
      g_assert_cmpstr (state, ==, "pending");
      again = caller_open_run (agent, "ticket");
      g_assert_cmpstr (again, ==, run);
      g_assert_false (g_file_test (damaged, G_FILE_TEST_EXISTS));
    }
  g_assert_cmpuint (failed, >=, 3); /* what was open, runs and requests */
  g_assert_cmpuint (n - 1, >, failed);
  g_assert_false (is_left (bed, path)); /* after a start without a fault */
  bed_wait (is_ready, &wait);
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, NULL));
  wait_state (agent, path, "done");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  disk_install ();
  bed_test ("/disk/full-and-done", NULL, test_full_and_done);
  bed_test ("/disk/full-and-refused", NULL, test_full_and_refused);
  bed_test ("/disk/full-and-key", NULL, test_full_and_key);
  bed_test ("/disk/read-at-start", NULL, test_read_at_start);
  return g_test_run ();
}
