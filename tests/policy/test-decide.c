/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decision: denials first, then how rules combine.  Each row is one file of rules, one record
 * and what must come out.
 */
#include "tests/policy/set.h"

#include "dbus/reason.h"

#include <string.h>
#include <time.h>

#define R(name, actions, rest) "[Rule " name "]\nAgents=offboarding\nActions=" actions "\n" rest
#define ASK "Decision=ask\nApprovers=@hr\nPasskeys=phone\n"
#define ALLOW "Decision=allow\nLimit=5/1d all-agents\n"
#define DENY "Decision=deny\n"
#define TO_A "[('to', <['x@a.com']>), ('subject', <'s'>)]"
#define TO_AB "[('to', <['x@a.com', 'x@b.com']>), ('subject', <'s'>)]"
#define NOTE "[('text', <'hello'>)]"

static const struct
{
  const char *rules;
  const char *action, *arguments;
  Decision decision;
  const char *reason; /* of a denial */
  const char *rule;   /* of a denial: "x.rule:NAME" */
  guint requirements;
} rows[] = {
  /* nothing matches */
  { NULL, "mail.send", TO_A, DECISION_DENY, "no-rule", NULL, 0 },
  { R ("a", "note.write", ASK), "mail.send", TO_A, DECISION_DENY, "no-rule", NULL, 0 },
  { "[Rule a]\nAgents=other\nActions=mail.send\n" ASK, "mail.send", TO_A, DECISION_DENY, "no-rule",
    NULL, 0 },
  { R ("a", "mail.send", ASK "When=to any *@b.com\n"), "mail.send", TO_A, DECISION_DENY, "no-rule",
    NULL, 0 },
  { R ("a", "mail.send", ASK "When=to any *@a.com\nWhen=cc not-empty\n"), "mail.send", TO_A,
    DECISION_DENY, "no-rule", NULL, 0 },
  { R ("a", "mail.send", ASK "Parts=licences\n"), "mail.send", TO_A, DECISION_DENY, "no-rule", NULL,
    0 },
  { R ("a", "note.write", ALLOW "When=text all x*\n"), "note.write", NOTE, DECISION_DENY, "no-rule",
    NULL, 0 },
  /* deny beats ask beats allow, in any order */
  { R ("a", "mail.send", ASK) R ("b", "mail.send", DENY), "mail.send", TO_A, DECISION_DENY,
    "denied-by-rule", "x.rule:b", 0 },
  { R ("a", "note.write", DENY) R ("b", "note.write", ALLOW), "note.write", NOTE, DECISION_DENY,
    "denied-by-rule", "x.rule:a", 0 },
  { R ("a", "note.write", ALLOW) R ("b", "note.write", DENY), "note.write", NOTE, DECISION_DENY,
    "denied-by-rule", "x.rule:b", 0 },
  { R ("a", "mail.send", ASK) "[Rule b]\nAgents=*\nActions=*\n" DENY, "mail.send", TO_A,
    DECISION_DENY, "denied-by-rule", "x.rule:b", 0 },
  { R ("a", "mail.send", ASK) "[Rule b]\nAgents=*\nActions=mail.*\n" DENY, "mail.send", TO_A,
    DECISION_DENY, "denied-by-rule", "x.rule:b", 0 },
  { R ("a", "mail.send", ASK) R ("b", "mail.send", DENY "When=to any *@b.com\n"), "mail.send",
    TO_AB, DECISION_DENY, "denied-by-rule", "x.rule:b", 0 },
  { R ("a", "mail.send", ASK) R ("b", "mail.send", DENY "Parts=main\n"), "mail.send", TO_A,
    DECISION_DENY, "denied-by-rule", "x.rule:b", 0 },
  /* one that does not match denies nothing, and does not hide one that does */
  { R ("a", "mail.send", ASK) R ("b", "mail.send", DENY "When=to any *@c.com\n"), "mail.send", TO_A,
    DECISION_ASK, NULL, NULL, 1 },
  { R ("a", "mail.send", ASK) R ("b", "mail.send", DENY "Parts=licences\n"), "mail.send", TO_A,
    DECISION_ASK, NULL, NULL, 1 },
  { R ("a", "mail.send", DENY "When=to any *@c.com\n") R ("b", "mail.send", DENY), "mail.send",
    TO_A, DECISION_DENY, "denied-by-rule", "x.rule:b", 0 },
  { R ("a", "mail.send", DENY "Parts=licences\n") R ("b", "mail.send", DENY), "mail.send", TO_A,
    DECISION_DENY, "denied-by-rule", "x.rule:b", 0 },
  { R ("a", "note.write", ALLOW) R ("b", "note.write", ASK), "note.write", NOTE, DECISION_ASK, NULL,
    NULL, 1 },
  { R ("a", "note.write", ASK) R ("b", "note.write", ALLOW), "note.write", NOTE, DECISION_ASK, NULL,
    NULL, 1 },
  /* what cannot be evaluated restricts */
  { R ("a", "note.write", ALLOW) R ("b", "note.write", DENY "When=amount <= 5.00 EUR\n"),
    "note.write", NOTE, DECISION_DENY, "denied-by-rule", "x.rule:b", 0 },
  { R ("a", "note.write", ALLOW) R ("b", "note.write", DENY "When=amount >= 5.00 EUR\n"),
    "note.write", "[('text', <'t'>), ('amount', <'1.00 USD'>)]", DECISION_DENY, "denied-by-rule",
    "x.rule:b", 0 },
  { R ("a", "note.write", ALLOW) R ("b", "note.write", ASK "When=until past\n"), "note.write", NOTE,
    DECISION_ASK, NULL, NULL, 1 },
  { R ("a", "note.write", ALLOW "When=amount <= 5.00 EUR\n"), "note.write", NOTE, DECISION_DENY,
    "no-rule", NULL, 0 },
  { R ("a", "note.write", ALLOW "When=amount <= 5.00 EUR\n"), "note.write",
    "[('text', <'t'>), ('amount', <'1.00 USD'>)]", DECISION_DENY, "no-rule", NULL, 0 },
  { R ("a", "mail.send", ASK) R ("b", "mail.send", DENY "When=cc all *@a.com\n"), "mail.send", TO_A,
    DECISION_DENY, "denied-by-rule", "x.rule:b", 0 },
  { R ("a", "mail.send", ASK "When=bcc all *@a.com\n"), "mail.send", TO_A, DECISION_ASK, NULL, NULL,
    1 },
  /* separation */
  { R ("a", "mail.send", ASK "Separation=initiator\n"), "mail.send", TO_A, DECISION_DENY,
    "no-initiator", "x.rule:a", 0 },
  { R ("a", "mail.send", ASK) R ("b", "mail.send", ASK "Separation=agent owner initiator\n"),
    "mail.send", TO_A, DECISION_DENY, "no-initiator", "x.rule:b", 0 },
  /* every matching ask rule is one requirement */
  { R ("a", "mail.send", ASK) R ("b", "mail.send", ASK "When=to any *@b.com\n"), "mail.send", TO_A,
    DECISION_ASK, NULL, NULL, 1 },
  { R ("a", "mail.send", ASK) R ("b", "mail.send", ASK "When=to any *@b.com\n"), "mail.send", TO_AB,
    DECISION_ASK, NULL, NULL, 2 },
  { R ("a", "mail.send mail.*", ASK) "[Rule b]\nAgents=*\nActions=mail.send\n" ASK, "mail.send",
    TO_A, DECISION_ASK, NULL, NULL, 2 },
  { R ("a", "mail.send", ASK "Parts=main\n"), "mail.send", TO_A, DECISION_ASK, NULL, NULL, 1 },
  /* allow */
  { R ("a", "account.list", "Decision=allow\nLimit=5/1d\n"), "account.list", "[]", DECISION_ALLOW,
    NULL, NULL, 0 },
  { R ("a", "note.write", ALLOW "When=text all hel*\nWhen=urgent is no\n"), "note.write", NOTE,
    DECISION_ALLOW, NULL, NULL, 0 },
};

