/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request from Submit() to its end, over the bus: what ends it, what runs, and what everybody is
 * told.  Each test also looks at what the module would have done.
 */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

#include <string.h>

static void
test_approve (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *state = NULL;
  g_autofree char *result = NULL;
  g_autoptr (GVariant) details = NULL;
  g_autoptr (GError) error = NULL;

  assert_details (agent, path, "pending", "no", "");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", &state, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (state, ==, "executing");
  wait_state (agent, path, "done");
  g_free (caller_state (agent, path, &details));
  result = details_get (details, "result");
  g_assert_cmpstr (result, ==, "as it was done");
  assert_details (agent, path, "done", "yes", "");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);

  /* Nobody answers twice, and nothing runs twice. */
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LATE));
  g_clear_error (&error);
  g_assert_false (caller_deny (jones, path, "other", &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LATE));
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* Approve() returns when the approval is used up; a denial and a withdrawal then come too late. */
static void
test_approve_returns_when_consumed (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "hold");
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  assert_details (agent, path, "executing", "unknown", "");
  g_assert_false (caller_deny (jones, path, "other", &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LATE));
  g_clear_error (&error);
  reply = caller_call (agent, path, US_INTERFACE_REQUEST, "Withdraw", NULL, &error);
  g_assert_null (reply);
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LATE));
  fake_release (bed->fake);
  wait_state (agent, path, "done");
}

static void
test_outcomes (Bed *bed, gconstpointer config)
{
  static const struct
  {
    const char *how, *state, *executed;
  } cases[] = {
    { "done", "done", "yes" },       { "failed", "failed", "no" },
    { "unknown", "unknown", "unknown" }, { "garbage", "unknown", "unknown" },
    { "cut", "done", "yes" },        { "dies", "unknown", "unknown" },
    { "lost", "done", "yes" },
  };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
      g_autofree char *state = NULL;
      g_autoptr (GError) error = NULL;

      fake_execute (bed->fake, cases[i].how);
      g_assert_true (caller_approve (jones, path, "hr.jones", "good", &state, &error));
      /* Where the executor says nothing the ledger decides. */
      g_assert_cmpstr (state, ==, strcmp (cases[i].how, "lost") == 0 ? "approved" : "executing");
      wait_state (agent, path, cases[i].state);
      assert_details (agent, path, cases[i].state, cases[i].executed, "");
      g_assert_cmpuint (fake_ran (bed->fake), ==, i + 1);
    }
}

/* The executor was not there: nothing ran, and the approval is handed over again. */
static void
test_silent (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *state = NULL;
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "silent");
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", &state, &error));
  g_assert_cmpstr (state, ==, "approved");
  assert_details (agent, path, "approved", "unknown", "");
  g_assert_false (caller_deny (jones, path, "other", &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LATE));
  fake_execute (bed->fake, "done");
  wait_state (agent, path, "done");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

static void
test_deny (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *again = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_false (caller_deny (jones, path, "", &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_VALUE));
  g_clear_error (&error);
  g_assert_true (caller_deny (jones, path, "wrong-target", &error));
  assert_details (agent, path, "denied", "no", "wrong-target");
  wait_row (bed, path, "closed denied hr.jones wrong-target");
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LATE));
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);

  /* The same wish after that is another request. */
  again = caller_submit (agent, run, "a@example.com", NULL);
  g_assert_cmpstr (again, !=, path);
}

