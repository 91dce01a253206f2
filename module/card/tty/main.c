/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign(1), the approver's command.  This file only says whom to believe; program.c does the
 * rest.
 */
#include "module/card/tty/trust.h"

#include "service/base/host.h"

#include <pwd.h>

#define SERVICE_USER "undersign"

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *host = host_id (&error);
  g_autofree char *fault = NULL;
  const struct passwd *user = getpwnam (SERVICE_USER);
  Trust trust = { .service_uid = (uid_t) -1, .admin_uid = 0, .host = host };

  if (user == NULL)
    fault = g_strdup ("there is no user " SERVICE_USER ": the service is not installed here");
  else if (host == NULL)
    fault = g_strdup (error->message);
  else
    trust.service_uid = user->pw_uid;
  trust.fault = fault;
  return program_run (&trust, argc, argv);
}
