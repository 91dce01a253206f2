/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The copies of a request's files after a restart: what can't be read holds up the request's card
 * and its hand-over, and nothing else.
 */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* One request with a file, whose copy can't be read; it is put aside. */
typedef struct
{
  Bed *bed;
  char *path, *folder, *copy, *away;
} Copy;

static void
copy_clear (Copy *copy)
{
  g_free (copy->path);
  g_free (copy->folder);
  g_free (copy->copy);
  g_free (copy->away);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Copy, copy_clear)

static void
copy_submit (Copy *copy, Bed *bed, Caller *agent, const char *run)
{
  copy->bed = bed;
  copy->path = caller_submit_file (agent, run);
  copy->folder = g_build_filename (bed->dir, "state", "spool", request_id_of (copy->path), NULL);
  copy->copy = g_build_filename (copy->folder, "0", NULL);
  copy->away = g_build_filename (bed->dir, "state", request_id_of (copy->path), NULL);
}

static void
copy_break (const Copy *copy)
{
  g_assert_cmpint (g_rename (copy->copy, copy->away), ==, 0);
  g_assert_cmpint (symlink ("nowhere", copy->copy), ==, 0);
}

static void
copy_heal (const Copy *copy)
{
  g_assert_cmpint (g_rename (copy->away, copy->copy), ==, 0);
}

static const Request *
copy_request (const Copy *copy)
{
  return g_hash_table_lookup (copy->bed->broker->requests, request_id_of (copy->path));
}

/* It was tried to read the copy, and will be again; or the request is gone on with without it. */
static gboolean
was_tried (gpointer data)
{
  const Request *request = copy_request (data);

  return request == NULL || request->retry_timer != NULL || request->is_ready ||
         request->state == REQUEST_EXECUTING;
}

static void
assert_waits (Copy *copy, Caller *agent, const char *state, const char *executed)
{
  const Request *request = NULL;

  bed_wait (was_tried, copy);
  request = copy_request (copy);
  g_assert_nonnull (request);
  g_assert_true (request->files->is_stored);
  assert_details (agent, copy->path, state, executed, "");
  g_assert_cmpuint (limits_pending (copy->bed->broker->limits, FAKE_AGENT), ==, 1);
}

static gboolean
is_over (gpointer data)
{
  const Copy *copy = data;

  return copy_request (copy) == NULL && !g_file_test (copy->folder, G_FILE_TEST_EXISTS);
}

/* The request waits, and is neither refused nor shown; and goes on once its copy can be read. */
static void
test_pending (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_auto (Copy) copy = { 0 };
  g_autoptr (GError) error = NULL;
  guint prepared = 0;

  copy_submit (&copy, bed, agent, run);
  prepared = fake_prepared (bed->fake);
  bed_stop (bed);
  copy_break (&copy);
  bed_start (bed);
  assert_waits (&copy, agent, "pending", "no");
  g_assert_nonnull (copy_request (&copy)->deadline_timer);
  g_assert_false (caller_again (jones, copy.path, &error));
  g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
  g_clear_error (&error);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, prepared);

  copy_heal (&copy);
  wait_again (jones, copy.path);
  g_assert_false (copy_request (&copy)->files->is_stored);
  g_assert_true (caller_approve (jones, copy.path, "hr.jones", "good", NULL, &error));
  wait_state (agent, copy.path, "done");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
  bed_wait (is_over, &copy);
}

/* What a person has approved is not handed over without its files. */
static void
test_approved (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_auto (Copy) copy = { 0 };
  g_autoptr (GError) error = NULL;

  copy_submit (&copy, bed, agent, run);
  fake_execute (bed->fake, "silent");
  g_assert_true (caller_approve (jones, copy.path, "hr.jones", "good", NULL, &error));
  bed_stop (bed);
  fake_execute (bed->fake, "done");
  copy_break (&copy);
  bed_start (bed);
  assert_waits (&copy, agent, "approved", "unknown");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);

  copy_heal (&copy);
  wait_state (agent, copy.path, "done");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* After its deadline it can't run any more, and is not held up for ever; nobody is asked anew about
 * what has no files. */
