/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rule files: every load error of undersign-policy(5) at its line. */
#include "tests/policy/set.h"

#include <string.h>

#define MAIL "[Rule a]\nAgents=offboarding\nActions=mail.send\n"
#define NOTE "[Rule a]\nAgents=offboarding\nActions=note.write\n"
#define LIST "[Rule a]\nAgents=offboarding\nActions=account.list\n"
#define SUSPEND "[Rule a]\nAgents=offboarding\nActions=account.suspend\n"
#define ASK "Decision=ask\nApprovers=@hr\nPasskeys=phone\n"
#define ALLOW "Decision=allow\nLimit=5/1d all-agents\n"

/* The heads end with line 3, ASK then with line 6, ALLOW with line 5. */
static const struct
{
  const char *text;
  guint line;
  const char *says;
} refused[] = {
  { "# nothing\n", 0, "lacks a section [Rule NAME]" },
  { "[Rule a]\nActions=mail.send\nDecision=deny\n", 1, "lacks Agents=" },
  { "[Rule a]\nAgents=other\nDecision=deny\n", 1, "lacks Actions=" },
  { "[Rule a]\nAgents=other\nActions=mail.send\n", 1, "lacks Decision=" },
  { MAIL "Decision=deny\n" MAIL "Decision=deny\n", 5, "[Rule a] stands twice" },
  { MAIL "Decision=ask\nDecision=allow\n", 5, "Decision= stands twice" },
  { MAIL "Decision=permit\n", 4, "Decision= is deny, ask or allow" },
  { MAIL "Decision=Deny\n", 4, "Decision= is deny, ask or allow" },
  { "[Rule A]\nAgents=other\nActions=mail.send\nDecision=deny\n", 1, "'A' is not a name" },
  { MAIL ASK "Colour=red\n", 7, "Colour= is not a key of [Rule]" },
  /* who and what */
  { "[Rule a]\nAgents=ghost\nActions=mail.send\nDecision=deny\n", 2, "there is no 'ghost'" },
  { "[Rule a]\nAgents=agent-other\nActions=mail.send\nDecision=deny\n", 2, "there is no" },
  { "[Rule a]\nAgents=oth*\nActions=mail.send\nDecision=deny\n", 2, "there is no 'oth*'" },
  { "[Rule a]\nAgents=* other\nActions=mail.send\nDecision=deny\n", 2, "* stands alone" },
  { "[Rule a]\nAgents=other\nActions=mail.sen\nDecision=deny\n", 3, "there is no 'mail.sen'" },
  { "[Rule a]\nAgents=other\nActions=mail*\nDecision=deny\n", 3, "there is no 'mail*'" },
  { "[Rule a]\nAgents=other\nActions=post.*\nDecision=deny\n", 3, "begins with post." },
  { "[Rule a]\nAgents=other\nActions=*.send\nDecision=deny\n", 3, "there is no '*.send'" },
  { "[Rule a]\nAgents=other\nActions=*.*\nDecision=deny\n", 3, "'*.*' is no pattern" },
  { "[Rule a]\nAgents=other\nActions=.*\nDecision=deny\n", 3, "'.*' is no pattern" },
  { "[Rule a]\nAgents=other\nActions=* mail.send\nDecision=deny\n", 3, "* stands alone" },
  { "[Rule a]\nAgents=other\nActions=*\n" ASK, 3, "* stands alone, and in a deny rule" },
  { "[Rule a]\nAgents=*\nActions=account.list\nDecision=allow\n", 2, "an allow rule names" },
  { "[Rule a]\nAgents=other\nActions=*\nDecision=allow\n", 3, "an allow rule names its actions" },
  { "[Rule a]\nAgents=other\nActions=account.*\n" ALLOW, 3, "an allow rule names its actions" },
  { MAIL ASK "Parts=main ghost\n", 7, "no agent of this rule has a part 'ghost'" },
  { LIST "Decision=allow\nLimit=5/1d\nParts=main\n", 6, "an allow rule cannot go by part" },
  /* allow */
  { MAIL ALLOW, 4, "mail.send is irreversible" },
  { NOTE "Decision=allow\n", 4, "allow needs a Limit=N/PERIOD all-agents" },
  { NOTE "Decision=allow\nLimit=5/1d\n", 4, "allow needs a Limit=N/PERIOD all-agents" },
  { NOTE "Decision=allow\nLimit=5/1d per text all-agents\n", 4, "allow needs a Limit=" },
  { LIST "Decision=allow\n", 4, "account.list: allow needs a Limit=N/PERIOD without per" },
  { "[Rule a]\nAgents=other\nActions=account.list mail.send\n" ALLOW, 4, "irreversible" },
  { NOTE ALLOW "Approvers=@hr\n", 6, "Approvers= has a meaning in ask rules alone" },
  { NOTE ALLOW "Passkeys=phone\n", 6, "Passkeys= has a meaning in ask rules alone" },
  { NOTE ALLOW "Separation=owner\n", 6, "Separation= has a meaning in ask rules alone" },
  { NOTE ALLOW "Lifetime=1h\n", 6, "Lifetime= has a meaning in ask rules alone" },
  { NOTE ALLOW "Count=1\n", 6, "Count= has a meaning in ask rules alone" },
  { MAIL "Decision=deny\nApprovers=@hr\n", 5, "Approvers= has a meaning in ask rules alone" },
  { MAIL "Decision=deny\nLimit=5/1d\n", 5, "Limit= has no meaning in a deny rule" },
  /* ask */
  { MAIL "Decision=ask\nPasskeys=phone\n", 1, "an ask rule needs Approvers=" },
  { MAIL "Decision=ask\nApprovers=@hr\n", 1,
    "mail.send is irreversible: the rule needs Passkeys=" },
  { MAIL "Decision=ask\nApprovers=@hr\nPasskeys=\n", 6, "Passkeys= has no value" },
  { MAIL "Decision=ask\nApprovers=@hr\nPasskeys=any\n", 6, "Passkeys= is of the words" },
  { MAIL "Decision=ask\nApprovers=\nPasskeys=phone\n", 5, "Approvers= has no value" },
  { MAIL "Decision=ask\nApprovers=*\nPasskeys=phone\n", 5, "'*' is no user" },
  { MAIL "Decision=ask\nApprovers=@\nPasskeys=phone\n", 5, "'@' is no user" },
  { MAIL "Decision=ask\nApprovers=3001\nPasskeys=phone\n", 5, "'3001' is no user" },
  { MAIL "Decision=ask\nApprovers=!alice\nPasskeys=phone\n", 5, "'!alice' is no user" },
  { MAIL "Decision=ask\nApprovers=root\nPasskeys=phone\n", 5, "'root' is root, an agent" },
  { MAIL "Decision=ask\nApprovers=undersign-x\nPasskeys=phone\n", 5, "a user of this service" },
  { MAIL "Decision=ask\nApprovers=agent-other\nPasskeys=phone\n", 5, "'agent-other' is root, an" },
  { MAIL "Decision=ask\nApprovers=fact:\nPasskeys=phone\n", 5, "'fact:' is no user" },
  { MAIL "Decision=ask\nApprovers=fact:manager\nPasskeys=phone\n", 5, "has no fact 'manager'" },
  { SUSPEND "Decision=ask\nApprovers=fact:known\n", 5, "is not of type account" },
  { SUSPEND "Decision=ask\nApprovers=fact:account\n", 5, "has no fact 'account'" },
  { MAIL ASK "Count=0\n", 7, "Count= is a number from 1 to" },
  { MAIL ASK "Count=17\n", 7, "Count= is a number from 1 to" },
  { MAIL "Decision=ask\nApprovers=alice\nPasskeys=phone\nCount=2\n", 7, "more than there are" },
  { MAIL ASK "Separation=agent owners\n", 7, "of the words agent, owner and initiator" },
  { MAIL ASK "Separation=none\n", 7, "of the words agent, owner and initiator" },
  { MAIL ASK "Separation=\n", 7, "Separation= has no value" },
  { MAIL ASK "Lifetime=25h\n", 7, "at most 24h" },
  { MAIL ASK "Lifetime=2d\n", 7, "at most 24h" },
  { MAIL ASK "Lifetime=0s\n", 7, "Lifetime= is a duration" },
  { MAIL ASK "Lifetime=30\n", 7, "Lifetime= is a duration" },
  { MAIL ASK "Lifetime=forever\n", 7, "Lifetime= is a duration" },
  /* not enforced */
  { MAIL ASK "After=mail.send same:to min-age:30d\n", 7, "After= is not enforced by this version" },
  { MAIL ASK "Judges=command\n", 7, "Judges= is not enforced by this version" },
  { NOTE ASK "Limit=sum(amount)<=500 EUR/7d\n", 7, "Limit=sum(...) is not enforced" },
  /* limits */
  { MAIL ASK "Limit=\n", 7, "Limit= has no value" },
  { MAIL ASK "Limit=5\n", 7, "Limit= is N/PERIOD" },
  { MAIL ASK "Limit=0/1d\n", 7, "Limit= is N/PERIOD" },
  { MAIL ASK "Limit=05/1d\n", 7, "Limit= is N/PERIOD" },
  { MAIL ASK "Limit=-5/1d\n", 7, "Limit= is N/PERIOD" },
  { MAIL ASK "Limit=5/day\n", 7, "Limit= is N/PERIOD" },
  { MAIL ASK "Limit=5/367d\n", 7, "PERIOD at most 366d" },
  { MAIL ASK "Limit=5/1d per\n", 7, "Limit= is N/PERIOD" },
  { MAIL ASK "Limit=5/1d all-agents per subject\n", 7, "Limit= is N/PERIOD" },
  { MAIL ASK "Limit=5/1d everyone\n", 7, "Limit= is N/PERIOD" },
  { MAIL ASK "Limit=5/1d per ghost\n", 7, "mail.send has no argument 'ghost'" },
  { MAIL ASK "Limit=5/1d per attachment\n", 7, "per cannot count by 'attachment'" },
  /* when */
  { MAIL ASK "When=to\n", 7, "When= is ARGUMENT" },
  { MAIL ASK "When=to  any x\n", 7, "the operators are" },
  { MAIL ASK "When=to matches x\n", 7, "the operators are" },
  { MAIL ASK "When=to any\n", 7, "1 to 256 patterns" },
  { MAIL ASK "When=to, any x\n", 7, "'' is not the name of an argument" },
  { MAIL ASK "When=To any x\n", 7, "'To' is not the name" },
  { MAIL ASK "When=ghost any x\n", 7, "mail.send has no argument ghost" },
  { MAIL ASK "When=to,ghost any x\n", 7, "mail.send has no argument ghost" },
  { MAIL ASK "When=to any x\nWhen=ghost empty\n", 8, "has no argument ghost" },
  { MAIL ASK "When=to is a@example.com\n", 7,
    "cannot be asked of to, which is of type email-list" },
  { MAIL ASK "When=to <= 5\n", 7, "cannot be asked of to" },
  { MAIL ASK "When=to past\n", 7, "cannot be asked of to" },
  { MAIL ASK "When=to empty now\n", 7, "nothing stands after empty" },
  { MAIL ASK "When=to,cc empty\n", 7, "empty takes one argument" },
  { NOTE ASK "When=text is\n", 7, "a value stands after is" },
  { NOTE ASK "When=amount any 5*\n", 7, "cannot be asked of amount, which is of type money" },
  { NOTE ASK "When=amount <= 5\n", 7, "amount: " },
  { NOTE ASK "When=amount <= 5.0 EUR\n", 7, "canonical spelling is \"5.00 EUR\"" },
  { NOTE ASK "When=amount >= \n", 7, "white space at the end" },
  { NOTE ASK "When=text <= 5\n", 7, "cannot be asked of text" },
  { NOTE ASK "When=text past\n", 7, "cannot be asked of text" },
  { NOTE ASK "When=urgent is true\n", 7, "urgent: it is yes or no" },
  { NOTE ASK "When=urgent empty\n", 7, "cannot be asked of urgent" },
  { NOTE ASK "When=urgent any yes\n", 7, "cannot be asked of urgent" },
  { SUSPEND ASK "When=known is x\n", 7, "has no argument known" },
  { "[Rule a]\nAgents=other\nActions=mail.send note.write\n" ASK "When=to any x\n", 7,
    "note.write has no argument to" },
  { "[Rule a]\nAgents=*\nActions=*\nDecision=deny\nWhen=to any x\n", 5, "has no argument to" },
};

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (Set) set = set_new ();
      g_autofree char *where = set_where ("rules/x.rule", refused[i].line);

      set_put (set, "rules/x.rule", refused[i].text);
      set_assert_fault (set, where, refused[i].says);
    }
}

