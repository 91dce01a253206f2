/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersign-agent on a bus of the tests: ADDRESS and UID of the service stand before its own words. */
#include "agentlib/cli/cli.h"
#include "agentlib/lib/link.h"

#include <stdlib.h>

int
main (int argc, char *argv[])
{
  g_autoptr (UsClient) client = NULL;

  g_assert_cmpint (argc, >=, 3);
  client = client_new_for (argv[1], (uid_t) strtoul (argv[2], NULL, 10));
  argv[2] = argv[0];
  return cli_run (client, argc - 2, argv + 2);
}
