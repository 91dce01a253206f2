/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a person with a passkey is shown and told, and what nobody else is. */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

#include <string.h>

static char *
register_card (Caller *caller)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      caller_approver (caller, "Register", g_variant_new ("(a{sv})", NULL), &error);

  g_assert_no_error (error);
  return g_variant_print (reply, FALSE);
}

static gboolean
card_is_open (Caller *agent, const char *path)
{
  g_autoptr (GVariant) details = NULL;
  gboolean open = FALSE;

  g_free (caller_state (agent, path, &details));
  g_assert_true (g_variant_lookup (details, "card", "b", &open));
  return open;
}

static void
test_signals (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autoptr (Caller) alice = bed_caller (bed, FAKE_ALICE);
  g_autofree char *none = register_card (jones);
  g_autofree char *also_none = register_card (alice);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *later = NULL;
  g_autofree char *wanted = NULL;
  g_autofree char *cards = NULL;
  g_autofree char *removed = NULL;
  g_autofree char *changed = NULL;
  g_autoptr (GVariant) watch = caller_call (agent, path, US_INTERFACE_REQUEST, "Watch", NULL, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (none, ==, "([],)");
  later = register_card (lead);
  wanted = g_strdup_printf ("([('%s', 'pending')],)", path);
  g_assert_cmpstr (later, ==, wanted);
  cards = g_strdup_printf ("CardAdded %s\n", path);
  wait_heard (jones, cards);
  g_assert_cmpstr (lead->heard->str, ==, "");
  g_assert_true (card_is_open (agent, path));

  g_assert_true (caller_approve (lead, path, "it.lead", "good", NULL, &error));
  wait_state (agent, path, "done");
  removed = g_strdup_printf ("CardAdded %s\nCardRemoved %s approved\n", path, path);
  wait_heard (jones, removed);
  changed = g_strdup_printf ("Changed %s approved\nChanged %s executing\nChanged %s done\n", path,
                             path, path);
  wait_heard (agent, changed);
  bed_spin (50);
  /* Who is not concerned hears nothing. */
  g_assert_cmpstr (alice->heard->str, ==, "");
  g_assert_cmpstr (other->heard->str, ==, "");
  g_assert_false (card_is_open (agent, path));
}

static GVariant *
watch (Caller *caller, const char *path, GError **error)
{
  return caller_call (caller, path, US_INTERFACE_REQUEST, "Watch", NULL, error);
}

/* Each is told of the connections of its own user, and of no other's. */
static void
assert_watchers (Caller *caller, const char *path, guint32 wanted)
{
  g_autoptr (GVariant) details = NULL;
  guint32 found = G_MAXUINT32;

  g_free (caller_state (caller, path, &details));
  g_assert_true (g_variant_lookup (details, "watchers", "u", &found));
  g_assert_cmpuint (found, ==, wanted);
}

/* However many connections an agent has, those who answer hear what became of their answer. */
static void
test_watchers (Bed *bed, gconstpointer config)
{
  g_autoptr (GPtrArray) agents = g_ptr_array_new_with_free_func ((GDestroyNotify) caller_free);
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *changed = NULL;
  g_autoptr (GVariant) by_jones = NULL;
  g_autoptr (GVariant) by_lead = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < SIGNALS_WATCHERS_MAX + 1; i++)
    {
      g_autoptr (GVariant) reply = NULL;

      g_ptr_array_add (agents, bed_caller (bed, FAKE_AGENT));
      reply = watch (g_ptr_array_index (agents, i), path, &error);
      if (i < SIGNALS_WATCHERS_MAX)
        g_assert_no_error (error);
    }
  g_assert_true (g_error_matches (error, US_ERROR, US_ERROR_LIMIT_EXCEEDED));
  g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
  g_clear_error (&error);

  assert_watchers (jones, path, 0);
  by_jones = watch (jones, path, &error);
  g_assert_no_error (error);
  assert_watchers (jones, path, 1);
  assert_watchers (agent, path, SIGNALS_WATCHERS_MAX);
  by_lead = watch (lead, path, &error);
  g_assert_no_error (error);
  g_assert_true (caller_approve (lead, path, "it.lead", "good", NULL, &error));
  wait_state (jones, path, "done");
  changed = g_strdup_printf ("Changed %s approved\nChanged %s executing\nChanged %s done\n", path,
                             path, path);
  wait_heard (jones, changed);
  wait_heard (lead, changed);
}

