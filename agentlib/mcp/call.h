/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tools that are always there, and the tasks' way to the same requests. */
#pragma once

#include "agentlib/mcp/server.h"

G_BEGIN_DECLS

/* request_tool_call: FALSE where @name is neither request_status nor request_cancel. */
gboolean request_tool_call (Exchange *exchange, const char *name);

/* task_reply: the answer to a call that became a task. */
void task_reply (Exchange *exchange, const char *path, const UsStatus *status);

/* task_tree: all that is told of a task now, its result included where it has ended. */
JsonTree *task_tree (Exchange *exchange, const char *path, const UsStatus *status);

/* task_is_declared: whether the client takes tasks; where not, the exchange has ended. */
gboolean task_is_declared (Exchange *exchange);

G_END_DECLS
