/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a new agent is made of, by whichever verb makes it: its name, its files, and policy as it would be
 * with them.
 */
#pragma once

#include "service/ctl/ctl.h"
#include "service/policy/policy.h"

G_BEGIN_DECLS

#define NEW_AGENT_HOMES "/var/lib/undersign-agents"
/* Those of a first rule: any but software. */
#define NEW_AGENT_PASSKEYS "hardware unattested synced phone"

/* new_agent_name_fault: what is wrong with it, or NULL. */
const char *new_agent_name_fault (const char *name);

/* new_agent_user: (transfer full): its user. */
char *new_agent_user (const char *name);

/* new_agent_sysusers_path: (transfer full): where its user is written down. */
char *new_agent_sysusers_path (const CtlConfig *config, const char *name);

/* new_agent_sysusers, new_agent_file, new_agent_rule: (transfer full): the text of each file.  An
 * @approver who is not the owner approves in the owner's place, whom the rule then keeps out. */
char *new_agent_sysusers (const char *name, const char *user, const char *owner);
char *new_agent_file (const char *name, const char *user, const char *owner);
char *new_agent_rule (const char *name,
                      const char *actions,
                      const char *owner,
                      const char *approver,
                      const char *passkeys);

/*
 * new_agent_policy: what is on the disk with files that are not there yet, as if @user existed.
 * @planned: as in PolicySource
 * Returns: (transfer full): as policy_check_load()
 */
Policy *new_agent_policy (const CtlConfig *config,
                          const char *user,
                          const PolicyPlanned *planned,
                          GError **error);

G_END_DECLS