/* One denies while the other's assertion is being looked at: nothing runs. */
static void
test_deny_wins (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = NULL;
  g_autofree char *state = NULL;
  g_autoptr (GError) error = NULL;

  fake_need (bed->fake, 2);
  path = caller_submit (agent, run, "a@example.com", NULL);
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", &state, &error));
  g_assert_cmpstr (state, ==, "pending");
  g_assert_true (caller_deny (lead, path, "suspicious", &error));
  assert_details (agent, path, "denied", "no", "suspicious");
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static void
test_two_of_two (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = NULL;
  g_autofree char *state = NULL;
  g_autofree char *second = NULL;
  g_autoptr (GError) error = NULL;

  fake_need (bed->fake, 2);
  path = caller_submit (agent, run, "a@example.com", NULL);
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", &state, &error));
  g_assert_cmpstr (state, ==, "pending");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
  g_assert_true (caller_approve (lead, path, "it.lead", "good", &second, &error));
  g_assert_cmpstr (second, ==, "executing");
  wait_state (agent, path, "done");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

static void
test_withdraw (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GVariant) again = NULL;
  g_autoptr (GError) error = NULL;

  reply = caller_call (agent, path, US_INTERFACE_REQUEST, "Withdraw", NULL, &error);
  g_assert_no_error (error);
  assert_details (agent, path, "withdrawn", "no", "");
  wait_row (bed, path, "closed withdrawn  ");
  again = caller_call (agent, path, US_INTERFACE_REQUEST, "Withdraw", NULL, &error);
  g_assert_no_error (error);
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static void
test_expire (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;

  fake_lifetime (bed->fake, 300);
  path = caller_submit (agent, run, "a@example.com", NULL);
  wait_state (agent, path, "expired");
  assert_details (agent, path, "expired", "no", "");
  wait_row (bed, path, "closed expired  ");
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LATE));
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

/* A caller that stops waiting changes nothing. */
static void
test_waiter_gives_up (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (Caller) again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      caller_call (agent, path, US_INTERFACE_REQUEST, "Watch", NULL, &error);

  g_assert_no_error (error);
  g_clear_pointer (&agent, caller_free);
  bed_spin (50);
  again = bed_caller (bed, FAKE_AGENT);
  assert_details (again, path, "pending", "no", "");
}

static void
test_refused_has_successor (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *successor = NULL;
  g_autofree char *supersedes = NULL;
  g_autofree char *refused = NULL;
  g_autoptr (GVariant) card = NULL;
  g_autoptr (GVariant) details = NULL;
  g_autoptr (GVariant) card_details = NULL;
  g_autoptr (GVariant) superseded = NULL;
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "refuse");
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_FACT_CHANGED));
  g_clear_error (&error);
  assert_details (agent, path, "refused", "no", "fact-changed: fact known changed");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);

  successor = wait_successor (agent, path);
  assert_details (agent, successor, "pending", "no", "");
  card = caller_call (jones, US_OBJECT_PATH, US_INTERFACE_APPROVER, "GetCard",
                      g_variant_new ("(o)", successor), &error);
  g_assert_no_error (error);
  card_details = g_variant_get_child_value (card, 1);
  supersedes = details_get (card_details, "supersedes");
  refused = details_get (card_details, "refused");
  superseded = g_variant_lookup_value (card_details, "superseded", G_VARIANT_TYPE_BYTESTRING);
  g_assert_cmpstr (supersedes, ==, path);
  g_assert_cmpstr (refused, ==, "fact-changed: fact known changed");
  g_assert_nonnull (superseded);

  /* It needs an approval of its own. */
  fake_execute (bed->fake, "done");
  bed_spin (50);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
  g_assert_true (caller_approve (jones, successor, "hr.jones", "good", NULL, &error));
  wait_state (agent, successor, "done");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* A denial that reached the ledger first stands: nobody is asked again. */
static void
test_denied_has_no_successor (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *successor = NULL;
  g_autoptr (GVariant) details = NULL;
  g_autoptr (GError) error = NULL;

  fake_execute (bed->fake, "denied");
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_CLOSED));
  assert_details (agent, path, "denied", "no", "");
  bed_spin (100);
  g_free (caller_state (agent, path, &details));
  successor = details_get (details, "successor");
  g_assert_null (successor);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

/* What was prepared can't be approved any more: the person is asked anew, not left with a dead card.
 * @answer: their signature; @wanted: why it counts for nothing */
static void
changed_at_answer (Bed *bed, const char *answer, const char *wanted)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *successor = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_false (caller_approve (jones, path, "hr.jones", answer, NULL, &error));
  g_assert_true (g_str_has_suffix (error->message, wanted));
  assert_details (agent, path, "refused", "no", wanted);
  successor = wait_successor (agent, path);
  assert_details (agent, successor, "pending", "no", "");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static void
test_changed_at_answer (Bed *bed, gconstpointer config)
{
  changed_at_answer (bed, "late", "record-changed: the policy was edited");
}

static void
test_seal_void_at_answer (Bed *bed, gconstpointer config)
{
  changed_at_answer (bed, "void", "bad-seal: the key was renewed");
}

static void
test_refused_without_successor (Bed *bed, gconstpointer config)
{
  static const char *const whys[] = { "allow", "refuse" };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");

  for (guint i = 0; i < G_N_ELEMENTS (whys); i++)
    {
      g_autofree char *path = NULL;
      g_autofree char *successor = NULL;
      g_autoptr (GVariant) details = NULL;
      g_autoptr (GVariant) list = NULL;
      g_autoptr (GError) error = NULL;

      fake_decide (bed->fake, "ask");
      fake_refuse (bed->fake, 0, NULL);
      path = caller_submit (agent, run, "a@example.com", NULL);
      fake_execute (bed->fake, "refuse");
      if (i == 0)
        fake_decide (bed->fake, "allow");
      else
        fake_refuse (bed->fake, US_ERROR_REFUSED, US_REASON_DENIED_BY_RULE);
      g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
      bed_spin (100);
      g_free (caller_state (agent, path, &details));
      successor = details_get (details, "successor");
      g_assert_null (successor);
      g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
    }
}

