/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The whole program but for the choice of the service. */
#pragma once

#include "agentlib/lib/undersign.h"

G_BEGIN_DECLS

/* Clients kill a server that is still there two seconds after its input ended. */
#define MCP_CLOSE_MS 1500

/*
 * mcp_run: serves on standard input and output.
 * @close_ms: how long to go on after the end of the input, where something is to be withdrawn
 *
 * Returns: the exit status.
 */
int mcp_run (UsClient *client, guint close_ms, int argc, char **argv);

G_END_DECLS
