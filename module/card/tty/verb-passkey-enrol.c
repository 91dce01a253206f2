/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign passkey enrol: a software passkey for this person and this machine.  The key is kept
 * before the service hears of it, and removed where the service will not have it.
 */
#include "module/card/tty/program.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/tty/admin.h"
#include "service/record/rows.h"

#include <string.h>

static gboolean
make_key (Key *key,
          Terminal *terminal,
          const AdminEnrolment *begun,
          const char *label,
          KeyRegistration *out_registration,
          GError **error)
{
  KeyEnrolment enrolment = { .rp = begun->rp, .label = label, .exclude = begun->exclude };

  memcpy (enrolment.challenge, begun->challenge, sizeof enrolment.challenge);
  terminal_put (terminal, STYLE_PLAIN, " The passphrase is asked for at every approval.");
  terminal_newline (terminal);
  terminal_put (terminal, STYLE_PLAIN, " It has at least 8 characters. Nobody can bring it back.");
  terminal_newline (terminal);
  return key_enrol (key, &enrolment, out_registration, error);
}

static gboolean
finish (Admin *admin,
        Key *key,
        const AdminEnrolment *begun,
        const KeyRegistration *registration,
        GError **error)
{
  g_autoptr (GError) local = NULL;

  if (admin_finish_enrol (admin, begun, registration, error))
    return TRUE;
  if (!key_forget (key, registration->credential, &local))
    say ("The key that was made for it could not be removed: %s", local->message);
  return FALSE;
}

int
verb_passkey_enrol (const Trust *trust, int argc, char **argv, GError **error)
{
  g_autofree char *label = NULL;
  gboolean file = FALSE;
  const GOptionEntry entries[] = {
    { "label", 0, 0, G_OPTION_ARG_STRING, &label, "your word for it (default: this host's name)",
      "TEXT" },
    { "file", 0, 0, G_OPTION_ARG_NONE, &file, "keep it in a file, not in the keyring", NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  Terminal *terminal = NULL;
  g_autofree char *user = NULL;
  g_autoptr (Key) key = NULL;
  g_autoptr (Admin) admin = NULL;
  g_autoptr (AdminEnrolment) begun = NULL;
  g_auto (KeyRegistration) registration = { 0 };
  gboolean made = FALSE;

  if (!program_parse (
          "passkey enrol", "",
          "Makes a passkey that is kept on this computer, encrypted by a passphrase, and "
          "enrols it for you.  An administrator has to agree.",
          entries, 0, &argc, &argv, error))
    return EXIT_USAGE;
  if (label == NULL)
    label = g_strdup (g_get_host_name ());
  if (!terminal_check (error))
    return EXIT_NO_TERMINAL;
  user = program_user (error);
  key = user != NULL ? program_key (&terminal, file, error) : NULL;
  admin = key != NULL ? admin_open (trust, error) : NULL;
  begun = admin != NULL ? admin_begin_enrol (admin, user, key_kind (key), label, error) : NULL;
  if (begun == NULL)
    return EXIT_REFUSED;

  terminal = terminal_open (TERMINAL_LINES, error);
  made = terminal != NULL && make_key (key, terminal, begun, label, &registration, error);
  g_clear_pointer (&terminal, terminal_close);
  if (!made)
    return error != NULL && us_error_has_reason (*error, US_REASON_NO_ANSWER) ? EXIT_NO_ANSWER
                                                                              : EXIT_REFUSED;
  if (!finish (admin, key, begun, &registration, error))
    return EXIT_REFUSED;
  say ("Enrolled for %s. \"undersign passkey list\" shows where it is kept.", user);
  return EXIT_OK;
}
