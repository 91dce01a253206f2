/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What passkeys and assertions own, and the rule of the counter.  The counter is checked apart from
 * passkey_verify(), since it is compared and stored in one transaction of the ledger.
 */
#include "service/passkey/passkey.h"

#include "dbus/error.h"
#include "dbus/reason.h"

void
passkey_free (Passkey *passkey)
{
  if (passkey == NULL)
    return;
  g_clear_pointer (&passkey->credential, g_bytes_unref);
  g_clear_pointer (&passkey->public_key, g_bytes_unref);
  g_free (passkey->name);
  g_free (passkey->kind);
  g_free (passkey->rp);
  g_free (passkey->origin);
  g_free (passkey->label);
  g_free (passkey);
}

void
assertion_clear (Assertion *assertion)
{
  g_clear_pointer (&assertion->client_data, g_bytes_unref);
  g_clear_pointer (&assertion->auth_data, g_bytes_unref);
  g_clear_pointer (&assertion->signature, g_bytes_unref);
}

const char *
passkey_origin (const char *rp, const char *origin)
{
  return origin[0] != '\0' ? origin : rp;
}

gboolean
passkey_check_counter (const Passkey *passkey, guint32 counter, GError **error)
{
  if (passkey->counter == 0 && counter == 0)
    return TRUE;
  if (counter > passkey->counter)
    return TRUE;
  return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_COUNTER,
                       "the counter is %u after %u: there may be a copy of the passkey", counter,
                       passkey->counter);
}
