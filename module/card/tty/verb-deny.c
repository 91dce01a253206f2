/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign deny: the safe direction: it needs no passkey and no terminal.
 */
#include "module/card/tty/program.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/tty/service.h"

#include <string.h>

static const char *const reasons[] = { "wrong-target", "wrong-content", "not-now", "suspicious",
                                       "other" };

static gboolean
reason_is_known (const char *reason)
{
  for (guint i = 0; i < G_N_ELEMENTS (reasons); i++)
    if (strcmp (reasons[i], reason) == 0)
      return TRUE;
  return FALSE;
}

int
verb_deny (const Trust *trust, int argc, char **argv, GError **error)
{
  g_autofree char *reason = NULL;
  const GOptionEntry entries[] = {
    { "reason", 0, 0, G_OPTION_ARG_STRING, &reason,
      "wrong-target, wrong-content, not-now, suspicious or other (the default)", "WORD" },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  g_autoptr (Service) service = NULL;
  g_autofree char *request = NULL;
  g_autofree char *state = NULL;

  if (!program_parse ("deny", "ID",
                      "Denies a request: nothing of it runs.  The agent is told the reason.",
                      entries, 1, &argc, &argv, error))
    return EXIT_USAGE;
  if (reason != NULL && !reason_is_known (reason))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "--reason \"%s\" is none of wrong-target, wrong-content, not-now, suspicious, "
                    "other",
                    reason);
      return EXIT_USAGE;
    }
  if (!service_check_id (argv[1], error))
    return EXIT_USAGE;
  service = service_open (trust, error);
  request = service != NULL ? service_find (service, argv[1], error) : NULL;
  if (request == NULL)
    return EXIT_REFUSED;
  state = service_deny (service, request, reason != NULL ? reason : "other", error);
  if (state == NULL)
    return EXIT_REFUSED;
  say ("%s: %s", request, state);
  return EXIT_OK;
}