/* The place of a connection that left is free again. */
static void
test_watcher_leaves (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  gint64 end = g_get_monotonic_time () + BED_PATIENCE * G_USEC_PER_SEC;
  g_autoptr (GError) error = NULL;

  /* The daemon hears of it from the bus, in its time. */
  for (guint i = 0; i < 2 * SIGNALS_WATCHERS_MAX; i++)
    {
      g_autoptr (Caller) more = bed_caller (bed, FAKE_AGENT);
      g_autoptr (GVariant) reply = NULL;
      g_autoptr (GVariant) again = NULL; /* counts once */

      while ((reply = watch (more, path, &error)) == NULL)
        {
          g_assert_error (error, US_ERROR, US_ERROR_LIMIT_EXCEEDED);
          g_clear_error (&error);
          g_assert_cmpint (g_get_monotonic_time (), <, end);
          bed_spin (10);
        }
      again = watch (more, path, &error);
      g_assert_no_error (error);
    }
}

/* It is not counted and hears nothing more; the others are and do. */
static void
test_unwatch (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) second = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *changed = g_strdup_printf ("Changed %s withdrawn\n", path);
  g_autoptr (GVariant) withdrawn = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GVariant) first = watch (agent, path, NULL);
      g_autoptr (GVariant) other = watch (second, path, NULL);
      g_autoptr (GVariant) gone = NULL;
      g_autoptr (GVariant) again = NULL; /* it is no error */

      assert_watchers (agent, path, 2);
      gone = caller_call (agent, path, US_INTERFACE_REQUEST, "Unwatch", NULL, &error);
      g_assert_no_error (error);
      assert_watchers (agent, path, 1);
      again = caller_call (agent, path, US_INTERFACE_REQUEST, "Unwatch", NULL, &error);
      g_assert_no_error (error);
      assert_watchers (agent, path, 1);
    }
  withdrawn = caller_call (agent, path, US_INTERFACE_REQUEST, "Withdraw", NULL, &error);
  g_assert_no_error (error);
  wait_heard (second, changed);
  wait_state (agent, path, "withdrawn");
  g_assert_cmpstr (agent->heard->str, ==, "");
}

static void
wait_card_closed (Caller *agent, const char *path)
{
  gint64 end = g_get_monotonic_time () + BED_PATIENCE * G_USEC_PER_SEC;

  while (card_is_open (agent, path))
    {
      g_assert_cmpint (g_get_monotonic_time (), <, end);
      bed_spin (10);
    }
}

/* A card that leaves is not counted on, and does not keep anything. */
static void
test_card_leaves (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) alice = bed_caller (bed, FAKE_ALICE);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);

  g_free (register_card (alice));
  g_assert_false (card_is_open (agent, path));
  g_free (register_card (jones));
  g_assert_true (card_is_open (agent, path));
  g_clear_pointer (&jones, caller_free);
  wait_card_closed (agent, path);
}

static void
test_card (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *path = caller_submit (agent, run, "b@example.com", "{'claim': <'for you'>}");
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) card =
      caller_approver (jones, "GetCard", g_variant_new ("(o)", path), &error);
  g_autoptr (GVariant) bytes = NULL;
  g_autoptr (GVariant) details = NULL;
  g_autoptr (GVariant) history = NULL;
  g_autoptr (GBytes) data = NULL;
  g_autoptr (Record) record = NULL;
  g_autofree char *digest = NULL;
  g_autofree char *text = NULL;
  g_autofree char *own = digest_to_string ((const guint8 *) "                                ");
  guint32 attempts = 0, needed = 0, answers = 1;
  gboolean again = TRUE, answered = TRUE;
  guint64 deadline = 0;

  g_assert_no_error (error);
  bytes = g_variant_get_child_value (card, 0);
  details = g_variant_get_child_value (card, 1);
  data = g_variant_get_data_as_bytes (bytes);
  record = record_decode (data, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (record_agent_name (record), ==, "offboarding");
  g_assert_cmpstr (record_claim (record), ==, "for you");
  digest = details_get (details, "digest");
  g_free (own);
  own = digest_to_string (record_digest (record));
  g_assert_cmpstr (digest, ==, own);

  g_assert_true (g_variant_lookup (details, "attempts", "u", &attempts));
  g_assert_true (g_variant_lookup (details, "needed", "u", &needed));
  g_assert_true (g_variant_lookup (details, "answers", "u", &answers));
  g_assert_true (g_variant_lookup (details, "again", "b", &again));
  g_assert_true (g_variant_lookup (details, "answered", "b", &answered));
  g_assert_true (g_variant_lookup (details, "deadline", "t", &deadline));
  g_assert_cmpuint (attempts, ==, REQUEST_ATTEMPTS);
  g_assert_cmpuint (needed, ==, 1);
  g_assert_cmpuint (answers, ==, 0);
  g_assert_false (again);
  g_assert_false (answered);
  g_assert_cmpuint (deadline, >, 0);
  history = g_variant_lookup_value (details, "history", G_VARIANT_TYPE ("a(ss)"));
  text = g_variant_print (history, FALSE);
  g_assert_cmpstr (text, ==, "[('Send an e-mail', 'pending')]");
}

