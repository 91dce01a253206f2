/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decision on a record.  It starts as a denial and becomes anything else only by a rule that
 * matches; a rule whose conditions cannot be evaluated matches where it restricts and nowhere else.
 */
#include "service/policy/load-rule.h"

#include "dbus/reason.h"
#include "service/base/clock.h"

#include <string.h>

static void
requirement_free (gpointer data)
{
  PolicyRequirement *requirement = data;

  g_free (requirement->rule);
  g_strfreev (requirement->approvers);
  g_free (requirement);
}

void
policy_decision_free (PolicyDecision *decision)
{
  if (decision == NULL)
    return;
  g_free (decision->reason);
  g_free (decision->rule);
  g_ptr_array_unref (decision->requirements);
  g_ptr_array_unref (decision->limits);
  g_free (decision);
}

static PolicyDecision *
decision_new (void)
{
  PolicyDecision *decision = g_new0 (PolicyDecision, 1);

  decision->decision = DECISION_DENY;
  decision->requirements = g_ptr_array_new_with_free_func (requirement_free);
  decision->limits = g_ptr_array_new_with_free_func ((GDestroyNotify) policy_limit_free);
  decision->lifetime = POLICY_LIFETIME_DEFAULT;
  return decision;
}

/* deny: @decision, now a denial whatever it was; @rule: (nullable) */
static PolicyDecision *
deny (PolicyDecision *decision, const char *reason, const Rule *rule)
{
  decision->decision = DECISION_DENY;
  decision->reason = g_strdup (reason);
  decision->rule = rule != NULL ? g_strdup (rule->id) : NULL;
  g_ptr_array_set_size (decision->requirements, 0);
  g_ptr_array_set_size (decision->limits, 0);
  return decision;
}

static gboolean
rule_matches (const Rule *rule, const Record *record, gint64 now)
{
  gboolean restricts = rule->decision == DECISION_DENY || rule->decision == DECISION_ASK;

  if (rule->parts != NULL &&
      !g_strv_contains ((const char *const *) rule->parts, record_agent_part (record)))
    return FALSE;
  for (guint i = 0; i < rule->when->len; i++)
    switch (when_evaluate (g_ptr_array_index (rule->when, i), record, now))
      {
      case WHEN_TRUE:
        break;
      case WHEN_UNKNOWN:
        if (!restricts)
          return FALSE;
        break;
      case WHEN_FALSE:
        return FALSE;
      default:
        return restricts;
      }
  return TRUE;
}

static void
add_requirement (PolicyDecision *decision, const Rule *rule)
{
  PolicyRequirement *requirement = g_new0 (PolicyRequirement, 1);

  requirement->rule = g_strdup (rule->id);
  requirement->approvers = g_strdupv (rule->approvers);
  requirement->separation = rule->separation;
  requirement->passkeys = rule->passkeys;
  requirement->count = rule->count;
  if (decision->requirements->len == 0 || rule->lifetime < decision->lifetime)
    decision->lifetime = rule->lifetime;
  g_ptr_array_add (decision->requirements, requirement);
}

static void
add_limits (PolicyDecision *decision, const Rule *rule)
{
  for (guint i = 0; i < rule->limits->len; i++)
    g_ptr_array_add (decision->limits, policy_limit_copy (g_ptr_array_index (rule->limits, i)));
}

/* Ask rules are each a requirement; with none of them, one allow rule is enough. */
static PolicyDecision *
combine (PolicyDecision *decision, const GPtrArray *matching, const Record *record)
{
  const char *initiator;
  guint32 initiator_uid;
  gboolean initiated = record_initiator (record, &initiator, &initiator_uid);
  gboolean allowed = FALSE;

  for (guint i = 0; i < matching->len; i++)
    {
      const Rule *rule = g_ptr_array_index (matching, i);

      if (rule->decision == DECISION_DENY)
        return deny (decision, US_REASON_DENIED_BY_RULE, rule);
    }
  for (guint i = 0; i < matching->len; i++)
    {
      const Rule *rule = g_ptr_array_index (matching, i);

      if (rule->decision == DECISION_ASK)
        {
          if ((rule->separation & SEPARATION_INITIATOR) && !initiated)
            return deny (decision, US_REASON_NO_INITIATOR, rule);
          add_requirement (decision, rule);
        }
      allowed = allowed || rule->decision == DECISION_ALLOW;
      add_limits (decision, rule);
    }
  if (decision->requirements->len > 0)
    decision->decision = DECISION_ASK;
  else if (allowed)
    decision->decision = DECISION_ALLOW;
  else
    return deny (decision, US_REASON_NO_RULE, NULL);
  return decision;
}

PolicyDecision *
policy_decide (const Policy *policy, const Record *record)
{
  const PolicyAgent *agent = policy_agent_by_name (policy, record_agent_name (record));
  const PolicyAction *action = policy_action (policy, record_action_id (record));
  g_autoptr (GPtrArray) rules = NULL;
  g_autoptr (GPtrArray) matching = g_ptr_array_new ();
  PolicyDecision *decision = decision_new ();
  gint64 now = clock_wall ();

  if (agent == NULL || agent->uid != record_agent_uid (record))
    return deny (decision, US_REASON_NOT_AGENT, NULL);
  if (action == NULL)
    return deny (decision, US_REASON_UNKNOWN_ACTION, NULL);
  if (!policy_agent_has_part (agent, record_agent_part (record)))
    return deny (decision, US_REASON_UNKNOWN_PART, NULL);

  rules = rules_of (policy, agent->name, action->id);
  for (guint i = 0; i < rules->len; i++)
    if (rule_matches (g_ptr_array_index (rules, i), record, now))
      g_ptr_array_add (matching, g_ptr_array_index (rules, i));
  return combine (decision, matching, record);
}