static void
test_allow (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GError) error = NULL;
  const char *path = NULL;
  const char *state = NULL;

  fake_decide (bed->fake, "allow");
  fake_execute (bed->fake, "hold");
  reply = caller_call (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                       mail_parameters (run, "a@example.com", NULL), &error);
  g_assert_no_error (error);
  g_variant_get (reply, "(&o&s)", &path, &state);
  g_assert_cmpstr (state, ==, "executing");
  fake_release (bed->fake);
  wait_state (agent, path, "done");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);

  fake_execute (bed->fake, "refuse");
  g_assert_null (caller_call (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                              mail_parameters (run, "b@example.com", NULL), &error));
  g_assert_true (us_error_has_reason (error, US_REASON_FACT_CHANGED));
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

/* Five wrong assertions are all that a request takes; a denial still ends it. */
static void
test_attempts (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < REQUEST_ATTEMPTS; i++)
    {
      g_assert_false (caller_approve (jones, path, "hr.jones", "bad", NULL, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_SIGNATURE));
      g_clear_error (&error);
    }
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_ATTEMPTS));
  g_clear_error (&error);
  g_assert_cmpuint (fake_answered (bed->fake), ==, REQUEST_ATTEMPTS);
  assert_details (agent, path, "pending", "no", "");
  g_assert_true (caller_deny (jones, path, "other", &error));
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static void
test_executor_away (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GError) error = NULL;

  /* So that the executor is not asked who this is while it is away. */
  g_assert_false (caller_approve (jones, path, "hr.jones", "bad", NULL, &error));
  g_clear_error (&error);
  fake_away (bed->fake, TRUE);
  reply = caller_call (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                       mail_parameters (run, "b@example.com", NULL), &error);
  g_assert_null (reply);
  g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
  g_clear_error (&error);
  g_assert_false (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
  g_clear_error (&error);
  /* Silence was no wrong assertion and no answer; a denial still counts. */
  assert_details (agent, path, "pending", "no", "");
  g_assert_true (caller_deny (jones, path, "not-now", &error));
  assert_details (agent, path, "denied", "no", "not-now");
  assert_row (bed, path, "none");
  fake_away (bed->fake, FALSE);
  bed_stop (bed);
  bed_start (bed);
  wait_row (bed, path, "closed denied hr.jones not-now");
}

static gboolean
are_two_held (gpointer bed)
{
  return fake_held (((Bed *) bed)->fake) >= 2;
}

/* What one person approves is handed over one after the other; another person does not wait for it. */
static void
test_answers_in_turn (Bed *bed, gconstpointer config)
{
  static const struct
  {
    gboolean lead;
    const char *to, *credential;
  } approvals[] = {
    { FALSE, "a@example.com", "hr.jones" },
    { FALSE, "b@example.com", "hr.jones" },
    { TRUE, "c@example.com", "it.lead" },
  };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autofree char *run = caller_open_run (agent, "ticket");
  Pending pending[G_N_ELEMENTS (approvals)] = { 0 };

  fake_hold_kind (bed->fake, HANDOVER_ANSWER);
  for (guint i = 0; i < G_N_ELEMENTS (approvals); i++)
    {
      g_autofree char *path = caller_submit (agent, run, approvals[i].to, NULL);
      g_autoptr (GError) error = NULL;

      g_assert_true (caller_begin_approve (approvals[i].lead ? lead : jones, path,
                                           approvals[i].credential, "good", &pending[i], &error));
    }
  bed_wait (are_two_held, bed);
  g_assert_cmpuint (fake_held (bed->fake), ==, 2);
  fake_hold_kind (bed->fake, 0);
  for (guint i = 0; i < G_N_ELEMENTS (approvals); i++)
    {
      pending_wait (&pending[i]);
      g_assert_no_error (pending[i].error);
      pending_clear (&pending[i]);
    }
  g_assert_cmpuint (fake_answered (bed->fake), ==, 3);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/life/approve", NULL, test_approve);
  bed_test ("/life/approve-returns-when-consumed", NULL, test_approve_returns_when_consumed);
  bed_test ("/life/outcomes", NULL, test_outcomes);
  bed_test ("/life/silent", NULL, test_silent);
  bed_test ("/life/deny", NULL, test_deny);
  bed_test ("/life/deny-wins", NULL, test_deny_wins);
  bed_test ("/life/two-of-two", NULL, test_two_of_two);
  bed_test ("/life/withdraw", NULL, test_withdraw);
  bed_test ("/life/expire", NULL, test_expire);
  bed_test ("/life/waiter-gives-up", NULL, test_waiter_gives_up);
  bed_test ("/life/refused-has-successor", NULL, test_refused_has_successor);
  bed_test ("/life/denied-has-no-successor", NULL, test_denied_has_no_successor);
  bed_test ("/life/changed-at-answer", NULL, test_changed_at_answer);
  bed_test ("/life/seal-void-at-answer", NULL, test_seal_void_at_answer);
  bed_test ("/life/refused-without-successor", NULL, test_refused_without_successor);
  bed_test ("/life/allow", NULL, test_allow);
  bed_test ("/life/attempts", NULL, test_attempts);
  bed_test ("/life/executor-away", NULL, test_executor_away);
  bed_test ("/life/answers-in-turn", NULL, test_answers_in_turn);
  return g_test_run ();
}
