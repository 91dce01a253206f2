/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When two submissions are one request, and when one takes the place of another. */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/broker/holders.h"
#include "service/broker/key.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

static void
test_same_intent (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *other_run = caller_open_run (agent, "other");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", "{'claim': <'first'>}");
  g_autofree char *same = caller_submit (agent, run, "a@example.com", "{'claim': <'second'>}");
  g_autofree char *to = caller_submit (agent, run, "b@example.com", NULL);
  g_autofree char *elsewhere = caller_submit (agent, other_run, "a@example.com", NULL);
  g_autofree char *after = NULL;
  g_autoptr (GVariant) card = NULL;
  g_autoptr (GVariant) bytes_child = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (Record) record = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (same, ==, first);
  g_assert_cmpstr (to, !=, first);
  g_assert_cmpstr (elsewhere, !=, first);
  g_assert_cmpuint (limits_pending_all (bed->broker->limits), ==, 3);

  card = caller_call (jones, US_OBJECT_PATH, US_INTERFACE_APPROVER, "GetCard",
                      g_variant_new ("(o)", first), &error);
  bytes_child = g_variant_get_child_value (card, 0);
  bytes = g_variant_get_data_as_bytes (bytes_child);
  record = record_decode (bytes, &error);
  g_assert_cmpstr (record_claim (record), ==, "first");

  g_assert_true (caller_approve (jones, first, "hr.jones", "good", NULL, &error));
  wait_state (agent, first, "done");
  after = caller_submit (agent, run, "a@example.com", NULL);
  g_assert_cmpstr (after, !=, first);
  wait_state (agent, after, "pending");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* Many at once, on one connection: one request. */
static void
test_same_at_once (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  Pending pending[6] = { 0 };
  const char *first = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    caller_begin (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                  mail_parameters (run, "a@example.com", NULL), &pending[i]);
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    {
      const char *path = NULL;

      pending_wait (&pending[i]);
      g_assert_no_error (pending[i].error);
      g_variant_get (pending[i].reply, "(&o&s)", &path, NULL);
      if (first == NULL)
        first = path;
      g_assert_cmpstr (path, ==, first);
    }
  g_assert_cmpuint (limits_pending_all (bed->broker->limits), ==, 1);
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    pending_clear (&pending[i]);
}

static gboolean
is_made_here (Caller *caller, const char *path)
{
  g_autoptr (GVariant) details = NULL;
  gboolean made_here = FALSE;

  g_free (caller_state (caller, path, &details));
  g_assert_true (g_variant_lookup (details, "made-here", "b", &made_here));
  return made_here;
}

/* Of two that asked for the same one made it, and is told so: nobody else, and nobody later. */
static void
test_made_here (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) maker = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) joiner = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (maker, "ticket");
  g_autofree char *path = caller_submit (maker, run, "a@example.com", NULL);
  g_autofree char *joined = caller_submit (joiner, run, "a@example.com", NULL);
  g_autofree char *other = caller_submit (joiner, run, "b@example.com", NULL);

  g_assert_cmpstr (joined, ==, path);
  g_assert_true (is_made_here (maker, path));
  g_assert_false (is_made_here (joiner, path));
  g_assert_false (is_made_here (jones, path));
  g_assert_true (is_made_here (joiner, other));
  g_assert_false (is_made_here (maker, other));
  bed_stop (bed);
  bed_start (bed);
  g_assert_false (is_made_here (maker, path));
}

/* --- one that its caller gave up --- */

static void
leave (Caller *caller, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) left = caller_call (caller, path, US_INTERFACE_REQUEST, "Leave", NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (left);
}

static void
watch (Caller *caller, const char *path, const char *member)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) done = caller_call (caller, path, US_INTERFACE_REQUEST, member, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (done);
}

/* Somebody was given it and has not said that they passed it on to nobody: gone or not, it stays. */
static void
test_left_by_some (Bed *bed, gconstpointer config)
{
  static const char *const options[] = { NULL, "{'idempotency-key': <'k9'>}" };
  g_autoptr (Caller) maker = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (maker, "ticket");

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autofree char *to = g_strdup_printf ("%u@example.com", i);
      g_autofree char *path = caller_submit (maker, run, to, NULL);
      g_autoptr (Caller) joiner = bed_caller (bed, FAKE_AGENT);
      g_autofree char *joined = caller_submit (joiner, run, to, options[i]);

      g_assert_cmpstr (joined, ==, path);
      g_clear_pointer (&joiner, caller_free);
      leave (maker, path);
      wait_state (maker, path, "pending");
      /* Also where the one that left asks again, and leaves again. */
      g_free (caller_submit (maker, run, to, NULL));
      leave (maker, path);
      wait_state (maker, path, "pending");
    }
}