/* In an allow rule a condition must look at every value; elsewhere the same line is fine. */
static void
test_allow_looks_at_all (void)
{
  static const char *const lines[] = { "When=to any *@example.com\n", "When=to any-not *@x.org\n",
                                       "When=to,cc any *@example.com\n" };
  const char *action = "[Action]\nSummary=S\nEffect=read\n[Executor]\nModule=null\n"
                       "[Argument to]\nLabel=T\nType=email-list\n"
                       "[Argument cc]\nLabel=C\nType=email\n";
  const char *head = "[Rule a]\nAgents=other\nActions=x.y\n";

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autoptr (Set) set = set_new ();
      g_autofree char *allow = g_strconcat (head, "Decision=allow\n", lines[i], "Limit=5/1d\n", NULL);
      g_autofree char *ask = g_strconcat (head, ASK, lines[i], NULL);

      set_put (set, "actions/x.y.action", action);
      set_put (set, "rules/x.rule", allow);
      set_assert_fault (set, "rules/x.rule:5: ", "would let all others through");
      set_put (set, "rules/x.rule", ask);
      policy_free (set_parse (set));
    }
}

/* The agent chooses what it looks for, so that a limit for each value is none. */
static void
test_allow_is_bounded (void)
{
  static const char *const limits[] = { "", "Limit=5/1d per text\n",
                                        "Limit=5/1d per text all-agents\n" };
  const char *head = "[Rule a]\nAgents=other\nActions=x.y\nDecision=allow\n";
  g_autoptr (Set) set = set_new ();
  g_autofree char *bounded = g_strconcat (head, limits[1], "Limit=9/1d\n", NULL);

  set_put (set, "actions/x.y.action",
           "[Action]\nSummary=S\nEffect=read\n[Executor]\nModule=null\n"
           "[Argument text]\nLabel=T\nType=line\n");
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      g_autofree char *rule = g_strconcat (head, limits[i], NULL);

      set_put (set, "rules/x.rule", rule);
      set_assert_fault (set, "rules/x.rule:4: ", "x.y: allow needs a Limit=N/PERIOD without per");
    }
  set_put (set, "rules/x.rule", bounded);
  policy_free (set_parse (set));
}

