/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a person may satisfy a requirement.  It is asked when a request is prepared, when an
 * answer arrives and again when it is used, and it looks everything up each time: who left a group
 * or lost an account in between is no approver any more.
 */
#include "service/policy/load.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/policy/name.h"

#include <string.h>

static gboolean
refuse (GError **error, const char *reason, const PolicyRequirement *requirement, const char *text)
{
  return us_error_set (error, US_ERROR_NOT_APPROVER, reason, "%s: %s", requirement->rule, text);
}

/* Name and uid must be each other's now, not just when the passkey was enrolled. */
static gboolean
check_identity (const Policy *policy,
                const PolicyRequirement *requirement,
                const char *name,
                uid_t uid,
                GError **error)
{
  if (!identity_holds (policy, name, uid))
    return refuse (error, US_REASON_IDENTITY, requirement,
                   "user name and uid are not each other's");
  return TRUE;
}

static gboolean
check_separation (const Policy *policy,
                  const PolicyRequirement *requirement,
                  const Record *record,
                  const char *name,
                  uid_t uid,
                  GError **error)
{
  const PolicyAgent *agent = policy_agent_by_name (policy, record_agent_name (record));
  const char *initiator;
  guint32 initiator_uid;

  if (agent == NULL)
    return refuse (error, US_REASON_NOT_ELIGIBLE, requirement, "the agent is not known any more");
  if ((requirement->separation & SEPARATION_OWNER) &&
      (uid == agent->owner_uid || strcmp (name, agent->owner) == 0 ||
       strcmp (name, record_agent_owner (record)) == 0))
    return refuse (error, US_REASON_NOT_ELIGIBLE, requirement, "the agent's owner may not approve");
  if (requirement->separation & SEPARATION_INITIATOR)
    {
      if (!record_initiator (record, &initiator, &initiator_uid))
        return refuse (error, US_REASON_NO_INITIATOR, requirement,
                       "nobody is known to have opened "
                       "the run");
      if (uid == initiator_uid || strcmp (name, initiator) == 0)
        return refuse (error, US_REASON_NOT_ELIGIBLE, requirement,
                       "who opened the run may not approve");
    }
  return TRUE;
}

static gboolean
fact_names (const Record *record, const char *fact, const char *name)
{
  const char *type = NULL;
  const char *value = json_tree_string (record_fact (record, fact, &type));

  return value != NULL && g_strcmp0 (type, "account") == 0 && strcmp (value, name) == 0;
}

/* Without @record nobody is named by a fact.  Groups come last: they may ask a directory. */
static gboolean
is_listed (const Policy *policy, char **approvers, const Record *record, const char *name)
{
  for (guint i = 0; approvers[i] != NULL; i++)
    {
      if (strcmp (approvers[i], name) == 0)
        return TRUE;
      if (record != NULL && g_str_has_prefix (approvers[i], "fact:") &&
          fact_names (record, approvers[i] + strlen ("fact:"), name))
        return TRUE;
    }
  for (guint i = 0; approvers[i] != NULL; i++)
    if (approvers[i][0] == '@' && policy->names.user_in_group (name, approvers[i] + 1))
      return TRUE;
  return FALSE;
}

gboolean
policy_may_approve (const Policy *policy,
                    const PolicyRequirement *requirement,
                    const Record *record,
                    const char *name,
                    uid_t uid,
                    PasskeyKinds kind,
                    GError **error)
{
  if (uid == 0 || uid_is_nobody (uid) || uid == record_agent_uid (record) ||
      user_is_agents (policy, name, uid) || name_is_service_user (name))
    return refuse (error, US_REASON_AGENT_UID, requirement,
                   "an agent, root or a user of this service may not approve");
  if (!check_identity (policy, requirement, name, uid, error))
    return FALSE;
  if (kind == 0 || (kind & requirement->passkeys) != kind)
    return refuse (error, US_REASON_CREDENTIAL_KIND, requirement,
                   "a passkey of this kind is not accepted");
  if (!check_separation (policy, requirement, record, name, uid, error))
    return FALSE;
  if (!is_listed (policy, requirement->approvers, record, name))
    return refuse (error, US_REASON_NOT_ELIGIBLE, requirement, "not one of its approvers");
  return TRUE;
}

gboolean
policy_may_pause (const Policy *policy, const PolicyAgent *agent, const char *name, uid_t uid)
{
  if (policy_uid_is_barred (policy, uid) || !identity_holds (policy, name, uid))
    return FALSE;
  if (uid == agent->owner_uid && strcmp (name, agent->owner) == 0)
    return TRUE;
  for (guint i = 0; i < policy->rules->len; i++)
    {
      const Rule *rule = g_ptr_array_index (policy->rules, i);

      if (rule->decision == DECISION_ASK && rule_is_about (rule, agent->name) &&
          is_listed (policy, rule->approvers, NULL, name))
        return TRUE;
    }
  return FALSE;
}
