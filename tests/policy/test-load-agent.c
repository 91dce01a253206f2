/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Agent files: who cannot be an agent, an owner or an initiator; then lookup. */
#include "tests/policy/set.h"

#define HEAD "[Agent]\nSummary=S\n"
#define LAUNCH HEAD "User=it.lead\nOwner=hr.jones\n[Launch]\n"

static const struct
{
  const char *text;
  guint line;
  const char *says;
} refused[] = {
  { "", 0, NULL }, /* a mask: no fault */
  { "# nothing\n", 0, "lacks a section [Agent]" },
  { "[Agent]\nUser=alice\nOwner=hr.jones\n", 1, "lacks Summary=" },
  { HEAD "Owner=hr.jones\n", 1, "lacks User=" },
  { HEAD "User=alice\n", 1, "lacks Owner=" },
  { HEAD "User=ghost\nOwner=hr.jones\n", 3, "there is no user 'ghost'" },
  { HEAD "User=2005\nOwner=hr.jones\n", 3, "'2005' is not the name of a user" },
  { HEAD "User=root\nOwner=hr.jones\n", 3, "cannot be root" },
  { HEAD "User=nobody\nOwner=hr.jones\n", 3, "cannot be root, nobody" },
  { HEAD "User=undersign\nOwner=hr.jones\n", 3, "a user of this service" },
  { HEAD "User=undersign-executor\nOwner=hr.jones\n", 3, "a user of this service" },
  { HEAD "User=undersign-mail\nOwner=hr.jones\n", 3, "a user of this service" },
  { HEAD "User=twin\nOwner=hr.jones\n", 3, "is another user's too" },
  { HEAD "User=it.lead\nOwner=it.lead\n", 4, "its owner's own uid" },
  { HEAD "User=it.lead\nOwner=ghost\n", 4, "there is no user 'ghost'" },
  { HEAD "User=it.lead\nOwner=root\n", 4, "the owner is a person" },
  { HEAD "User=it.lead\nOwner=undersign\n", 4, "the owner is a person" },
  { HEAD "User=it.lead\nOwner=agent-other\n", 4, "is the user of agent other" },
  { HEAD "User=it.lead\nOwner=@hr\n", 4, "'@hr' is not the name of a user" },
  { HEAD "User=agent-other\nOwner=alice\n", 3, "uid 2002 is that of agent other" },
  { HEAD "User=it.lead\nOwner=hr.jones\nParts=main Licences\n", 5, "'Licences' is not the name" },
  { HEAD "User=it.lead\nOwner=hr.jones\nParts=main main\n", 5, "stands twice" },
  { HEAD "User=it.lead\nOwner=hr.jones\nParts=\n", 5, "Parts= has no value" },
  { HEAD "User=it.lead\nOwner=hr.jones\nInitiators=ghost\n", 5, "there is no user 'ghost'" },
  { HEAD "User=it.lead\nOwner=hr.jones\nInitiators=@hr\n", 5, "is not the name of a user" },
  { HEAD "User=it.lead\nOwner=hr.jones\nInitiators=it.lead\n", 5, "an initiator is not the agent" },
  { HEAD "User=it.lead\nOwner=hr.jones\nInitiators=undersign\n", 5, "an initiator is not" },
  { HEAD "User=it.lead\nOwner=hr.jones\nInitiators=agent-other\n", 5, "the user of agent other" },
  { HEAD "User=it.lead\nOwner=hr.jones\nDecision=allow\n", 5, "not a key of [Agent]" },
  { HEAD "User=it.lead\nUser=hr.kim\nOwner=hr.jones\n", 4, "User= stands twice" },
  { LAUNCH "MemoryMax=4\n", 6, "MemoryMax= is a number and one of K, M, G and T" },
  { LAUNCH "MemoryMax=G\n", 6, "MemoryMax=" },
  { LAUNCH "MemoryMax=4g\n", 6, "MemoryMax=" },
  { LAUNCH "MemoryMax=4GB\n", 6, "MemoryMax=" },
  { LAUNCH "MemoryMax=04G\n", 6, "MemoryMax=" },
  { LAUNCH "MemoryMax=0G\n", 6, "MemoryMax=" },
  { LAUNCH "MemoryMax=-1G\n", 6, "MemoryMax=" },
  { LAUNCH "MemoryMax=1.5G\n", 6, "MemoryMax=" },
  { LAUNCH "MemoryMax=50%\n", 6, "MemoryMax=" },
  { LAUNCH "MemoryMax=infinity\n", 6, "MemoryMax=" },
  { LAUNCH "MemoryMax=15M\n", 6, "at least 16M" },
  { LAUNCH "MemoryMax=1048577T\n", 6, "MemoryMax=" },
  { LAUNCH "MemoryMax=18446744073709551617T\n", 6, "MemoryMax=" },
  { LAUNCH "MemoryMax=\n", 6, "MemoryMax= has no value" },
  { LAUNCH "MemoryMax=1G\nMemoryMax=2G\n", 7, "MemoryMax= stands twice" },
  { LAUNCH "TasksMax=0\n", 6, "TasksMax= is a number from 1 to" },
  { LAUNCH "TasksMax=4194305\n", 6, "TasksMax= is a number from 1 to" },
  { LAUNCH "TasksMax=infinity\n", 6, "TasksMax= is a number from 1 to" },
  { LAUNCH "CPUWeight=10001\n", 6, "CPUWeight= is a number from 1 to 10000" },
  { LAUNCH "CPUWeight=idle\n", 6, "CPUWeight= is a number from 1 to 10000" },
  { LAUNCH "RuntimeMax=8\n", 6, "RuntimeMax= is a time" },
  { LAUNCH "RuntimeMax=0s\n", 6, "RuntimeMax= is a time" },
  { LAUNCH "RuntimeMax=366d\n", 6, "RuntimeMax= is a time" },
  { LAUNCH "MemoryHigh=1G\n", 6, "not a key of [Launch]" },
  { LAUNCH "TasksMax=9\n[Launch]\n", 7, "[Launch]" },
};

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (Set) set = set_new ();
      g_autofree char *where = set_where ("agents/third.agent", refused[i].line);

      set_put (set, "agents/third.agent", refused[i].text);
      if (refused[i].says != NULL)
        set_assert_fault (set, where, refused[i].says);
      else
        policy_free (set_parse (set));
    }
}