static void
test_shipped_allow (void)
{
  g_autoptr (Set) set = set_new ();

  set_put_shipped (set, "rules/x.rule", LIST "Decision=allow\nLimit=5/1d\n");
  set_assert_fault (set, "rules/x.rule:4: ", "no allow rule can be shipped");
  set_put_shipped (set, "rules/x.rule", LIST "Decision=deny\n");
  policy_free (set_parse (set));
}

/* What a rule names is masked, or has a fault of its own. */
static void
test_missing (void)
{
  g_autoptr (Set) set = set_new ();
  g_autofree char *faults = NULL;

  set_put (set, "rules/x.rule", MAIL ASK);
  set_put (set, "actions/mail.send.action", "");
  set_assert_fault (
      set, "rules/x.rule:3: ", "Actions=: 'mail.send' is masked by actions/mail.send.action");
  set_put (set, "actions/mail.send.action", "[Action]\n");
  set_put (set, "agents/offboarding.agent", "[Agent\n");
  faults = set_faults (set);
  g_assert_null (strstr (faults, "rules/"));
}

static void
test_all_faults (void)
{
  g_autoptr (Set) set = set_new ();
  g_autofree char *faults = NULL;
  g_auto (GStrv) lines = NULL;

  set_put (set, "rules/x.rule",
           MAIL "Decision=allow\nCount=2\n\n[Rule b]\nAgents=ghost\n"
                "Actions=post.send\nDecision=ask\nLifetime=9d\n");
  set_put (set, "actions/x.y.action", "[Action]\n");
  faults = set_faults (set);
  lines = g_strsplit (faults, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 8);
  g_assert_true (g_str_has_prefix (lines[0], "actions/x.y.action: "));
  g_assert_true (g_str_has_prefix (lines[7], "rules/x.rule:11: "));
}

