/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pauses of an agent: who may make and end one, and what they stop. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

static gboolean
pause_agent (Caller *caller, guint seconds, GError **error)
{
  g_autoptr (GVariant) reply =
      caller_approver (caller, "PauseAgent", g_variant_new ("(su)", "offboarding", seconds), error);

  return reply != NULL;
}

static gboolean
is_paused (Caller *agent)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = caller_agent (agent, "GetInfo", NULL, &error);
  g_autoptr (GVariant) info = NULL;
  gboolean paused = FALSE;

  g_assert_no_error (error);
  info = g_variant_get_child_value (reply, 0);
  g_assert_true (g_variant_lookup (info, "paused", "b", &paused));
  return paused;
}

static void
test_pause (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *before = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (pause_agent (jones, 100, &error));
  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "b@example.com", NULL), &error), &error,
      US_ERROR_PAUSED, US_REASON_PAUSED);
  g_assert_true (is_paused (agent));
  g_assert_false (pause_agent (lead, 0, &error));
  assert_fails (NULL, &error, US_ERROR_WRONG_STATE, US_REASON_WRONG_STATE);
  g_assert_false (pause_agent (jones, 86401, &error));
  assert_fails (NULL, &error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE);
  assert_fails (caller_approver (jones, "PauseAgent", g_variant_new ("(su)", "nobody", 1), &error),
                &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  wait_state (agent, before, "pending");

  /* It outlives a restart. */
  bed_stop (bed);
  bed_start (bed);
  g_assert_true (is_paused (agent));
  g_assert_true (pause_agent (jones, 0, &error));
  g_assert_false (is_paused (agent));
  g_free (caller_submit (agent, run, "b@example.com", NULL));
}

/* Who has nothing to do with an agent does not stop it, nor learn that it is there. */
static void
test_pause_of_others (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autoptr (Caller) alice = bed_caller (bed, FAKE_ALICE);
  g_autoptr (GVariant) own = NULL;
  g_autoptr (GError) error = NULL;

  for (guint seconds = 0; seconds < 2; seconds++)
    {
      g_assert_false (pause_agent (alice, seconds, &error));
      assert_fails (NULL, &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
    }
  g_assert_false (is_paused (agent));
  /* The owner may, without being an approver of anything. */
  own = caller_approver (alice, "PauseAgent", g_variant_new ("(su)", "other", 1), &error);
  g_assert_no_error (error);

  /* What a person began it may end, also when it is no approver any more. */
  g_assert_true (pause_agent (lead, 100, &error));
  fake_policy (bed->fake, "rules/x.rule",
               "[Rule mail]\nAgents=offboarding\nActions=mail.send\nDecision=ask\n"
               "Approvers=hr.jones\nPasskeys=phone\n");
  g_assert_true (pause_agent (lead, 0, &error));
  g_assert_false (is_paused (agent));
  g_assert_false (pause_agent (lead, 1, &error));
  assert_fails (NULL, &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  fake_away (bed->fake, TRUE);
  g_assert_false (pause_agent (lead, 1, &error));
  assert_fails (NULL, &error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);
  g_assert_false (is_paused (agent));
}

/* Who may answer one of its requests, by a fact, may stop it as well. */
static void
test_pause_by_card (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autofree char *run = NULL;
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;

  fake_policy (bed->fake, "rules/x.rule",
               "[Rule mail]\nAgents=offboarding\nActions=mail.send\nDecision=ask\n"
               "Approvers=hr.jones\nPasskeys=phone\n");
  g_assert_false (pause_agent (lead, 100, &error));
  assert_fails (NULL, &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  run = caller_open_run (agent, "ticket");
  path = caller_submit (agent, run, "a@example.com", NULL);
  g_assert_true (pause_agent (lead, 100, &error));
  g_assert_true (is_paused (agent));
}

static void
test_denials_pause (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);

      g_assert_true (caller_deny (jones, path, "not-now", &error));
    }
  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "a@example.com", NULL), &error), &error,
      US_ERROR_PAUSED, US_REASON_PAUSED);
  g_assert_false (pause_agent (jones, 0, &error));
  assert_fails (NULL, &error, US_ERROR_WRONG_STATE, US_REASON_WRONG_STATE);
  bed_stop (bed);
  bed_start (bed);
  g_assert_true (is_paused (agent));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/pause/stops", NULL, test_pause);
  bed_test ("/pause/of-others", NULL, test_pause_of_others);
  bed_test ("/pause/by-card", NULL, test_pause_by_card);
  bed_test ("/pause/denials", NULL, test_denials_pause);
  return g_test_run ();
}
