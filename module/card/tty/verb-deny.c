/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign deny: the safe direction: it needs no passkey and no terminal, but where the person wants
 * to sign it.
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
  g_auto (AnswerOptions) options = { 0 };
  gboolean sign = FALSE;
  const GOptionEntry entries[] = {
    { "sign", 0, 0, G_OPTION_ARG_NONE, &sign,
      "show the card, and sign the denial with your passkey", NULL },
    ANSWER_OPTIONS (options),
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
  if (!sign && (options.security || options.devices != NULL))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "--security-key and --device are for --sign");
      return EXIT_USAGE;
    }
  if (sign)
    return card_deny_signed (trust, &options, argv[1], reason, error);
  if (!service_check_id (argv[1], error))
    return EXIT_USAGE;
  service = service_open (trust, error);
  request = service != NULL ? service_find (service, argv[1], error) : NULL;
  if (request == NULL)
    return EXIT_REFUSED;
  state = service_deny (service, request, reason != NULL ? reason : "other", NULL, error);
  if (state == NULL)
    return EXIT_REFUSED;
  say ("%s: %s", request, state);
  return EXIT_OK;
}
