/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: the paths of an installation, and nothing to choose. */
#include "config.h"

#include "service/launcher/launcher.h"

#include "service/mechanism/mechanism.h"

int
main (int argc, char **argv)
{
  static const LauncherConfig config = {
    .unit = "undersign-launcher.service",
    .user_prefix = "agent-",
    .runtime_dir = "/run/undersign-launcher",
    .policy = { .data_dir = UNDERSIGN_DATA_DIR,
                .config_dir = UNDERSIGN_CONFIG_DIR,
                .module_dir = UNDERSIGN_MODULE_DIR,
                .owner = 0 },
    .authorise_seconds = 10,
    .interactive_seconds = 120,
    .look_seconds = 20,
    .start_seconds = 60,
    .again_seconds = 10,
    .idle_seconds = 60,
  };
  int status = 1;

  if (!mechanism_may_serve (argc, argv, "undersign-launcher", &status))
    return status;
  return launcher_run (&config);
}
