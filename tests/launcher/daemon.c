/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-launcher with the paths and times of a test:
 *   daemon ADDRESS FOLDER AUTHORISE-SECONDS START-SECONDS
 * where FOLDER has all that an installation has elsewhere, owned by the user of the test.
 */
#include "service/launcher/launcher.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int
main (int argc, char **argv)
{
  const char *folder = argc == 5 ? argv[2] : "";
  g_autofree char *runtime = g_build_filename (folder, "runtime", NULL);
  g_autofree char *data = g_build_filename (folder, "data", NULL);
  g_autofree char *config = g_build_filename (folder, "config", NULL);
  g_autofree char *modules = g_build_filename (folder, "modules", NULL);
  LauncherConfig launcher = {
    .unit = "test-launcher.service",
    .user_prefix = "",
    .runtime_dir = runtime,
    .policy = { .data_dir = data, .config_dir = config, .module_dir = modules, .owner = getuid () },
    .look_seconds = 600,
    .again_seconds = 1,
    .idle_seconds = 600,
  };

  if (argc != 5)
    return 2;
  launcher.address = argv[1];
  launcher.authorise_seconds = (guint) atoi (argv[3]);
  launcher.interactive_seconds = (guint) atoi (argv[3]);
  launcher.start_seconds = (guint) atoi (argv[4]);
  signal (SIGPIPE, SIG_IGN);
  return launcher_run (&launcher);
}
