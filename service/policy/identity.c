/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Uids that stand for no person: root, whoever has no uid of their own here, agents, and the users
 * of this service.  None of them may ever approve or be enrolled.
 */
#include "service/policy/load.h"

#include "service/policy/name.h"

#define OVERFLOW_UID 65534

gboolean
uid_is_nobody (uid_t uid)
{
  return uid == OVERFLOW_UID || uid == (uid_t) -1;
}

gboolean
policy_uid_is_barred (const Policy *policy, uid_t uid)
{
  g_autofree char *name = NULL;

  if (uid == 0 || uid_is_nobody (uid) || policy_agent_by_uid (policy, uid) != NULL)
    return TRUE;
  return !policy->names.user_by_uid (uid, &name) || name_is_service_user (name);
}