/* What is refused without a record is what would be refused with it, in the same words. */
static gboolean
denied_without_record (const Policy *policy, const Record *record, const PolicyDecision *decision)
{
  g_autoptr (GError) without = NULL;
  g_autoptr (GError) with = NULL;

  if (policy_check_denied (policy, policy_agent_by_name (policy, record_agent_name (record)),
                           record_agent_part (record),
                           policy_action (policy, record_action_id (record)), &without))
    return FALSE;
  g_assert_false (policy_decision_check (decision, record, &with));
  g_assert_cmpstr (without->message, ==, with->message);
  g_assert_cmpint (without->code, ==, with->code);
  return TRUE;
}

static void
test_rows (void)
{
  guint without = 0;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (Set) set = set_new ();
      g_autoptr (Policy) policy = NULL;
      g_autoptr (Record) record = NULL;
      g_autoptr (PolicyDecision) decision = NULL;

      set_put (set, "rules/x.rule", rows[i].rules);
      policy = set_parse (set);
      record =
          set_record (policy, "offboarding", "main", rows[i].action, rows[i].arguments, NULL, NULL);
      decision = policy_decide (policy, record);
      if (decision->decision != rows[i].decision ||
          g_strcmp0 (decision->reason, rows[i].reason) != 0 ||
          g_strcmp0 (decision->rule, rows[i].rule) != 0 ||
          decision->requirements->len != rows[i].requirements)
        g_error ("row %u: got %d %s %s %u", i, (int) decision->decision, decision->reason,
                 decision->rule, decision->requirements->len);
      if (decision->decision == DECISION_DENY)
        g_assert_cmpuint (decision->limits->len, ==, 0);
      without += denied_without_record (policy, record, decision) ? 1 : 0;
    }
  g_assert_cmpuint (without, >=, 6);
}

