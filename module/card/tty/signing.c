/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses a passkey and signs with it.  Called by verb-approve.c.  It only ever offers passkeys of
 * this machine's relying party, whatever the service lists, and leaves what is signed to the
 * caller, who has compared it with the card.
 */
#include "module/card/tty/signing.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/key/security.h"
#include "module/card/key/software.h"
#include "module/card/tty/program.h"

#include <string.h>

#define PASSPHRASE_TRIES 3

struct Signing
{
  char *rp;
  Terminal **terminal;
  Key *kept; /* (nullable) */
  Key *security;
  Key *chosen; /* one of the two */
};

void
signing_free (Signing *signing)
{
  if (signing == NULL)
    return;
  g_clear_pointer (&signing->kept, key_free);
  g_clear_pointer (&signing->security, key_free);
  g_free (signing->rp);
  g_free (signing);
}

Signing *
signing_new (const Trust *trust,
             Terminal **terminal,
             gboolean only_security_keys,
             const char *const *devices,
             GError **error)
{
  g_autoptr (Signing) signing = g_new0 (Signing, 1);

  signing->rp = g_strconcat ("undersign:", trust->host, NULL);
  signing->terminal = terminal;
  signing->security = program_security_key (terminal, devices, FALSE);
  if (only_security_keys)
    return g_steal_pointer (&signing);
  signing->kept = program_key (terminal, FALSE, error);
  return signing->kept != NULL ? g_steal_pointer (&signing) : NULL;
}

/* A desktop key has no origin of its own: it says its relying party. */
static gboolean
is_ours (const Signing *signing, const CardCredential *credential)
{
  return strcmp (credential->rp, signing->rp) == 0 &&
         (credential->origin[0] == '\0' || strcmp (credential->origin, signing->rp) == 0);
}

static gboolean
on_security_key (const CardCredential *credential)
{
  return strcmp (credential->kind, SECURITY_KEY_KIND_ATTESTED) == 0 ||
         strcmp (credential->kind, SECURITY_KEY_KIND_UNATTESTED) == 0;
}

/* (element-type CardCredential), borrowed of @card */
static GPtrArray *
candidates (const Signing *signing, const Card *card, gboolean security)
{
  GPtrArray *accepted = card_credentials (card);
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < accepted->len; i++)
    {
      CardCredential *credential = g_ptr_array_index (accepted, i);

      if (is_ours (signing, credential) && (!security || on_security_key (credential)))
        g_ptr_array_add (found, credential);
    }
  return found;
}

static const CardCredential *
pick_of (const Signing *signing, Key *key, GPtrArray *credentials, GError **error)
{
  g_autoptr (GPtrArray) ids = g_ptr_array_new ();
  guint index = 0;

  for (guint i = 0; i < credentials->len; i++)
    g_ptr_array_add (ids, ((const CardCredential *) g_ptr_array_index (credentials, i))->id);
  if (!key_pick (key, ids, signing->rp, &index, error))
    return NULL;
  return g_ptr_array_index (credentials, index);
}

/* NULL without an error where none is kept. */
static const CardCredential *
pick_kept (const Signing *signing, const Card *card, GError **error)
{
  g_autoptr (GPtrArray) credentials = candidates (signing, card, FALSE);
  g_autoptr (GError) local = NULL;
  const CardCredential *found = NULL;

  if (signing->kept != NULL)
    found = pick_of (signing, signing->kept, credentials, &local);
  if (local != NULL && !us_error_has_reason (local, US_REASON_CREDENTIAL_UNKNOWN))
    g_propagate_error (error, g_steal_pointer (&local));
  return found;
}

/* Where the passkey may be that was not found. */
static const char *
unseen (const Signing *signing)
{
  return signing->kept != NULL ? software_key_unseen () : "";
}

static gboolean
none (const Signing *signing, GError **error)
{
  return us_error_set (error, US_ERROR_NOT_APPROVER, US_REASON_CREDENTIAL_UNKNOWN, "%s%s",
                       signing->kept != NULL
                           ? "none of the passkeys that this request accepts is kept on this "
                             "computer or on a security key"
                           : "this request accepts no passkey on a security key of yours",
                       unseen (signing));
}

gboolean
signing_possible (Signing *signing, const Card *card, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (GPtrArray) credentials = NULL;

  if (pick_kept (signing, card, &local) != NULL)
    return TRUE;
  credentials = candidates (signing, card, TRUE);
  if (local == NULL && credentials->len > 0)
    return TRUE;
  if (local == NULL)
    return none (signing, error);
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

/* --- a security key --- */

static void
tell (Signing *signing, TerminalStyle style, const char *text)
{
  terminal_put (*signing->terminal, style, text);
  terminal_newline (*signing->terminal);
}

/* FALSE where the person left. */
static gboolean
ask_to_plug_in (Signing *signing, const GError *why)
{
  const char *colon = strstr (why->message, ": ");
  g_autofree char *text =
      g_strdup_printf (" Not found: %s%s.", colon != NULL ? colon + 2 : why->message, unseen (signing));

  tell (signing, STYLE_WARNING, text);
  tell (signing, STYLE_BOLD, " Plug your security key in, then press Enter. Esc leaves.");
  terminal_flush_input (*signing->terminal);
  terminal_show (*signing->terminal);
  for (;;)
    {
      TerminalEvent event = terminal_wait (*signing->terminal, -1);

      if (event.kind == EVENT_ENTER || event.kind == EVENT_LEAVE)
        return event.kind == EVENT_ENTER;
    }
}

static const CardCredential *
pick_plugged_in (Signing *signing, const Card *card, GError **error)
{
  g_autoptr (GPtrArray) credentials = candidates (signing, card, TRUE);

  if (credentials->len == 0)
    {
      none (signing, error);
      return NULL;
    }
  for (;;)
    {
      g_autoptr (GError) local = NULL;
      const CardCredential *found = pick_of (signing, signing->security, credentials, &local);

      if (found != NULL)
        return found;
      if (!us_error_has_reason (local, US_REASON_KEY_ABSENT) &&
          !us_error_has_reason (local, US_REASON_KEY_FAILED))
        {
          g_propagate_error (error, g_steal_pointer (&local));
          return NULL;
        }
      if (!ask_to_plug_in (signing, local))
        {
          us_error_set (error, US_ERROR_REFUSED, US_REASON_NO_ANSWER,
                        "no security key was plugged in");
          return NULL;
        }
    }
}

const CardCredential *
signing_pick (Signing *signing, const Card *card, GError **error)
{
  g_autoptr (GError) local = NULL;
  const CardCredential *found = pick_kept (signing, card, &local);

  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }
  signing->chosen = found != NULL ? signing->kept : signing->security;
  return found != NULL ? found : pick_plugged_in (signing, card, error);
}

gboolean
signing_sign (Signing *signing,
              GBytes *credential,
              GBytes *statement,
              KeyAssertion *out_assertion,
              GError **error)
{
  g_autoptr (GError) local = NULL;

  for (guint i = 0; i < PASSPHRASE_TRIES; i++)
    {
      g_clear_error (&local);
      if (key_sign (signing->chosen, credential, statement, out_assertion, &local))
        return TRUE;
      if (!us_error_has_reason (local, US_REASON_PASSPHRASE))
        break;
      tell (signing, STYLE_WARNING, " It does not open this passkey.");
    }
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}
