/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who may satisfy a requirement.  Refusals first: each row differs from an accepted one in one
 * thing. */
#include "tests/policy/set.h"

#include "dbus/error.h"

#define SUSPEND "[('account', <'j.smith'>)]"

static const struct
{
  const char *approvers;
  Separation separation;
  const char *initiator;
  const char *name;
  uid_t uid;
  PasskeyKinds kind;
  const char *reason; /* NULL: may approve */
} rows[] = {
  /* agents, root and our own users, whatever the rule says */
  { "agent-offboarding", 0, NULL, "agent-offboarding", 2001, PASSKEY_PHONE, "agent-uid" },
  { "agent-other", 0, NULL, "agent-other", 2002, PASSKEY_PHONE, "agent-uid" },
  { "@agents", 0, NULL, "agent-other", 2002, PASSKEY_PHONE, "agent-uid" },
  { "root", 0, NULL, "root", 0, PASSKEY_PHONE, "agent-uid" },
  { "alice", 0, NULL, "alice", 0, PASSKEY_PHONE, "agent-uid" },
  { "alice", 0, NULL, "alice", 2001, PASSKEY_PHONE, "agent-uid" },
  { "undersign", 0, NULL, "undersign", 901, PASSKEY_PHONE, "agent-uid" },
  { "undersign-mail", 0, NULL, "undersign-mail", 903, PASSKEY_PHONE, "agent-uid" },
  { "nobody", 0, NULL, "nobody", 65534, PASSKEY_PHONE, "agent-uid" },
  { "alice", 0, NULL, "alice", (uid_t) -1, PASSKEY_PHONE, "agent-uid" },
  /* name and uid */
  { "alice", 0, NULL, "alice", 3001, PASSKEY_PHONE, "identity" },
  { "alice", 0, NULL, "ghost", 3004, PASSKEY_PHONE, "identity" },
  { "twin", 0, NULL, "twin", 3004, PASSKEY_PHONE, "identity" },
  { "ghost", 0, NULL, "ghost", 4004, PASSKEY_PHONE, "identity" },
  { "@hr", 0, NULL, "@hr", 3001, PASSKEY_PHONE, "identity" },
  { "alice", 0, NULL, "", 3004, PASSKEY_PHONE, "identity" },
  /* the passkey's kind */
  { "alice", 0, NULL, "alice", 3004, PASSKEY_SOFTWARE, "credential-kind" },
  { "alice", 0, NULL, "alice", 3004, PASSKEY_HARDWARE, "credential-kind" },
  { "alice", 0, NULL, "alice", 3004, 0, "credential-kind" },
  { "alice", 0, NULL, "alice", 3004, PASSKEY_PHONE | PASSKEY_SOFTWARE, "credential-kind" },
  /* separation; hr.jones owns the agent */
  { "hr.jones", SEPARATION_OWNER, NULL, "hr.jones", 3001, PASSKEY_PHONE, "not-eligible" },
  { "@hr", SEPARATION_OWNER, NULL, "hr.jones", 3001, PASSKEY_PHONE, "not-eligible" },
  { "fact:manager", SEPARATION_OWNER, NULL, "hr.jones", 3001, PASSKEY_PHONE, "not-eligible" },
  { "hr.kim", SEPARATION_INITIATOR, "hr.kim", "hr.kim", 3002, PASSKEY_PHONE, "not-eligible" },
  { "@hr", SEPARATION_INITIATOR, "hr.kim", "hr.kim", 3002, PASSKEY_PHONE, "not-eligible" },
  { "@hr", SEPARATION_INITIATOR, NULL, "hr.kim", 3002, PASSKEY_PHONE, "no-initiator" },
  /* not listed; the fact says it.lead */
  { "hr.kim", 0, NULL, "alice", 3004, PASSKEY_PHONE, "not-eligible" },
  { "@hr", 0, NULL, "alice", 3004, PASSKEY_PHONE, "not-eligible" },
  { "@it-lead", 0, NULL, "it.lead", 3003, PASSKEY_PHONE, "not-eligible" },
  { "fact:manager", 0, NULL, "alice", 3004, PASSKEY_PHONE, "not-eligible" },
  { "fact:known", 0, NULL, "alice", 3004, PASSKEY_PHONE, "not-eligible" },
  { "fact:ghost", 0, NULL, "alice", 3004, PASSKEY_PHONE, "not-eligible" },
  { "fact:account", 0, NULL, "alice", 3004, PASSKEY_PHONE, "not-eligible" },
  /* who may */
  { "hr.kim alice", 0, NULL, "alice", 3004, PASSKEY_PHONE, NULL },
  { "@hr", SEPARATION_OWNER, NULL, "hr.kim", 3002, PASSKEY_SYNCED, NULL },
  { "@it-leads @hr", SEPARATION_INITIATOR, "hr.kim", "it.lead", 3003, PASSKEY_PHONE, NULL },
  { "fact:manager", SEPARATION_OWNER | SEPARATION_INITIATOR, "hr.kim", "it.lead", 3003,
    PASSKEY_PHONE, NULL },
  { "hr.jones", SEPARATION_AGENT, NULL, "hr.jones", 3001, PASSKEY_PHONE, NULL },
  { "hr.kim", SEPARATION_OWNER, "hr.kim", "hr.kim", 3002, PASSKEY_PHONE, NULL },
};

