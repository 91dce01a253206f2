/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a loaded policy has under a name or uid.  No match is NULL, and never something like it. */
#include "service/policy/load.h"

#include <string.h>

const PolicyAgent *
policy_agent_by_uid (const Policy *policy, uid_t uid)
{
  const AgentEntry *entry = g_hash_table_lookup (policy->uids, GUINT_TO_POINTER (uid));

  return entry != NULL ? &entry->agent : NULL;
}

const PolicyAgent *
policy_agent_by_name (const Policy *policy, const char *name)
{
  const AgentEntry *entry = g_hash_table_lookup (policy->agents, name);

  return entry != NULL ? &entry->agent : NULL;
}

static int
compare_agents (gconstpointer a, gconstpointer b)
{
  const PolicyAgent *left = *(const PolicyAgent *const *) a;
  const PolicyAgent *right = *(const PolicyAgent *const *) b;

  return strcmp (left->name, right->name);
}

GPtrArray *
policy_agents (const Policy *policy)
{
  GPtrArray *agents = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value = NULL;

  g_hash_table_iter_init (&iter, policy->agents);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    g_ptr_array_add (agents, &((AgentEntry *) value)->agent);
  g_ptr_array_sort (agents, compare_agents);
  return agents;
}

const PolicyAction *
policy_action (const Policy *policy, const char *id)
{
  const ActionEntry *entry = g_hash_table_lookup (policy->actions, id);

  return entry != NULL ? &entry->action : NULL;
}

gboolean
policy_agent_has_part (const PolicyAgent *agent, const char *part)
{
  return g_strv_contains ((const char *const *) agent->parts, part);
}

void
policy_count (const Policy *policy, PolicyCounts *out_counts)
{
  out_counts->actions = g_hash_table_size (policy->actions);
  out_counts->agents = g_hash_table_size (policy->agents);
  out_counts->rules = policy->rules->len;
}

const PolicyArgument *
action_argument (const PolicyAction *action, const char *name)
{
  for (guint i = 0; i < action->arguments->len; i++)
    {
      const PolicyArgument *argument = g_ptr_array_index (action->arguments, i);

      if (strcmp (argument->name, name) == 0)
        return argument;
    }
  return NULL;
}