/* Its key gave it to another one: that has it. */
static void
test_left_by_key (Bed *bed, gconstpointer config)
{
  static const char key[] = "{'idempotency-key': <'k9'>}";
  g_autoptr (Caller) maker = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (maker, "ticket");
  g_autofree char *path = caller_submit (maker, run, "a@example.com", key);
  g_autofree char *same = caller_submit (other, run, "a@example.com", key);

  g_assert_cmpstr (same, ==, path);
  leave (maker, path);
  wait_state (maker, path, "pending");
}

/* Who else has its path, or may have it. */
static void
test_left_and_known (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) maker = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (maker, "ticket");
  g_autofree char *watched = caller_submit (maker, run, "a@example.com", NULL);
  g_autofree char *kept = caller_submit (maker, run, "b@example.com", NULL);
  g_autofree char *strange = caller_submit (maker, run, "c@example.com", NULL);

  watch (other, watched, "Watch");
  watch (other, watched, "Unwatch");
  leave (maker, watched);
  wait_state (maker, watched, "pending");

  /* One that was not given it takes nothing back, and the one that was still can. */
  leave (other, strange);
  wait_state (maker, strange, "pending");
  leave (maker, strange);
  wait_state (maker, strange, "withdrawn");

  bed_stop (bed);
  bed_start (bed);
  leave (maker, kept);
  wait_state (maker, kept, "pending");
}

/* So many were given it that nobody counts them any more. */
static void
test_left_by_many (Bed *bed, gconstpointer config)
{
  g_autoptr (GPtrArray) callers = g_ptr_array_new_with_free_func ((GDestroyNotify) caller_free);
  g_autofree char *run = NULL;
  g_autofree char *path = NULL;

  for (guint i = 0; i <= HOLDERS_MAX; i++)
    {
      Caller *caller = bed_caller (bed, FAKE_AGENT);
      g_autofree char *given = NULL;

      g_ptr_array_add (callers, caller);
      if (run == NULL)
        run = caller_open_run (caller, "ticket");
      given = caller_submit (caller, run, "a@example.com", NULL);
      if (path == NULL)
        path = g_strdup (given);
      g_assert_cmpstr (given, ==, path);
    }
  for (guint i = 0; i <= HOLDERS_MAX; i++)
    leave (callers->pdata[i], path);
  wait_state (callers->pdata[0], path, "pending");
}

/* It runs or has ended, and stays as it is. */
static void
test_left_late (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) maker = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (maker, "ticket");
  g_autofree char *path = caller_submit (maker, run, "a@example.com", NULL);
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "hold");
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  wait_state (maker, path, "executing");
  leave (maker, path);
  fake_release (bed->fake);
  wait_state (maker, path, "done");
  leave (maker, path);
  wait_state (maker, path, "done");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* All that were given it have left it, in any order: it is withdrawn by the last. */
static void
test_left_by_all (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);

  for (guint first = 0; first < 2; first++)
    {
      g_autoptr (Caller) maker = bed_caller (bed, FAKE_AGENT);
      g_autoptr (Caller) joiner = bed_caller (bed, FAKE_AGENT);
      Caller *const order[] = { first == 0 ? maker : joiner, first == 0 ? joiner : maker };
      g_autofree char *run = caller_open_run (maker, "ticket");
      g_autofree char *path = caller_submit (maker, run, "a@example.com", NULL);
      g_autofree char *joined = caller_submit (joiner, run, "a@example.com", NULL);

      /* Once more on the same connection is still one, and so is waiting for it. */
      g_free (caller_submit (maker, run, "a@example.com", NULL));
      watch (joiner, path, "Watch");
      watch (jones, path, "Watch");
      g_assert_cmpstr (joined, ==, path);
      leave (order[0], path);
      wait_state (maker, path, "pending");
      leave (order[1], path);
      wait_state (maker, path, "withdrawn");
      g_assert_cmpuint (limits_pending_all (bed->broker->limits), ==, 0);
      leave (order[1], path);
    }
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static gboolean
has_prepared_two (gpointer bed)
{
  return fake_prepared (((Bed *) bed)->fake) == 2;
}

typedef struct
{
  Caller *caller;
  const char *path;
} Watched;

static gboolean
has_no_watchers (gpointer data)
{
  const Watched *watched = data;
  g_autoptr (GVariant) details = NULL;
  guint32 found = 0;

  g_free (caller_state (watched->caller, watched->path, &details));
  return g_variant_lookup (details, "watchers", "u", &found) && found == 0;
}

static guint
count_requests (Caller *caller)
{
  g_autoptr (GVariant) reply = caller_agent (caller, "ListRequests", NULL, NULL);
  g_autoptr (GVariant) requests = g_variant_get_child_value (reply, 0);

  return (guint) g_variant_n_children (requests);
}

