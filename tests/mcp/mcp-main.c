/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersign-mcp on a bus of the tests: ADDRESS and UID of the service stand before its own words.
 * With TEST_MCP_IMPATIENT it has no more time at its end than the real one. */
#include "agentlib/lib/link.h"
#include "agentlib/mcp/mcp.h"

#include <stdlib.h>

/* A loaded machine takes its time to leave a request. */
#define PATIENCE_MS (120 * 1000)

int
main (int argc, char *argv[])
{
  g_autoptr (UsClient) client = NULL;

  g_assert_cmpint (argc, >=, 3);
  client = client_new_for (argv[1], (uid_t) strtoul (argv[2], NULL, 10));
  argv[2] = argv[0];
  return mcp_run (client, g_getenv ("TEST_MCP_IMPATIENT") != NULL ? MCP_CLOSE_MS : PATIENCE_MS, argc - 2, argv + 2);
}
