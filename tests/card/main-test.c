/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The very program of undersign(1), but that it believes a service of this process's own user and
 * the machine of the sample record, and waits for touches as long as a test says.  Everything else, the terminal included, is as it is installed.
 */
#include "module/card/tty/program.h"

#include "tests/record/sample.h"

#include <unistd.h>

int
main (int argc, char **argv)
{
  Trust trust = { .service_uid = getuid (), .admin_uid = getuid (), .host = (char *) SAMPLE_HOST };

  /* so that a test can see what an owner of another uid gets */
  if (g_getenv ("TEST_OTHER_OWNER") != NULL)
    trust.service_uid++;
  if (g_getenv ("TEST_TOUCH_MS") != NULL)
    program_touch_ms = (guint) g_ascii_strtoull (g_getenv ("TEST_TOUCH_MS"), NULL, 10);
  return program_run (&trust, argc, argv);
}