static void
test_approved_too_late (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_auto (Copy) copy = { 0 };
  g_autoptr (GError) error = NULL;

  fake_lifetime (bed->fake, 3000);
  copy_submit (&copy, bed, agent, run);
  fake_execute (bed->fake, "silent");
  g_assert_true (caller_approve (jones, copy.path, "hr.jones", "good", NULL, &error));
  bed_stop (bed);
  fake_execute (bed->fake, "done");
  copy_break (&copy);
  bed_start (bed);
  wait_state (agent, copy.path, "refused");
  assert_details (agent, copy.path, "refused", "no",
                  "deadline-passed: its files could not be read until its deadline");
  bed_wait (is_over, &copy);
  g_assert_cmpuint (limits_pending (bed->broker->limits, FAKE_AGENT), ==, 0);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 1);
}

typedef struct
{
  const char *state, *executed;
  const char *row, *why; /* what the ledger has */
  const char *member;    /* by which it ends */
} End;

/* However it ends, nobody needs its files for that. */
static const End ends[] = {
  { "withdrawn", "no", NULL, NULL, "Withdraw" }, { "denied", "no", NULL, NULL, "Deny" },
  { "superseded", "no", NULL, NULL, "Submit" },  { "expired", "no", NULL, NULL, NULL },
  { "denied", "no", "closed", "denied", NULL },  { "done", "yes", "done", "", NULL },
  { "failed", "no", "failed", "", NULL },
};

static void
end_it (const Copy *copy, Caller *agent, Caller *person, const char *run, const char *member)
{
  g_autofree char *options = g_strdup_printf ("{'supersedes': <objectpath '%s'>}", copy->path);
  g_autofree char *other = NULL;
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GError) error = NULL;

  if (strcmp (member, "Deny") == 0)
    caller_deny (person, copy->path, "not-now", &error);
  else if (strcmp (member, "Withdraw") == 0)
    reply = caller_call (agent, copy->path, US_INTERFACE_REQUEST, "Withdraw", NULL, &error);
  else
    {
      other = caller_submit (agent, run, "b@example.com", options);
      reply = caller_call (agent, other, US_INTERFACE_REQUEST, "Withdraw", NULL, &error);
    }
  g_assert_no_error (error);
}

static void
test_ends (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      const End *end = &ends[i];
      gboolean expires = strcmp (end->state, "expired") == 0;
      g_autofree char *executed = NULL;
      g_auto (Copy) copy = { 0 };

      fake_lifetime (bed->fake, expires ? 2000 : 60000);
      copy_submit (&copy, bed, agent, run);
      bed_stop (bed);
      copy_break (&copy);
      if (end->row != NULL)
        fake_put (bed->fake, request_id_of (copy.path), end->row, end->why);
      bed_start (bed);
      if (end->member != NULL)
        {
          assert_waits (&copy, agent, "pending", "no");
          end_it (&copy, agent, jones, run, end->member);
        }
      wait_state (agent, copy.path, end->state);
      executed = caller_detail (agent, copy.path, "executed");
      g_assert_cmpstr (executed, ==, end->executed);
      bed_wait (is_over, &copy);
      g_assert_cmpuint (limits_pending (bed->broker->limits, FAKE_AGENT), ==, 0);
      g_assert_cmpint (g_remove (copy.away), ==, 0);
    }
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

/* Copies that are not there any more are no disk that fails: it is refused, at the start or when
 * they are looked for again. */
static void
test_gone (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");

  for (guint i = 0; i < 3; i++)
    {
      g_auto (Copy) copy = { 0 };
      g_autofree char *reason = NULL;

      copy_submit (&copy, bed, agent, run);
      bed_stop (bed);
      copy_break (&copy);
      if (i == 0)
        g_assert_cmpint (g_remove (copy.copy), ==, 0);
      bed_start (bed);
      if (i > 0)
        {
          assert_waits (&copy, agent, "pending", "no");
          g_assert_cmpint (g_remove (copy.copy), ==, 0);
        }
      if (i == 2)
        g_assert_cmpint (g_rmdir (copy.folder), ==, 0);
      wait_state (agent, copy.path, "refused");
      reason = caller_detail (agent, copy.path, "reason");
      g_assert_true (g_str_has_prefix (reason, US_REASON_BAD_HANDLE));
      bed_wait (is_over, &copy);
      g_assert_cmpint (g_remove (copy.away), ==, 0);
    }
  g_assert_cmpuint (limits_pending (bed->broker->limits, FAKE_AGENT), ==, 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/copies/pending", NULL, test_pending);
  bed_test ("/copies/approved", NULL, test_approved);
  bed_test ("/copies/approved-too-late", NULL, test_approved_too_late);
  bed_test ("/copies/ends", NULL, test_ends);
  bed_test ("/copies/gone", NULL, test_gone);
  return g_test_run ();
}
