/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Uids that stand for no person: root, whoever has no uid of their own here, agents, and the users
 * of this service.  None of them may ever approve or be enrolled.
 */
#include "service/policy/load.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/policy/name.h"

#include <string.h>

#define OVERFLOW_UID 65534

gboolean
uid_is_nobody (uid_t uid)
{
  return uid == OVERFLOW_UID || uid == (uid_t) -1;
}

gboolean
identity_holds (const Policy *policy, const char *name, uid_t uid)
{
  g_autofree char *back = NULL;
  uid_t found;

  return name_is_user (name) && policy->names.user_by_name (name, &found) && found == uid &&
         policy->names.user_by_uid (uid, &back) && strcmp (back, name) == 0;
}

gboolean
user_is_agents (const Policy *policy, const char *name, uid_t uid)
{
  return policy_agent_by_uid (policy, uid) != NULL || g_hash_table_contains (policy->users, name);
}

gboolean
policy_uid_is_barred (const Policy *policy, uid_t uid)
{
  g_autofree char *name = NULL;

  if (uid == 0 || uid_is_nobody (uid) || !policy->names.user_by_uid (uid, &name))
    return TRUE;
  return user_is_agents (policy, name, uid) || name_is_service_user (name);
}

gboolean
policy_agent_check (const Policy *policy, const PolicyAgent *agent, GError **error)
{
  if (identity_holds (policy, agent->user, agent->uid) &&
      identity_holds (policy, agent->owner, agent->owner_uid))
    return TRUE;
  return us_error_set (error, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID,
                       "user or owner of agent %s is no longer who it was when the policy was read",
                       agent->name);
}
