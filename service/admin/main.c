/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: the paths of an installation, and nothing to choose. */
#include "config.h"

#include "service/admin/admin.h"

#include "service/mechanism/mechanism.h"

int
main (int argc, char **argv)
{
  static const AdminConfig config = {
    .executor = UNDERSIGN_RUNTIME_DIR "/executor.sock",
    .credential_dir = "/etc/credstore.encrypted",
    .unit_dir = "/etc/systemd/system",
    .encrypt = "/usr/bin/systemd-creds",
    .relying_party_dir = UNDERSIGN_CONFIG_DIR "/relying-parties.d",
    .policy = { .data_dir = UNDERSIGN_DATA_DIR,
                .config_dir = UNDERSIGN_CONFIG_DIR,
                .module_dir = UNDERSIGN_MODULE_DIR,
                .owner = 0 },
    .authorise_seconds = 10,
    .interactive_seconds = 120,
    .enrolment_seconds = 300,
    .encrypt_seconds = 30,
    .idle_seconds = 60,
  };
  int status = 1;

  if (!mechanism_may_serve (argc, argv, "undersign-admin", &status))
    return status;
  return admin_run (&config);
}
