/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What policy makes of a request: whether its action is there for the agent, what of its record is
 * policy's, and how a denial is told.  The executor goes by it; the broker may refuse by it, word
 * for word as the executor would, and never anything else.
 */
#include "service/policy/load.h"

#include "dbus/error.h"
#include "dbus/reason.h"

const PolicyAction *
policy_action_for (const Policy *policy, const PolicyAgent *agent, const char *id, GError **error)
{
  const PolicyAction *action = policy_action (policy, id);
  gboolean asks = FALSE;
  gboolean allows = FALSE;

  if (action != NULL)
    policy_foresee (policy, agent, action, &asks, &allows);
  if (asks || allows)
    return action;
  us_error_set (error, US_ERROR_UNKNOWN_ACTION, US_REASON_UNKNOWN_ACTION,
                "there is no such action for agent %s", agent->name);
  return NULL;
}

/* Whatever is in the record, this rule matches it, and a person is asked. */
static gboolean
rule_always_asks (const Rule *rule)
{
  return rule->decision == DECISION_ASK && rule->parts == NULL && rule->when->len == 0 &&
         (rule->separation & SEPARATION_INITIATOR) == 0;
}

gboolean
policy_may_deny (const Policy *policy, const PolicyAgent *agent, const PolicyAction *action)
{
  g_autoptr (GPtrArray) rules = rules_of (policy, agent->name, action->id);
  gboolean always_asks = FALSE;

  for (guint i = 0; i < rules->len; i++)
    {
      const Rule *rule = g_ptr_array_index (rules, i);

      if (rule->decision == DECISION_DENY || (rule->separation & SEPARATION_INITIATOR) != 0)
        return TRUE;
      always_asks = always_asks || rule_always_asks (rule);
    }
  return !always_asks;
}

static const char *
effect_name (Effect effect)
{
  switch (effect)
    {
    case EFFECT_READ:
      return "read";
    case EFFECT_REVERSIBLE:
      return "reversible";
    case EFFECT_IRREVERSIBLE:
    default:
      return "irreversible";
    }
}

RecordBuilder *
policy_record_begin (const char *host,
                     const PolicyAgent *agent,
                     const char *part,
                     const PolicyAction *action,
                     const GPtrArray *values)
{
  RecordBuilder *builder = record_builder_new (host);

  g_assert (values->len == action->arguments->len);
  record_builder_agent (builder, agent->name, (guint32) agent->uid, agent->owner, part);
  record_builder_action (builder, action->id, action->summary, effect_name (action->effect));
  record_builder_executor (builder, action->module,
                           action->credential != NULL ? action->credential : "");
  for (guint i = 0; i < values->len; i++)
    {
      const PolicyArgument *argument = g_ptr_array_index (action->arguments, i);

      record_builder_argument (builder, argument->name, argument->label, type_name (argument->type),
                               json_tree_copy (g_ptr_array_index (values, i)));
    }
  for (guint i = 0; i < action->settings->len; i++)
    {
      const PolicySetting *setting = g_ptr_array_index (action->settings, i);

      record_builder_setting (builder, setting->name, setting->label, type_name (setting->type),
                              json_tree_copy (setting->value));
    }
  return builder;
}

static gboolean
refuse (GError **error, const char *reason, const char *action, const char *agent, const char *rule)
{
  return us_error_set (error, US_ERROR_REFUSED, reason, "%s for %s%s%s", action, agent,
                       rule != NULL ? ", by " : "", rule != NULL ? rule : "");
}

/* The rules are looked at as by policy_decide(), which names the first deny rule that matches: after
 * one with a condition nothing is known without the record. */
gboolean
policy_check_denied (const Policy *policy,
                     const PolicyAgent *agent,
                     const char *part,
                     const PolicyAction *action,
                     GError **error)
{
  g_autoptr (GPtrArray) rules = rules_of (policy, agent->name, action->id);

  for (guint i = 0; i < rules->len; i++)
    {
      const Rule *rule = g_ptr_array_index (rules, i);

      if (rule->decision != DECISION_DENY ||
          (rule->parts != NULL && !g_strv_contains ((const char *const *) rule->parts, part)))
        continue;
      return rule->when->len > 0 ||
             refuse (error, US_REASON_DENIED_BY_RULE, action->id, agent->name, rule->id);
    }
  return TRUE;
}

gboolean
policy_decision_check (const PolicyDecision *decision, const Record *record, GError **error)
{
  if ((decision->decision == DECISION_ALLOW && decision->requirements->len == 0) ||
      (decision->decision == DECISION_ASK && decision->requirements->len > 0))
    return TRUE;
  return refuse (error, decision->reason != NULL ? decision->reason : US_REASON_NO_RULE,
                 record_action_id (record), record_agent_name (record), decision->rule);
}
