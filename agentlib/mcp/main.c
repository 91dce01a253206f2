/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-mcp: an agent's door for clients of MCP.  It runs as the agent's user and holds
 * nothing; the service is the one on the system bus, and no option can name another.
 */
#include "agentlib/mcp/mcp.h"

int
main (int argc, char *argv[])
{
  g_autoptr (UsClient) client = us_client_new ();

  return mcp_run (client, MCP_CLOSE_MS, argc, argv);
}
