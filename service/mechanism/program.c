/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of a mechanism's program, for its main(): there is nothing to choose. */
#include "config.h"

#include "service/mechanism/mechanism.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

gboolean
mechanism_may_serve (int argc, char **argv, const char *program, int *out_status)
{
  if (argc == 2 && strcmp (argv[1], "--version") == 0)
    {
      printf ("%s %s\n", program, UNDERSIGN_VERSION);
      *out_status = 0;
      return FALSE;
    }
  if (argc != 1)
    {
      fprintf (stderr, "usage: %s [--version], started by the bus\n", program);
      *out_status = 2;
      return FALSE;
    }
  signal (SIGPIPE, SIG_IGN);
  return TRUE;
}
