/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What answers each method. */
#pragma once

#include "agentlib/mcp/server.h"

G_BEGIN_DECLS

void handle_initialize (Exchange *exchange);
void handle_ping (Exchange *exchange);
void handle_discover (Exchange *exchange);
void handle_tools_list (Exchange *exchange);
void handle_tools_call (Exchange *exchange);
void handle_task_get (Exchange *exchange);
void handle_task_result (Exchange *exchange);
void handle_task_cancel (Exchange *exchange);
void handle_task_update (Exchange *exchange);
void handle_listen (Exchange *exchange);

G_END_DECLS
