/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a new agent is made of, for the verbs that make one.  It writes nothing; whether the files are
 * valid is for the reader of policy to say, which is given their very text.
 */
#include "service/ctl/new-agent.h"

#include "service/policy/check.h"
#include "service/policy/name.h"

#include <string.h>

#define USER_PREFIX "agent-"
#define USER_MAX 31 /* of systemd-sysusers(8) */
#define NAME_MAX_AGENT 25

G_STATIC_ASSERT (sizeof USER_PREFIX - 1 + NAME_MAX_AGENT == USER_MAX);

const char *
new_agent_name_fault (const char *name)
{
  if (name_is_plain (name) && strlen (name) <= NAME_MAX_AGENT)
    return NULL;
  return "it is no name of an agent: lower-case letters, digits and hyphens, a letter first, at "
         "most " G_STRINGIFY (NAME_MAX_AGENT);
}

char *
new_agent_user (const char *name)
{
  return g_strconcat (USER_PREFIX, name, NULL);
}

char *
new_agent_sysusers_path (const CtlConfig *config, const char *name)
{
  return g_strdup_printf ("%s/undersign-agent-%s.conf", config->sysusers_dir, name);
}

char *
new_agent_sysusers (const char *name, const char *user, const char *owner)
{
  return g_strdup_printf ("u %s - \"Undersign agent %s of %s\" " NEW_AGENT_HOMES "/%s\n", user, name,
                          owner, name);
}

char *
new_agent_file (const char *name, const char *user, const char *owner)
{
  return g_strdup_printf ("[Agent]\nSummary=The agent %s of %s\nUser=%s\nOwner=%s\n", name, owner,
                          user, owner);
}

char *
new_agent_rule (const char *name,
                const char *actions,
                const char *owner,
                const char *approver,
                const char *passkeys)
{
  return g_strdup_printf ("[Rule first]\nAgents=%s\nActions=%s\nDecision=ask\nApprovers=%s\n"
                          "Separation=%s\nPasskeys=%s\n",
                          name, actions, approver,
                          strcmp (approver, owner) == 0 ? "agent" : "agent owner", passkeys);
}

/* --- the user, before it is made --- */

static const char *planned_user = NULL; /* while policy is held against what will be */
#define PLANNED_UID ((uid_t) 0x7ffffffe)

static gboolean
by_name (const char *name, uid_t *out_uid)
{
  if (g_strcmp0 (name, planned_user) != 0)
    return policy_names_system.user_by_name (name, out_uid);
  *out_uid = PLANNED_UID;
  return TRUE;
}

static gboolean
by_uid (uid_t uid, char **out_name)
{
  if (uid != PLANNED_UID)
    return policy_names_system.user_by_uid (uid, out_name);
  *out_name = g_strdup (planned_user);
  return TRUE;
}

Policy *
new_agent_policy (const CtlConfig *config,
                  const char *user,
                  const PolicyPlanned *planned,
                  GError **error)
{
  const PolicyNames planned_names = { by_name, by_uid, policy_names_system.user_in_group };
  const PolicySource source = { .data_dir = config->data_dir,
                                .config_dir = config->config_dir,
                                .module_dir = config->module_dir,
                                .owner = config->policy_owner,
                                .must_be_readable = TRUE,
                                .reader_group = policy_reader_group (),
                                .planned = planned };
  uid_t uid = 0;
  const gboolean has_user = policy_names_system.user_by_name (user, &uid);
  Policy *policy = NULL;

  planned_user = user;
  policy = policy_check_load (&source, has_user ? &policy_names_system : &planned_names, error);
  planned_user = NULL;
  return policy;
}
