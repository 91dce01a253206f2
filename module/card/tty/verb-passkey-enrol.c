/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign passkey enrol: a passkey for this person and this machine, kept here or on a security
 * key.  A key is kept before the service hears of it, and removed where the service says that it will
 * not have it.
 */
#include "module/card/tty/program.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/key/security.h"
#include "module/card/tty/admin.h"
#include "service/record/rows.h"

#include <string.h>

typedef struct
{
  char *label;
  gboolean file, security, unattested;
  char **devices;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->label);
  g_strfreev (options->devices);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
options_read (Options *options, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "label", 0, 0, G_OPTION_ARG_STRING, &options->label,
      "your word for it (default: this host's name)", "TEXT" },
    { "file", 0, 0, G_OPTION_ARG_NONE, &options->file, "keep it in a file, not in the keyring",
      NULL },
    { "security-key", 0, 0, G_OPTION_ARG_NONE, &options->security, "make it on a security key",
      NULL },
    { "device", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->devices,
      "make it on the security key at this path", "PATH" },
    { "unattested", 0, 0, G_OPTION_ARG_NONE, &options->unattested,
      "without the word of the security key's maker", NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };

  if (!program_parse ("passkey enrol", "",
                      "Makes a passkey and enrols it for you: one that is kept on this computer, "
                      "encrypted by a passphrase, or one on a security key.  An administrator has "
                      "to agree.",
                      entries, 0, argc, argv, error))
    return FALSE;
  options->security = options->security || options->devices != NULL;
  if (options->security && options->file)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "--file is for a passkey that is kept on this computer");
  if (options->unattested && !options->security)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "--unattested is for a security key");
  if (options->label == NULL)
    options->label = g_strdup (g_get_host_name ());
  return TRUE;
}

static Key *
open_key (const Options *options, Terminal **terminal, GError **error)
{
  g_autoptr (Key) key = NULL;

  if (!options->security)
    return program_key (terminal, options->file, error);
  key =
      program_security_key (terminal, (const char *const *) options->devices, !options->unattested);
  return security_key_ready (key, error) ? g_steal_pointer (&key) : NULL;
}

static void
explain (Terminal *terminal, gboolean security)
{
  static const char *const kept[] = {
    " The passphrase is asked for at every approval.",
    " It has at least 8 bytes: a plain letter or digit is one. Nobody can bring it back.",
  };
  static const char *const plugged[] = {
    " The security key makes the passkey and keeps it.",
    " Plug it in, and know its PIN, at every approval.",
  };
  const char *const *lines = security ? plugged : kept;

  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    {
      terminal_put (terminal, STYLE_PLAIN, lines[i]);
      terminal_newline (terminal);
    }
}

static gboolean
make_key (Key *key,
          Terminal *terminal,
          const AdminEnrolment *begun,
          const Options *options,
          const char *user,
          KeyRegistration *out_registration,
          GError **error)
{
  KeyEnrolment enrolment = {
    .rp = begun->rp,
    .label = options->label,
    .user = user,
    .user_id = begun->user_id,
    .exclude = begun->exclude,
  };

  memcpy (enrolment.challenge, begun->challenge, sizeof enrolment.challenge);
  explain (terminal, options->security);
  return key_enrol (key, &enrolment, out_registration, error);
}

static gboolean
finish (Admin *admin,
        Key *key,
        const AdminEnrolment *begun,
        const KeyRegistration *registration,
        GError **error)
{
  g_autoptr (GError) refusal = NULL;
  g_autoptr (GError) local = NULL;

  if (admin_finish_enrol (admin, begun, registration, &refusal))
    return TRUE;
  /* Only who says no has enrolled nothing. */
  if (g_error_matches (refusal, US_ERROR, US_ERROR_UNAVAILABLE))
    say ("Whether the passkey was enrolled is not known, so it is kept.  Run this again: if it was, "
         "that is said; if not, another one is made.");
  else if (!key_forget (key, registration->credential, &local))
    say ("The key that was made for it could not be removed: %s", local->message);
  g_propagate_error (error, g_steal_pointer (&refusal));
  return FALSE;
}

static int
failed (const Options *options, GError **error)
{
  if (error == NULL || *error == NULL)
    return EXIT_REFUSED;
  if (us_error_has_reason (*error, US_REASON_ATTESTATION_CHAIN) && options->security)
    say ("Who made this key cannot be verified. Where the rules take such a key, enrol it with "
         "--unattested.");
  return us_error_has_reason (*error, US_REASON_NO_ANSWER) ? EXIT_NO_ANSWER : EXIT_REFUSED;
}

int
verb_passkey_enrol (const Trust *trust, int argc, char **argv, GError **error)
{
  g_auto (Options) options = { 0 };
  Terminal *terminal = NULL;
  g_autofree char *user = NULL;
  g_autoptr (Key) key = NULL;
  g_autoptr (Admin) admin = NULL;
  g_autoptr (AdminEnrolment) begun = NULL;
  g_auto (KeyRegistration) registration = { 0 };
  gboolean made = FALSE;

  if (!options_read (&options, &argc, &argv, error))
    return EXIT_USAGE;
  if (!terminal_check (error))
    return EXIT_NO_TERMINAL;
  user = program_user (error);
  key = user != NULL ? open_key (&options, &terminal, error) : NULL;
  admin = key != NULL ? admin_open (trust, error) : NULL;
  begun =
      admin != NULL ? admin_begin_enrol (admin, user, key_kind (key), options.label, error) : NULL;
  if (begun == NULL)
    return failed (&options, error);

  terminal = terminal_open (TERMINAL_LINES, error);
  made = terminal != NULL && make_key (key, terminal, begun, &options, user, &registration, error);
  g_clear_pointer (&terminal, terminal_close);
  if (!made || !finish (admin, key, begun, &registration, error))
    return failed (&options, error);
  say ("Enrolled for %s, as %s.", user, options.security ? key_kind (key) : "software");
  say ("Whoever verifies a receipt of what it signs needs the id of its public key, from you:");
  say ("%s", registration.key);
  if (!options.security)
    say ("It counts where a rule has Passkeys=software; \"undersign passkey list\" shows where it is.");
  return EXIT_OK;
}
