/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: the paths of an installation. */
#include "config.h"

#include "service/ctl/ctl.h"

#include <locale.h>

int
main (int argc, char **argv)
{
  static const CtlConfig config = {
    .admin_uid = 0,
    .data_dir = UNDERSIGN_DATA_DIR,
    .config_dir = UNDERSIGN_CONFIG_DIR,
    .module_dir = UNDERSIGN_MODULE_DIR,
    .policy_owner = 0,
    .sysusers_dir = "/etc/sysusers.d",
    .sysusers = "/usr/bin/systemd-sysusers",
    .userdel = "/usr/sbin/userdel",
    .bin_dir = UNDERSIGN_BIN_DIR,
    .undersign = UNDERSIGN_BIN_DIR "/undersign",
  };

  setlocale (LC_ALL, "");
  return ctl_run (&config, argc, argv);
}
