/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of a mechanism's program, for its main(): there is nothing to choose. */
#include "service/mechanism/mechanism.h"

#include "service/base/usage.h"

#include <signal.h>

gboolean
mechanism_may_serve (int argc, char **argv, const char *program, int *out_status)
{
  if (usage_served (argc, argv, program, program, argc == 1, out_status))
    return FALSE;
  signal (SIGPIPE, SIG_IGN);
  return TRUE;
}