static void
test_accepted (void)
{
  static const char *const texts[] = {
    MAIL ASK "Limit=5/1d\nLimit=20/30d all-agents\nLimit=1/90s per to\nLifetime=24h\n"
             "Count=2\nSeparation=initiator\nWhen=to any *@a.example b@b.example\nWhen=cc empty\n",
    NOTE ALLOW "When=text all a b\nWhen=amount <= 5.00 EUR\nWhen=urgent is no\nWhen=until past\n",
    LIST "Decision=allow\nLimit=5/1d\n",
    LIST "Decision=allow\nLimit=5/1d all-agents\n",
    SUSPEND "Decision=ask\nApprovers=fact:manager alice\nCount=2\n",
    "[Rule a]\nAgents=*\nActions=*\nDecision=deny\n",
    "[Rule a]\nAgents=*\nActions=account.* mail.send\n" ASK "Parts=licences\n",
    NOTE "Decision=ask\nApprovers=someone.not.here\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (Set) set = set_new ();

      set_put (set, "rules/x.rule", texts[i]);
      policy_free (set_parse (set));
    }
}

static void
test_actions_of (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;
  g_autoptr (GPtrArray) first = NULL, second = NULL;

  set_put (set, "rules/x.rule",
           "[Rule a]\nAgents=offboarding\nActions=mail.send account.*\n" ASK
           "[Rule b]\nAgents=*\nActions=*\nDecision=deny\n"
           "[Rule c]\nAgents=other\nActions=note.write\nDecision=deny\n"
           "[Rule d]\nAgents=*\nActions=account.list\n" ASK);
  policy = set_parse (set);
  first = policy_actions_of (policy, policy_agent_by_name (policy, "offboarding"));
  second = policy_actions_of (policy, policy_agent_by_name (policy, "other"));
  g_assert_cmpuint (first->len, ==, 3);
  g_assert_cmpstr (((PolicyAction *) g_ptr_array_index (first, 0))->id, ==, "account.list");
  g_assert_cmpstr (((PolicyAction *) g_ptr_array_index (first, 1))->id, ==, "account.suspend");
  g_assert_cmpstr (((PolicyAction *) g_ptr_array_index (first, 2))->id, ==, "mail.send");
  g_assert_cmpuint (second->len, ==, 1);
}