static void
test_rows (void)
{
  static const char *const facts[] = { "manager=it.lead", "known=alice", NULL };
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = set_parse (set);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (Record) record = set_record (policy, "offboarding", "main", "account.suspend",
                                              SUSPEND, rows[i].initiator, facts);
      g_auto (GStrv) approvers = g_strsplit (rows[i].approvers, " ", -1);
      PolicyRequirement requirement = { .rule = (char *) "x.rule:a",
                                        .approvers = approvers,
                                        .separation = SEPARATION_AGENT | rows[i].separation,
                                        .passkeys = PASSKEY_PHONE | PASSKEY_SYNCED,
                                        .count = 1 };
      g_autoptr (GError) error = NULL;
      gboolean may = policy_may_approve (policy, &requirement, record, rows[i].name, rows[i].uid,
                                         rows[i].kind, &error);

      if (may != (rows[i].reason == NULL) || (!may && !us_error_has_reason (error, rows[i].reason)))
        g_error ("row %u: got %s, want %s", i, may ? "yes" : error->message, rows[i].reason);
      if (!may)
        g_assert_error (error, US_ERROR, US_ERROR_NOT_APPROVER);
    }
}

/* The fact is absent: nobody is meant, least of all whoever has no name. */
static void
test_no_fact (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = set_parse (set);
  g_autoptr (Record) record =
      set_record (policy, "offboarding", "main", "account.suspend", SUSPEND, NULL, NULL);
  char *approvers[] = { (char *) "fact:manager", NULL };
  PolicyRequirement requirement = {
    .rule = (char *) "x.rule:a", .approvers = approvers, .passkeys = PASSKEY_PHONE, .count = 1
  };
  g_autoptr (GError) error = NULL;

  g_assert_false (
      policy_may_approve (policy, &requirement, record, "alice", 3004, PASSKEY_PHONE, &error));
  g_assert_true (us_error_has_reason (error, "not-eligible"));
  g_clear_error (&error);
  g_assert_false (
      policy_may_approve (policy, &requirement, record, "", 3004, PASSKEY_PHONE, &error));
  g_assert_true (us_error_has_reason (error, "identity"));
}

/* Between request and answer the agent's file changed its owner, or went away. */
static void
test_changed_agent (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = set_parse (set), changed = NULL, without = NULL;
  g_autoptr (Record) record =
      set_record (policy, "offboarding", "main", "account.suspend", SUSPEND, NULL, NULL);
  char *approvers[] = { (char *) "hr.jones", (char *) "hr.kim", NULL };
  PolicyRequirement requirement = { .rule = (char *) "x.rule:a",
                                    .approvers = approvers,
                                    .separation = SEPARATION_AGENT | SEPARATION_OWNER,
                                    .passkeys = PASSKEY_PHONE,
                                    .count = 1 };

  set_put (set, "agents/offboarding.agent",
           "[Agent]\nSummary=S\nUser=agent-offboarding\nOwner=hr.kim\n");
  changed = set_parse (set);
  g_assert_false (
      policy_may_approve (changed, &requirement, record, "hr.kim", 3002, PASSKEY_PHONE, NULL));
  g_assert_false (
      policy_may_approve (changed, &requirement, record, "hr.jones", 3001, PASSKEY_PHONE, NULL));
  set_put (set, "agents/offboarding.agent", "");
  without = set_parse (set);
  g_assert_false (
      policy_may_approve (without, &requirement, record, "hr.kim", 3002, PASSKEY_PHONE, NULL));
  g_assert_true (
      policy_may_approve (policy, &requirement, record, "hr.kim", 3002, PASSKEY_PHONE, NULL));
}

