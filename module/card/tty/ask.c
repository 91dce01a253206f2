/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a person is asked for while a passkey is made or used: passphrases, PINs, a touch.  The keys
 * call back here.  What is typed goes to locked memory and is never shown.
 */
#include "module/card/tty/program.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/key/security.h"
#include "module/card/key/software.h"
#include "service/record/rows.h"

#include <string.h>

static Secret *
read_line (Terminal *terminal, const char *prompt, gsize max)
{
  Secret *secret = NULL;

  terminal_put (terminal, STYLE_BOLD, prompt);
  secret = terminal_read_secret (terminal, max);
  terminal_newline (terminal);
  terminal_show (terminal);
  return secret;
}

static Secret *
no_answer (GError **error, const char *why)
{
  us_error_set (error, US_ERROR_REFUSED, US_REASON_NO_ANSWER, "%s", why);
  return NULL;
}

/* --- passphrases --- */

static Secret *
choose (Terminal *terminal, GError **error)
{
  g_autoptr (Secret) first =
      read_line (terminal, " Choose a passphrase: ", SOFTWARE_KEY_PASSPHRASE_MAX);
  g_autoptr (Secret) again = NULL;

  if (first == NULL)
    return no_answer (error, "no passphrase was chosen");
  if (!software_key_passphrase_check (first, error))
    return NULL; /* before it is typed again in vain */
  again = read_line (terminal, " The same once more:  ", SOFTWARE_KEY_PASSPHRASE_MAX);
  if (again == NULL)
    return no_answer (error, "no passphrase was chosen");
  if (secret_size (first) != secret_size (again) ||
      memcmp (secret_data (first), secret_data (again), secret_size (first)) != 0)
    return no_answer (error, "the two passphrases differ");
  return g_steal_pointer (&first);
}

static Secret *
ask_passphrase (KeyPrompt prompt, const KeyInfo *info, int tries, gpointer data, GError **error)
{
  Terminal **terminal = data;
  g_autofree char *label = escape_line (info->label);
  g_autofree char *text = NULL;
  Secret *secret = NULL;

  if (terminal == NULL || *terminal == NULL)
    return no_answer (error, "there is nobody to ask for a passphrase");
  if (prompt == KEY_PROMPT_CHOOSE)
    return choose (*terminal, error);
  text = g_strdup_printf (" Passphrase of \"%s\" (%s): ", label, info->place);
  secret = read_line (*terminal, text, SOFTWARE_KEY_PASSPHRASE_MAX);
  return secret != NULL ? secret : no_answer (error, "no passphrase was given");
}

/* --- security keys --- */

static Secret *
ask_pin (KeyPrompt prompt, const KeyInfo *info, int tries, gpointer data, GError **error)
{
  Terminal **terminal = data;
  g_autofree char *label = escape_line (info->label);
  g_autofree char *text =
      g_strdup_printf (" PIN of %s (%d %s left): ", label, tries, tries == 1 ? "try" : "tries");
  Secret *secret = NULL;

  if (terminal == NULL || *terminal == NULL)
    return no_answer (error, "there is nobody to ask for a PIN");
  if (prompt == KEY_PROMPT_PIN_AGAIN)
    {
      terminal_put (*terminal, STYLE_WARNING, " That is not its PIN.");
      terminal_newline (*terminal);
    }
  secret = read_line (*terminal, text, SECURITY_KEY_PIN_MAX);
  return secret != NULL ? secret : no_answer (error, "no PIN was given");
}

static void
on_touch (gpointer data)
{
  Terminal **terminal = data;

  if (terminal == NULL || *terminal == NULL)
    return;
  terminal_put (*terminal, STYLE_BOLD, " Touch the security key when it blinks. Esc leaves.");
  terminal_newline (*terminal);
  terminal_flush_input (*terminal);
  terminal_show (*terminal);
}

/* Whatever else is typed meanwhile is thrown away. */
static gboolean
has_left (gpointer data)
{
  Terminal **terminal = data;

  if (terminal == NULL || *terminal == NULL)
    return FALSE;
  for (;;)
    {
      TerminalEvent event = terminal_wait (*terminal, 0);

      if (event.kind == EVENT_LEAVE || event.kind == EVENT_TIMEOUT)
        return event.kind == EVENT_LEAVE;
    }
}

/* --- the keys --- */

Key *
program_key (Terminal **terminal, gboolean files_only, GError **error)
{
  g_autofree char *folder = software_key_folder ();

  return software_key_new (folder, files_only ? SOFTWARE_KEY_FILE : SOFTWARE_KEY_ANYWHERE,
                           ask_passphrase, terminal, error);
}

guint program_touch_ms = SECURITY_KEY_TOUCH_MS;

Key *
program_security_key (Terminal **terminal, const char *const *devices, gboolean attested)
{
  const SecurityKeyOptions options = {
    .devices = devices,
    .attested = attested,
    .touch_ms = program_touch_ms,
    .ask = ask_pin,
    .touch = on_touch,
    .left = has_left,
    .data = terminal,
  };

  return security_key_new (&options);
}
