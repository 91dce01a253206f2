/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of programs that have nothing to choose, and the last line about a wrong one. */
#include "service/base/usage.h"

#include "config.h"
#include "dbus/reason.h"

#include <stdio.h>
#include <string.h>

void
usage_try (const char *program)
{
  fprintf (stderr, "Try \"%s --help\".\n", program);
}

gboolean
usage_served (int argc,
              char **argv,
              const char *program,
              const char *usage,
              gboolean may_serve,
              int *out_status)
{
  const char *word = argc == 2 ? argv[1] : "";
  int status = 0;

  if (strcmp (word, "--version") == 0)
    printf ("%s %s\n", program, UNDERSIGN_VERSION);
  else if (strcmp (word, "--help") == 0 || strcmp (word, "-h") == 0)
    printf ("Usage: %s\n\nStarted by systemd or the bus, not by hand; see %s(8).\n\n"
            "Options:\n"
            "  -h, --help                  Show this help\n"
            "      --version               Show the version\n",
            usage, program);
  else if (may_serve)
    return FALSE;
  else
    {
      fprintf (stderr, "%s: %s: expected \"%s\" alone\n", program, US_REASON_BAD_VALUE, usage);
      usage_try (program);
      status = USAGE_STATUS;
    }
  *out_status = status;
  return TRUE;
}
