/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-agent: the program of an agent.  It holds no secret and decides nothing; nothing of its
 * environment changes whom it takes for the service.
 */
#include "agentlib/cli/cli.h"

int
main (int argc, char *argv[])
{
  g_autoptr (UsClient) client = us_client_new ();

  return cli_run (client, argc, argv);
}