/* Who has nothing to do with an agent does not stop it. */
static void
test_pause (void)
{
  static const struct
  {
    const char *rule, *name;
    uid_t uid;
    gboolean may;
  } cases[] = {
#define RULE "[Rule a]\nAgents=offboarding\nActions=account.suspend\n"
#define ASK_OF(approvers) "Decision=ask\nApprovers=" approvers "\n"
    { RULE ASK_OF ("it.lead"), "alice", 3004, FALSE },
    { RULE ASK_OF ("@hr"), "alice", 3004, FALSE },
    { RULE ASK_OF ("fact:manager"), "it.lead", 3003, FALSE },
    { "[Rule a]\nAgents=other\nActions=account.suspend\n" ASK_OF ("it.lead"), "it.lead", 3003,
      FALSE },
    { "[Rule a]\nAgents=*\nActions=*\nDecision=deny\n", "alice", 3004, FALSE },
    /* name and uid, and whom no rule can make an approver */
    { RULE ASK_OF ("alice"), "alice", 3003, FALSE },
    { RULE ASK_OF ("alice"), "it.lead", 3004, FALSE },
    { RULE ASK_OF ("twin"), "twin", 3004, FALSE },
    { RULE ASK_OF ("@agents"), "agent-other", 2002, FALSE },
    { RULE ASK_OF ("@root"), "root", 0, FALSE },
    { RULE ASK_OF ("alice"), "hr.jones", 3002, FALSE },
    /* who may */
    { RULE ASK_OF ("it.lead"), "it.lead", 3003, TRUE },
    { RULE ASK_OF ("alice @hr"), "hr.kim", 3002, TRUE },
    { "[Rule a]\nAgents=*\nActions=account.suspend\n" ASK_OF ("it.lead"), "it.lead", 3003, TRUE },
    { RULE ASK_OF ("it.lead"), "hr.jones", 3001, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Set) set = set_new ();
      g_autoptr (Policy) policy = NULL;

      set_put (set, "rules/x.rule", cases[i].rule);
      policy = set_parse (set);
      if (policy_may_pause (policy, policy_agent_by_name (policy, "offboarding"), cases[i].name,
                            cases[i].uid) != cases[i].may)
        g_error ("row %u", i);
    }
}

static void
test_barred (void)
{
  static const struct
  {
    uid_t uid;
    gboolean barred;
  } uids[] = {
    { 0, TRUE },    { (uid_t) -1, TRUE }, { 65534, TRUE }, { 901, TRUE },   { 903, TRUE },
    { 2001, TRUE }, { 2002, TRUE },       { 4004, TRUE },  { 3001, FALSE }, { 3004, FALSE },
  };
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = set_parse (set);

  for (guint i = 0; i < G_N_ELEMENTS (uids); i++)
    if (policy_uid_is_barred (policy, uids[i].uid) != uids[i].barred)
      g_error ("uid %u", (guint) uids[i].uid);
}

static void
test_kinds (void)
{
  static const char *const words[] = { "hardware", "unattested", "synced", "phone", "software" };
  PasskeyKinds kind = 0, all = 0;

  g_assert_false (passkey_kind_parse ("Hardware", &kind));
  g_assert_false (passkey_kind_parse ("", &kind));
  g_assert_false (passkey_kind_parse ("any", &kind));
  g_assert_cmpint (kind, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      g_assert_true (passkey_kind_parse (words[i], &kind));
      g_assert_cmpstr (passkey_kind_name (kind), ==, words[i]);
      g_assert_false (all & kind);
      all |= kind;
    }
  g_assert_cmpint (all & ~PASSKEY_SOFTWARE, ==, PASSKEY_KINDS_DEFAULT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/approve/rows", test_rows);
  g_test_add_func ("/policy/approve/no-fact", test_no_fact);
  g_test_add_func ("/policy/approve/changed-agent", test_changed_agent);
  g_test_add_func ("/policy/approve/barred", test_barred);
  g_test_add_func ("/policy/approve/pause", test_pause);
  g_test_add_func ("/policy/approve/kinds", test_kinds);
  return g_test_run ();
}