/* The later file is at fault, and names the earlier one. */
static void
test_one_agent_a_uid (void)
{
  g_autoptr (Set) set = set_new ();

  set_put_shipped (set, "agents/zz.agent", HEAD "User=agent-offboarding\nOwner=alice\n");
  set_assert_fault (set, "agents/zz.agent:3: ", "(agents/offboarding.agent)");
}

static void
test_lookup (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = set_parse (set);
  const PolicyAgent *agent = policy_agent_by_uid (policy, 2001);

  g_assert_cmpstr (agent->name, ==, "offboarding");
  g_assert_cmpstr (agent->owner, ==, "hr.jones");
  g_assert_cmpuint (agent->owner_uid, ==, 3001);
  g_assert_true (agent == policy_agent_by_name (policy, "offboarding"));
  g_assert_true (policy_agent_has_part (agent, "licences"));
  g_assert_false (policy_agent_has_part (agent, "licence"));
  g_assert_false (policy_agent_has_part (agent, ""));
  g_assert_cmpstr (agent->initiators[0], ==, "hr.kim");

  agent = policy_agent_by_name (policy, "other");
  g_assert_true (policy_agent_has_part (agent, "main"));
  g_assert_false (policy_agent_has_part (agent, "licences"));
  g_assert_null (agent->initiators[0]);

  g_assert_null (policy_agent_by_uid (policy, 0));
  g_assert_null (policy_agent_by_uid (policy, 3001));
  g_assert_null (policy_agent_by_uid (policy, (uid_t) -1));
  g_assert_null (policy_agent_by_name (policy, "agent-other"));
}

