/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rules as a lookup finds them: by agent and action.  A rule that names both is found by one hash
 * of the pair, one with a pattern through its agent, so that other agents' rules cost nothing.
 */
#include "service/policy/load.h"

#include <string.h>

static const char any_agent[] = "*";

void
rule_free (Rule *rule)
{
  if (rule == NULL)
    return;
  g_free (rule->id);
  g_strfreev (rule->agents);
  g_strfreev (rule->actions);
  g_strfreev (rule->parts);
  g_strfreev (rule->approvers);
  g_ptr_array_unref (rule->when);
  g_ptr_array_unref (rule->limits);
  g_free (rule);
}

gboolean
is_action_pattern (const char *word)
{
  return strcmp (word, "*") == 0 || g_str_has_suffix (word, ".*");
}

gboolean
action_pattern_matches (const char *pattern, const char *action)
{
  gsize len = strlen (pattern);

  if (strcmp (pattern, "*") == 0)
    return TRUE;
  if (!is_action_pattern (pattern))
    return strcmp (pattern, action) == 0;
  /* with its full stop: "mail.*" is not for mailbox.delete */
  return strncmp (pattern, action, len - 1) == 0;
}

gboolean
rule_is_about (const Rule *rule, const char *agent)
{
  return strcmp (rule->agents[0], any_agent) == 0 ||
         g_strv_contains ((const char *const *) rule->agents, agent);
}

static char *
pair_key (const char *agent, const char *action)
{
  return g_strconcat (agent, " ", action, NULL);
}

/* add_to: once, though a rule may name several patterns. */
static void
add_to (GHashTable *table, char *key, Rule *rule)
{
  GPtrArray *rules = g_hash_table_lookup (table, key);

  if (rules == NULL)
    {
      rules = g_ptr_array_new ();
      g_hash_table_insert (table, g_strdup (key), rules);
    }
  if (rules->len == 0 || g_ptr_array_index (rules, rules->len - 1) != rule)
    g_ptr_array_add (rules, rule);
}

void
rule_index (Policy *policy, Rule *rule)
{
  for (guint i = 0; rule->agents[i] != NULL; i++)
    for (guint j = 0; rule->actions[j] != NULL; j++)
      {
        g_autofree char *pair = pair_key (rule->agents[i], rule->actions[j]);

        if (is_action_pattern (rule->actions[j]))
          add_to (policy->patterns, rule->agents[i], rule);
        else
          add_to (policy->exact, pair, rule);
      }
}

static gboolean
names_action (const Rule *rule, const char *action)
{
  for (guint i = 0; rule->actions[i] != NULL; i++)
    if (action_pattern_matches (rule->actions[i], action))
      return TRUE;
  return FALSE;
}

static int
compare_rules (gconstpointer a, gconstpointer b)
{
  const Rule *left = *(const Rule *const *) a;
  const Rule *right = *(const Rule *const *) b;

  return left->order < right->order ? -1 : left->order > right->order;
}

/* A rule may name an action both as it is and by a pattern. */
static void
drop_repeats (GPtrArray *rules)
{
  guint kept = 0;

  for (guint i = 0; i < rules->len; i++)
    if (kept == 0 || rules->pdata[kept - 1] != rules->pdata[i])
      rules->pdata[kept++] = rules->pdata[i];
  g_ptr_array_set_size (rules, (int) kept);
}

GPtrArray *
rules_of (const Policy *policy, const char *agent, const char *action)
{
  const char *const agents[] = { agent, any_agent };
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (agents); i++)
    {
      g_autofree char *pair = pair_key (agents[i], action);
      const GPtrArray *exact = g_hash_table_lookup (policy->exact, pair);
      const GPtrArray *patterns = g_hash_table_lookup (policy->patterns, agents[i]);

      for (guint j = 0; exact != NULL && j < exact->len; j++)
        g_ptr_array_add (found, g_ptr_array_index (exact, j));
      for (guint j = 0; patterns != NULL && j < patterns->len; j++)
        if (names_action (g_ptr_array_index (patterns, j), action))
          g_ptr_array_add (found, g_ptr_array_index (patterns, j));
    }
  g_ptr_array_sort (found, compare_rules);
  drop_repeats (found);
  return found;
}

void
policy_foresee (const Policy *policy,
                const PolicyAgent *agent,
                const PolicyAction *action,
                gboolean *out_ask,
                gboolean *out_allow)
{
  g_autoptr (GPtrArray) rules = rules_of (policy, agent->name, action->id);

  *out_ask = FALSE;
  *out_allow = FALSE;
  for (guint i = 0; i < rules->len; i++)
    {
      const Rule *rule = g_ptr_array_index (rules, i);

      *out_ask |= rule->decision == DECISION_ASK;
      *out_allow |= rule->decision == DECISION_ALLOW;
    }
}

GPtrArray *
policy_actions_of (const Policy *policy, const PolicyAgent *agent)
{
  GPtrArray *found = g_ptr_array_new ();
  g_autoptr (GList) ids = g_list_sort (g_hash_table_get_keys (policy->actions),
                                       (GCompareFunc) (void (*) (void)) strcmp);

  for (const GList *id = ids; id != NULL; id = id->next)
    {
      const PolicyAction *action = policy_action (policy, id->data);
      gboolean asks = FALSE;
      gboolean allows = FALSE;

      policy_foresee (policy, agent, action, &asks, &allows);
      if (asks || allows)
        g_ptr_array_add (found, (gpointer) action);
    }
  return found;
}
