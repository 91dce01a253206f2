/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The gate before every key of the person: a statement is read here, so that no key can be made to
 * sign another kind of thing, or a statement that is about another key.  Called by renderers of the
 * card.  Must never hand a challenge to a key that was not worked out here.
 */
#include "module/card/key/key.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/record/statement.h"

void
key_info_free (KeyInfo *info)
{
  if (info == NULL)
    return;
  g_clear_pointer (&info->credential, g_bytes_unref);
  g_free (info->rp);
  g_free (info->label);
  g_free (info->place);
  g_free (info->key);
  g_free (info->fault);
  g_free (info);
}

void
key_registration_clear (KeyRegistration *registration)
{
  g_clear_pointer (&registration->credential, g_bytes_unref);
  g_clear_pointer (&registration->client_data, g_bytes_unref);
  g_clear_pointer (&registration->attestation, g_bytes_unref);
  g_clear_pointer (&registration->key, g_free);
}

void
key_assertion_clear (KeyAssertion *assertion)
{
  g_clear_pointer (&assertion->client_data, g_bytes_unref);
  g_clear_pointer (&assertion->auth_data, g_bytes_unref);
  g_clear_pointer (&assertion->signature, g_bytes_unref);
}

const char *
key_kind (const Key *key)
{
  return key->klass->kind;
}

GPtrArray *
key_list (Key *key, GError **error)
{
  return key->klass->list (key, error);
}

gboolean
key_pick (Key *key, GPtrArray *credentials, const char *rp, guint *out_index, GError **error)
{
  return key->klass->pick (key, credentials, rp, out_index, error);
}

gboolean
key_enrol (Key *key,
           const KeyEnrolment *enrolment,
           KeyRegistration *out_registration,
           GError **error)
{
  return key->klass->enrol (key, enrolment, out_registration, error);
}

gboolean
key_sign (
    Key *key, GBytes *credential, GBytes *statement, KeyAssertion *out_assertion, GError **error)
{
  g_autoptr (Statement) decoded = statement_decode (statement, error);
  g_autofree char *id = NULL;
  guint8 challenge[PAE_DIGEST_SIZE];
  gsize len;
  const guint8 *data = g_bytes_get_data (credential, &len);

  if (decoded == NULL)
    return FALSE;
  id = base64url_encode (data, len);
  if (g_strcmp0 (decoded->credential, id) != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_STATEMENT,
                         "the statement is for another passkey");

  statement_challenge (statement, challenge);
  return key->klass->sign (key, credential, decoded->rp, challenge, out_assertion, error);
}

gboolean
key_forget (Key *key, GBytes *credential, GError **error)
{
  return key->klass->forget (key, credential, error);
}

void
key_free (Key *key)
{
  if (key != NULL)
    key->klass->free (key);
}
