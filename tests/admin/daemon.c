/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-admin with the paths and times of a test:
 *   daemon ADDRESS FOLDER ENCRYPT AUTHORISE-SECONDS ENROLMENT-SECONDS IDLE-SECONDS
 *     ENCRYPT-SECONDS
 * where FOLDER has all that an installation has elsewhere, owned by the user of the test.
 */
#include "service/admin/admin.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int
main (int argc, char **argv)
{
  const char *folder = argc == 8 ? argv[2] : "";
  g_autofree char *executor = g_build_filename (folder, "executor.sock", NULL);
  g_autofree char *credentials = g_build_filename (folder, "credentials", NULL);
  g_autofree char *units = g_build_filename (folder, "units", NULL);
  g_autofree char *parties = g_build_filename (folder, "relying-parties.d", NULL);
  g_autofree char *data = g_build_filename (folder, "data", NULL);
  g_autofree char *config = g_build_filename (folder, "config", NULL);
  g_autofree char *modules = g_build_filename (folder, "modules", NULL);
  AdminConfig admin = {
    .executor = executor,
    .credential_dir = credentials,
    .unit_dir = units,
    .relying_party_dir = parties,
    .policy = { .data_dir = data, .config_dir = config, .module_dir = modules, .owner = getuid () },
  };

  if (argc != 8)
    return 2;
  admin.address = argv[1];
  admin.encrypt = argv[3];
  admin.authorise_seconds = (guint) atoi (argv[4]);
  admin.interactive_seconds = (guint) atoi (argv[4]);
  admin.enrolment_seconds = (guint) atoi (argv[5]);
  admin.idle_seconds = (guint) atoi (argv[6]);
  admin.encrypt_seconds = (guint) atoi (argv[7]);
  signal (SIGPIPE, SIG_IGN);
  return admin_run (&admin);
}