/* Nobody but who may answer is shown it; whether it exists is not told. */
static void
test_card_of_others (Bed *bed, gconstpointer config)
{
  static const char *const members[] = { "GetCard", "GetStatement", "OpenFile",
                                         "Approve", "Deny",         "GetReceipt" };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) alice = bed_caller (bed, FAKE_ALICE);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *absent = request_path_of (SAMPLE_ID);
  const char *const paths[] = { path, absent, "/org/undersign1", "/" };

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    for (guint j = 0; j < G_N_ELEMENTS (paths); j++)
      {
        GVariant *parameters[] = {
          g_variant_new ("(o)", paths[j]),
          g_variant_new ("(oa{sv})", paths[j], NULL),
          g_variant_new ("(osu)", paths[j], "attachment", 0),
          g_variant_new ("(o@aya{sv})", paths[j], g_variant_new_bytestring ("x"), NULL),
          g_variant_new ("(osa{sv})", paths[j], "other", NULL),
          g_variant_new ("(o)", paths[j]),
        };
        g_autoptr (GError) error = NULL;

        assert_fails (caller_approver (alice, members[i], parameters[i], &error), &error,
                      US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
        for (guint k = 0; k < G_N_ELEMENTS (parameters); k++)
          if (k != i)
            g_variant_unref (g_variant_ref_sink (parameters[k]));
      }
  g_assert_cmpuint (fake_answered (bed->fake), ==, 0);
}

/* --- reach --- */

static void
test_unreachable (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);

  /* One of two is enough. */
  fake_passkey (bed->fake, FAKE_JONES, FALSE);
  bed_spin (1500);
  wait_state (agent, path, "pending");
  fake_passkey (bed->fake, FAKE_LEAD, FALSE);
  wait_state (agent, path, "unreachable");
  wait_row (bed, path, "closed unreachable  ");
}

/* A passkey that is newer than what the broker remembers of the person. */
static void
test_reachable_again (Bed *bed, gconstpointer config)
{
  static const uid_t uids[] = { FAKE_JONES, FAKE_LEAD };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (uids); i++)
    {
      g_autoptr (Caller) caller = bed_caller (bed, uids[i]);
      g_autoptr (GError) error = NULL;

      fake_passkey (bed->fake, uids[i], FALSE);
      assert_fails (caller_approver (caller, "GetCard", g_variant_new ("(o)", "/"), &error), &error,
                    US_ERROR_NOT_APPROVER, US_REASON_NOT_APPROVER);
      fake_passkey (bed->fake, uids[i], TRUE);
    }
  path = caller_submit (agent, run, "a@example.com", NULL);
  bed_spin (1500); /* a look */
  wait_state (agent, path, "pending");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/cards/signals", NULL, test_signals);
  bed_test ("/cards/watchers", NULL, test_watchers);
  bed_test ("/cards/watcher-leaves", NULL, test_watcher_leaves);
  bed_test ("/cards/unwatch", NULL, test_unwatch);
  bed_test ("/cards/card-leaves", NULL, test_card_leaves);
  bed_test ("/cards/card", NULL, test_card);
  bed_test ("/cards/card-of-others", NULL, test_card_of_others);
  bed_test ("/cards/unreachable", NULL, test_unreachable);
  bed_test ("/cards/reachable-again", NULL, test_reachable_again);
  return g_test_run ();
}