/* What was under way has made a request, or has given its place back. */
static gboolean
has_made_or_not (gpointer data)
{
  const Watched *watched = data;

  return limits_pending_all (watched->caller->bed->broker->limits) == 1 ||
         count_requests (watched->caller) == 2;
}

/* A caller that leaves before its request is made leaves none. */
static void
test_caller_leaves (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) leaver = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GVariant) watch =
      caller_call (leaver, path, US_INTERFACE_REQUEST, "Watch", NULL, NULL);
  Watched watched = { agent, path };
  g_auto (Pending) left = { 0 };

  fake_hold (bed->fake);
  caller_begin (leaver, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                mail_parameters (run, "left@example.com", NULL), &left);
  bed_wait (has_prepared_two, bed);
  g_clear_pointer (&leaver, caller_free);
  pending_wait (&left);
  /* What the daemon hears of all that left, it has heard of this one. */
  bed_wait (has_no_watchers, &watched);
  fake_release (bed->fake);
  bed_wait (has_made_or_not, &watched);
  g_assert_cmpuint (count_requests (agent), ==, 1);
}

#define KEY "{'idempotency-key': <'k1'>}"

static void
test_key (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *run2 = caller_open_run (agent, "another");
  g_autofree char *foreign_run = caller_open_run (other, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", KEY);
  g_autofree char *same = caller_submit (agent, run2, "a@example.com", KEY);
  g_autofree char *second_key =
      caller_submit (agent, run, "a@example.com", "{'idempotency-key': <'k2'>}");
  g_autofree char *foreign = caller_submit (other, foreign_run, "a@example.com", KEY);
  g_autofree char *after = NULL;
  g_autofree char *id = key_request_id (bed->broker->id_key, FAKE_AGENT, "k1");
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (same, ==, first);
  g_assert_cmpstr (request_id_of (first), ==, id);
  g_assert_cmpstr (second_key, !=, first);
  g_assert_cmpstr (foreign, !=, first);
  assert_fails (caller_agent (agent, "Submit", mail_parameters (run, "b@example.com", KEY), &error),
                &error, US_ERROR_INVALID_ARGUMENT, US_REASON_KEY_REUSED);

  g_assert_true (caller_approve (jones, first, "hr.jones", "good", NULL, &error));
  wait_state (agent, first, "done");
  after = caller_submit (agent, run, "a@example.com", KEY);
  g_assert_cmpstr (after, ==, first);
  wait_state (agent, after, "done");

  /* Also after a restart, and when the queue knows nothing of it any more. */
  bed_stop (bed);
  bed_start (bed);
  g_free (after);
  after = caller_submit (agent, run, "a@example.com", KEY);
  g_assert_cmpstr (after, ==, first);
  queue_purge (bed->broker->queue, G_MAXINT64);
  assert_fails (caller_agent (agent, "Submit", mail_parameters (run, "a@example.com", KEY), &error),
                &error, US_ERROR_INVALID_ARGUMENT, US_REASON_KEY_REUSED);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* The key of a denial gives that denial again, not another card. */
static void
test_key_of_denied (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", KEY);
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GError) error = NULL;
  const char *path = NULL;
  const char *state = NULL;

  g_assert_true (caller_deny (jones, first, "other", &error));
  reply = caller_agent (agent, "Submit", mail_parameters (run, "a@example.com", KEY), &error);
  g_assert_no_error (error);
  g_variant_get (reply, "(&o&s)", &path, &state);
  g_assert_cmpstr (path, ==, first);
  g_assert_cmpstr (state, ==, "denied");
}

static void
test_key_adopted (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *keyed = caller_submit (agent, run, "a@example.com", KEY);
  g_autofree char *after = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (keyed, ==, first);
  g_assert_true (caller_approve (jones, first, "hr.jones", "good", NULL, &error));
  wait_state (agent, first, "done");
  after = caller_submit (agent, run, "a@example.com", KEY);
  g_assert_cmpstr (after, ==, first);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

static void
test_key_with_allow (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *first = NULL;
  Pending pending[4] = { 0 };

  fake_decide (bed->fake, "allow");
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    caller_begin (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                  mail_parameters (run, "a@example.com", KEY), &pending[i]);
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    {
      pending_wait (&pending[i]);
      g_assert_no_error (pending[i].error);
      pending_clear (&pending[i]);
    }
  first = caller_submit (agent, run, "a@example.com", KEY);
  wait_state (agent, first, "done");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* --- supersedes --- */

static void
test_supersedes (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *option = g_strdup_printf ("{'supersedes': <objectpath '%s'>}", first);
  g_autofree char *second = caller_submit (agent, run, "b@example.com", option);
  g_autofree char *option2 = g_strdup_printf ("{'supersedes': <objectpath '%s'>}", second);
  g_autoptr (GVariant) details = NULL;
  g_autofree char *successor = NULL;
  g_autofree char *row = NULL;
  g_autoptr (GVariant) card = NULL;
  g_autoptr (GVariant) card_details = NULL;
  g_autoptr (GVariant) superseded = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (Record) record = NULL;
  g_autoptr (GError) error = NULL;

  wait_state (agent, first, "superseded");
  g_free (caller_state (agent, first, &details));
  successor = details_get (details, "successor");
  g_assert_cmpstr (successor, ==, second);
  wait_row (bed, first, "closed superseded  ");
  g_assert_false (caller_approve (jones, first, "hr.jones", "good", NULL, &error));
  g_clear_error (&error);

  card = caller_call (jones, US_OBJECT_PATH, US_INTERFACE_APPROVER, "GetCard",
                      g_variant_new ("(o)", second), &error);
  card_details = g_variant_get_child_value (card, 1);
  superseded = g_variant_lookup_value (card_details, "superseded", G_VARIANT_TYPE_BYTESTRING);
  bytes = g_variant_get_data_as_bytes (superseded);
  record = record_decode (bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (json_tree_string (json_tree_item (record_argument (record, "to", NULL), 0)), ==,
                   "a@example.com");

  /* Even the same again, if it is to take the other's place. */
  g_free (caller_submit (agent, run, "b@example.com", option2));
  wait_state (agent, second, "superseded");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static void
test_supersedes_refused (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *other_run = caller_open_run (other, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *option = g_strdup_printf ("{'supersedes': <objectpath '%s'>}", first);
  g_autoptr (GError) error = NULL;

  assert_fails (
      caller_agent (other, "Submit", mail_parameters (other_run, "b@example.com", option), &error),
      &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  /* A refusal leaves the old one as it is. */
  fake_refuse (bed->fake, US_ERROR_REFUSED, US_REASON_NO_RULE);
  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "b@example.com", option), &error),
      &error, US_ERROR_REFUSED, US_REASON_NO_RULE);
  wait_state (agent, first, "pending");
  fake_refuse (bed->fake, 0, NULL);
  g_assert_true (caller_approve (jones, first, "hr.jones", "good", NULL, &error));
  wait_state (agent, first, "done");
  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "b@example.com", option), &error),
      &error, US_ERROR_WRONG_STATE, US_REASON_TOO_LATE);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* Its place is taken, or an error says that it is not; never is a third request the answer. */
static void
test_supersedes_for_the_same (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *third = caller_submit (agent, run, "c@example.com", "{'idempotency-key': <'k'>}");
  g_autofree char *plain = caller_submit (agent, run, "d@example.com", NULL);
  g_autofree char *option = g_strdup_printf ("{'supersedes': <objectpath '%s'>}", first);
  g_autofree char *keyed = g_strdup_printf (
      "{'supersedes': <objectpath '%s'>, 'idempotency-key': <'k'>}", first);
  g_autofree char *second = NULL;
  g_autofree char *again = NULL;
  g_autoptr (GError) error = NULL;

  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "d@example.com", option), &error),
      &error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE);
  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "c@example.com", keyed), &error),
      &error, US_ERROR_INVALID_ARGUMENT, US_REASON_KEY_REUSED);
  wait_state (agent, first, "pending");
  wait_state (agent, third, "pending");
  wait_state (agent, plain, "pending");

  /* The answer was lost, and it is asked again. */
  second = caller_submit (agent, run, "b@example.com", option);
  again = caller_submit (agent, run, "b@example.com", option);
  g_assert_cmpstr (second, ==, again);
  wait_state (agent, first, "superseded");
  wait_state (agent, second, "pending");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/same/same-intent", NULL, test_same_intent);
  bed_test ("/same/same-at-once", NULL, test_same_at_once);
  bed_test ("/same/made-here", NULL, test_made_here);
  bed_test ("/same/left-by-some", NULL, test_left_by_some);
  bed_test ("/same/left-by-key", NULL, test_left_by_key);
  bed_test ("/same/left-and-known", NULL, test_left_and_known);
  bed_test ("/same/left-by-many", NULL, test_left_by_many);
  bed_test ("/same/left-late", NULL, test_left_late);
  bed_test ("/same/left-by-all", NULL, test_left_by_all);
  bed_test ("/same/caller-leaves", NULL, test_caller_leaves);
  bed_test ("/same/key", NULL, test_key);
  bed_test ("/same/key-of-denied", NULL, test_key_of_denied);
  bed_test ("/same/key-adopted", NULL, test_key_adopted);
  bed_test ("/same/key-with-allow", NULL, test_key_with_allow);
  bed_test ("/same/supersedes", NULL, test_supersedes);
  bed_test ("/same/supersedes-refused", NULL, test_supersedes_refused);
  bed_test ("/same/supersedes-for-the-same", NULL, test_supersedes_for_the_same);
  return g_test_run ();
}