static void
assert_foreseen (const Policy *policy, const char *action, gboolean ask, gboolean allow)
{
  gboolean found_ask = !ask;
  gboolean found_allow = !allow;

  policy_foresee (policy, policy_agent_by_name (policy, "other"), policy_action (policy, action),
                  &found_ask, &found_allow);
  g_assert_cmpint (found_ask, ==, ask);
  g_assert_cmpint (found_allow, ==, allow);
}

static void
test_foresee (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;

  set_put (set, "rules/x.rule",
           "[Rule a]\nAgents=other\nActions=mail.send\n" ASK
           "[Rule b]\nAgents=other\nActions=note.write\nWhen=urgent is yes\n" ASK
           "[Rule c]\nAgents=other\nActions=note.write\n" ALLOW
           "[Rule d]\nAgents=other\nActions=account.list\n" ALLOW
           "[Rule e]\nAgents=*\nActions=account.*\nDecision=deny\n");
  policy = set_parse (set);
  assert_foreseen (policy, "mail.send", TRUE, FALSE);
  assert_foreseen (policy, "note.write", TRUE, TRUE);
  assert_foreseen (policy, "account.list", FALSE, TRUE);
  assert_foreseen (policy, "account.suspend", FALSE, FALSE);
}

static void
test_agents (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = set_parse (set);
  g_autoptr (GPtrArray) agents = policy_agents (policy);

  g_assert_cmpuint (agents->len, ==, 2);
  g_assert_cmpstr (((PolicyAgent *) g_ptr_array_index (agents, 0))->name, ==, "offboarding");
  g_assert_cmpstr (((PolicyAgent *) g_ptr_array_index (agents, 1))->name, ==, "other");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/load-rule/refused", test_refused);
  g_test_add_func ("/policy/load-rule/allow-looks-at-all", test_allow_looks_at_all);
  g_test_add_func ("/policy/load-rule/shipped-allow", test_shipped_allow);
  g_test_add_func ("/policy/load-rule/allow-is-bounded", test_allow_is_bounded);
  g_test_add_func ("/policy/load-rule/missing", test_missing);
  g_test_add_func ("/policy/load-rule/all-faults", test_all_faults);
  g_test_add_func ("/policy/load-rule/accepted", test_accepted);
  g_test_add_func ("/policy/load-rule/actions-of", test_actions_of);
  g_test_add_func ("/policy/load-rule/foresee", test_foresee);
  g_test_add_func ("/policy/load-rule/agents", test_agents);
  return g_test_run ();
}
