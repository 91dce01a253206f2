/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersignctl on the bus of a test: `ctl ADDRESS ADMIN-UID FOLDER ARGUMENT…`. */
#include "service/ctl/ctl.h"

#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

int
main (int argc, char **argv)
{
  g_autofree char *data = g_build_filename (argc > 3 ? argv[3] : "", "data", NULL);
  g_autofree char *config_dir = g_build_filename (argc > 3 ? argv[3] : "", "config", NULL);
  g_autofree char *modules = g_build_filename (argc > 3 ? argv[3] : "", "modules", NULL);
  CtlConfig config = {
    .data_dir = data,
    .config_dir = config_dir,
    .module_dir = modules,
    .policy_owner = getuid (),
  };

  if (argc < 4)
    return 2;
  setlocale (LC_ALL, "");
  config.sysusers_dir = argv[3];
  config.sysusers = "/bin/false";
  config.userdel = "/bin/false";
  config.bin_dir = "/nonexistent";
  config.undersign = "/bin/echo";
  config.address = argv[1];
  config.admin_uid = (uid_t) atoi (argv[2]);
  argv[3] = argv[0];
  return ctl_run (&config, argc - 3, argv + 3);
}
