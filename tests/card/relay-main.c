/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* relay_run() between standard input and output and two descriptors: relay TERMINAL LINK */
#include "module/card/tty/relay.h"

#include <stdlib.h>

int
main (int argc, char **argv)
{
  gboolean is_left = FALSE;

  return argc == 3 ? relay_run (atoi (argv[1]), atoi (argv[2]), NULL, &is_left) : 2;
}
