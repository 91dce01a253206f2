/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* polkit's own agent for terminals, pkttyagent(1), while an administrator may have to be asked. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct Agent Agent;

/* agent_start: NULL where there is no terminal or no pkttyagent; one of the session is preferred.
 */
Agent *agent_start (void);
void agent_stop (Agent *agent);

G_END_DECLS