/* A record that speaks of an agent, a uid, a part or an action that policy does not know. */
static void
test_strangers (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;
  g_autoptr (Record) main_part = NULL, licences = NULL;
  const char *rules = "[Rule a]\nAgents=*\nActions=mail.send\n" ASK;
  const struct
  {
    const char *file, *text;
    const char *reason;
    gboolean of_part; /* the record of part licences */
  } edits[] = {
    { "agents/offboarding.agent", "", US_REASON_NOT_AGENT, FALSE },
    { "agents/offboarding.agent", "[Agent]\nSummary=S\nUser=it.lead\nOwner=hr.jones\n",
      US_REASON_NOT_AGENT, FALSE },
    { "agents/offboarding.agent", "[Agent]\nSummary=S\nUser=agent-offboarding\nOwner=hr.jones\n",
      US_REASON_UNKNOWN_PART, TRUE },
    { "actions/mail.send.action", "", US_REASON_UNKNOWN_ACTION, FALSE },
  };

  set_put (set, "rules/x.rule", rules);
  policy = set_parse (set);
  main_part = set_record (policy, "offboarding", "main", "mail.send", TO_A, NULL, NULL);
  licences = set_record (policy, "offboarding", "licences", "mail.send", TO_A, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (edits); i++)
    {
      g_autoptr (Set) edited = set_new ();
      g_autoptr (Policy) other = NULL;
      g_autoptr (PolicyDecision) decision = NULL;

      set_put (edited, edits[i].file, edits[i].text);
      set_put (edited, "rules/x.rule", g_str_has_prefix (edits[i].file, "actions/") ? NULL : rules);
      other = set_parse (edited);
      decision = policy_decide (other, edits[i].of_part ? licences : main_part);
      g_assert_cmpint (decision->decision, ==, DECISION_DENY);
      g_assert_cmpstr (decision->reason, ==, edits[i].reason);
    }
}

/* Of two ask rules each stays whole: the tighter one never takes the other's place. */
static void
test_requirements (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;
  g_autoptr (Record) record = NULL;
  g_autoptr (PolicyDecision) decision = NULL;
  const PolicyRequirement *requirement;

  set_put (set, "rules/y.rule",
           R ("b", "mail.send",
              "Decision=ask\nApprovers=@it-leads\nPasskeys=hardware\n"
              "Separation=agent\nLifetime=5min\nCount=1\nLimit=2/1h\n"));
  set_put (set, "rules/x.rule",
           R ("a", "mail.send",
              "Decision=ask\nApprovers=@hr alice\nCount=2\n"
              "Passkeys=phone synced\nLifetime=2h\n"
              "Limit=5/1d per subject\nLimit=9/30d all-agents\n"));
  policy = set_parse (set);
  record = set_record (policy, "offboarding", "main", "mail.send", TO_A, "hr.kim", NULL);
  decision = policy_decide (policy, record);
  g_assert_cmpint (decision->decision, ==, DECISION_ASK);
  g_assert_cmpuint (decision->lifetime, ==, 300);
  g_assert_cmpuint (decision->requirements->len, ==, 2);
  g_assert_cmpuint (decision->limits->len, ==, 3);

  requirement = g_ptr_array_index (decision->requirements, 0);
  g_assert_cmpstr (requirement->rule, ==, "x.rule:a");
  g_assert_cmpstr (requirement->approvers[1], ==, "alice");
  g_assert_cmpint (requirement->separation, ==, SEPARATION_AGENT | SEPARATION_OWNER);
  g_assert_cmpint (requirement->passkeys, ==, PASSKEY_PHONE | PASSKEY_SYNCED);
  g_assert_cmpuint (requirement->count, ==, 2);
  requirement = g_ptr_array_index (decision->requirements, 1);
  g_assert_cmpstr (requirement->rule, ==, "y.rule:b");
  g_assert_cmpint (requirement->separation, ==, SEPARATION_AGENT);
  g_assert_cmpint (requirement->passkeys, ==, PASSKEY_HARDWARE);

  g_assert_cmpstr (((PolicyLimit *) g_ptr_array_index (decision->limits, 0))->per, ==, "subject");
  g_assert_true (((PolicyLimit *) g_ptr_array_index (decision->limits, 1))->all_agents);
  g_assert_cmpuint (((PolicyLimit *) g_ptr_array_index (decision->limits, 2))->period, ==, 3600);
}