/* What a command may use: what the file says, or what holds where it does not. */
static void
test_launch (void)
{
  static const struct
  {
    const char *text;
    PolicyLaunch launch;
  } cases[] = {
    { HEAD "User=it.lead\nOwner=hr.jones\n", { 0, 2048, 50, 0 } },
    { LAUNCH, { 0, 2048, 50, 0 } },
    { LAUNCH "TasksMax=1\n", { 0, 1, 50, 0 } },
    { LAUNCH "MemoryMax=16M\nCPUWeight=10000\n", { 16 * 1024 * 1024, 2048, 10000, 0 } },
    { LAUNCH "MemoryMax=16384K\nRuntimeMax=365d\n",
      { 16 * 1024 * 1024, 2048, 50, 365 * 24 * 60 * 60 } },
    { LAUNCH "MemoryMax=4G\nTasksMax=4194304\nCPUWeight=1\nRuntimeMax=8h\n",
      { G_GUINT64_CONSTANT (4) << 30, 4194304, 1, 8 * 60 * 60 } },
    { LAUNCH "MemoryMax=1048576T\n", { G_GUINT64_CONSTANT (1) << 60, 2048, 50, 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Set) set = set_new ();
      g_autoptr (Policy) policy = NULL;
      const PolicyLaunch *wanted = &cases[i].launch, *found;

      set_put (set, "agents/third.agent", cases[i].text);
      policy = set_parse (set);
      found = &policy_agent_by_name (policy, "third")->launch;
      g_assert_cmpuint (found->memory_max, ==, wanted->memory_max);
      g_assert_cmpuint (found->tasks_max, ==, wanted->tasks_max);
      g_assert_cmpuint (found->cpu_weight, ==, wanted->cpu_weight);
      g_assert_cmpuint (found->runtime_max, ==, wanted->runtime_max);
    }
}

static void
test_masked (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;

  set_put (set, "agents/other.agent", "");
  policy = set_parse (set);
  g_assert_null (policy_agent_by_uid (policy, 2002));
}

/* Names of users that were looked up, and names of uids. */
static GHashTable *looked_up;

static void
look_up_once (char *what)
{
  if (!g_hash_table_add (looked_up, what))
    g_error ("%s was looked up twice", what);
}

static gboolean
user_by_name_once (const char *name, uid_t *out_uid)
{
  look_up_once (g_strdup (name));
  return set_names.user_by_name (name, out_uid);
}

static gboolean
user_by_uid_once (uid_t uid, char **out_name)
{
  look_up_once (g_strdup_printf ("uid %u", (guint) uid));
  return set_names.user_by_uid (uid, out_name);
}

/* A directory may be slow; every policy is read anew, so that nothing of this is older than it. */
static void
test_each_user_once (void)
{
  const PolicyNames names = { user_by_name_once, user_by_uid_once, set_names.user_in_group };
  g_autoptr (Set) set = set_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) image = NULL;

  set_put (set, "agents/other.agent", HEAD "User=agent-other\nOwner=hr.jones\nInitiators=hr.kim\n");
  image = set_image (set);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (Policy) policy = NULL;

      looked_up = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      policy = policy_parse (image, &names, &error);
      g_assert_no_error (error);
      /* two agents, their owner, their initiator: by name and by uid */
      g_assert_cmpuint (g_hash_table_size (looked_up), ==, 2 * 4);
      g_hash_table_unref (looked_up);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/load-agent/refused", test_refused);
  g_test_add_func ("/policy/load-agent/one-agent-a-uid", test_one_agent_a_uid);
  g_test_add_func ("/policy/load-agent/lookup", test_lookup);
  g_test_add_func ("/policy/load-agent/launch", test_launch);
  g_test_add_func ("/policy/load-agent/masked", test_masked);
  g_test_add_func ("/policy/load-agent/each-user-once", test_each_user_once);
  return g_test_run ();
}