static void
test_defaults (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;
  g_autoptr (Record) record = NULL;
  g_autoptr (PolicyDecision) decision = NULL;
  const PolicyRequirement *requirement;

  set_put (set, "rules/x.rule", R ("a", "note.write", "Decision=ask\nApprovers=@hr\n"));
  policy = set_parse (set);
  record = set_record (policy, "offboarding", "main", "note.write", NOTE, NULL, NULL);
  decision = policy_decide (policy, record);
  requirement = g_ptr_array_index (decision->requirements, 0);
  g_assert_cmpuint (decision->lifetime, ==, 600);
  g_assert_cmpuint (requirement->count, ==, 1);
  g_assert_cmpint (requirement->separation, ==, SEPARATION_AGENT | SEPARATION_OWNER);
  g_assert_cmpint (requirement->passkeys, ==, PASSKEY_KINDS_DEFAULT);
  g_assert_false (requirement->passkeys & PASSKEY_SOFTWARE);
}

/* The limits of an allow rule that did not match do not apply; those of an ask beside it do. */
static void
test_limits_of_all (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;
  g_autoptr (Record) record = NULL;
  g_autoptr (PolicyDecision) decision = NULL;

  set_put (set, "rules/x.rule",
           R ("a", "note.write", ALLOW) R ("b", "note.write", ASK "Limit=1/1h\n")
               R ("c", "note.write", ALLOW "When=urgent is yes\n"));
  policy = set_parse (set);
  record = set_record (policy, "offboarding", "main", "note.write", NOTE, NULL, NULL);
  decision = policy_decide (policy, record);
  g_assert_cmpint (decision->decision, ==, DECISION_ASK);
  g_assert_cmpuint (decision->limits->len, ==, 2);
}

/* Rules of other agents and actions cost a lookup nothing that could be seen. */
static void
test_many_rules (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;
  g_autoptr (Record) record = NULL;
  g_autoptr (GString) text = NULL;
  clock_t start;

  for (guint i = 0; i < 20; i++)
    {
      g_autofree char *name = g_strdup_printf ("rules/r%u.rule", i);

      text = text != NULL ? g_string_truncate (text, 0) : g_string_new (NULL);
      for (guint j = 0; j < 500; j++)
        g_string_append_printf (text, "[Rule a%u]\nAgents=other\nActions=mail.send\n" ASK, j);
      set_put (set, name, text->str);
    }
  set_put (set, "rules/x.rule", R ("a", "mail.send", ASK));
  policy = set_parse (set);
  record = set_record (policy, "offboarding", "main", "mail.send", TO_A, NULL, NULL);
  start = clock (); /* of the processor: others on this machine cost nothing */
  for (guint i = 0; i < 1000; i++)
    {
      g_autoptr (PolicyDecision) decision = policy_decide (policy, record);

      g_assert_cmpuint (decision->requirements->len, ==, 1);
    }
  g_assert_cmpint (clock () - start, <, 20 * CLOCKS_PER_SEC);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/decide/rows", test_rows);
  g_test_add_func ("/policy/decide/strangers", test_strangers);
  g_test_add_func ("/policy/decide/requirements", test_requirements);
  g_test_add_func ("/policy/decide/defaults", test_defaults);
  g_test_add_func ("/policy/decide/limits-of-all", test_limits_of_all);
  g_test_add_func ("/policy/decide/many-rules", test_many_rules);
  return g_test_run ();
}
