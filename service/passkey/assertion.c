/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verifies one assertion.  libfido2 is asked last and only for the signature: whatever it would
 * overlook (flags, sizes, extensions, client data) has been refused before.  Called by the executor
 * on arrival and again at execution.  Must never succeed by another way than through every check.
 */
#include "service/passkey/assertion.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/passkey/auth-data.h"
#include "service/passkey/client-data.h"
#include "service/passkey/public-key.h"

#include <fido.h>
#include <fido/eddsa.h>
#include <fido/es256.h>
#include <string.h>

typedef fido_assert_t FidoAssert;

static void
fido_assert_release (FidoAssert *assertion)
{
  fido_assert_free (&assertion);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FidoAssert, fido_assert_release)

static gboolean
within (GBytes *bytes, gsize max)
{
  return bytes != NULL && g_bytes_get_size (bytes) > 0 && g_bytes_get_size (bytes) <= max;
}

/* Its exact size is a check of its own; here it is only kept from being absurd. */
static gboolean
check_sizes (const Assertion *assertion, GError **error)
{
  if (!within (assertion->client_data, PASSKEY_CLIENT_DATA_MAX))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ASSERTION_SIZE,
                         "the client data is empty or over %d bytes", PASSKEY_CLIENT_DATA_MAX);
  if (!within (assertion->auth_data, PASSKEY_ATTESTATION_MAX))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ASSERTION_SIZE,
                         "the authenticator data is empty or over %d bytes",
                         PASSKEY_ATTESTATION_MAX);
  if (!within (assertion->signature, PASSKEY_SIGNATURE_MAX))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ASSERTION_SIZE,
                         "the signature is empty or over %d bytes", PASSKEY_SIGNATURE_MAX);
  return TRUE;
}

static gboolean
fill (fido_assert_t *fido, const char *rp, const Assertion *assertion)
{
  gsize client_len, auth_len, signature_len;
  const guint8 *client = g_bytes_get_data (assertion->client_data, &client_len);
  const guint8 *auth = g_bytes_get_data (assertion->auth_data, &auth_len);
  const guint8 *signature = g_bytes_get_data (assertion->signature, &signature_len);

  return fido_assert_set_count (fido, 1) == FIDO_OK && fido_assert_set_rp (fido, rp) == FIDO_OK &&
         fido_assert_set_clientdata (fido, client, client_len) == FIDO_OK &&
         fido_assert_set_authdata_raw (fido, 0, auth, auth_len) == FIDO_OK &&
         fido_assert_set_sig (fido, 0, signature, signature_len) == FIDO_OK;
}

static gboolean
verify_es256 (const fido_assert_t *fido, GBytes *key)
{
  es256_pk_t *pk = es256_pk_new ();
  gsize len;
  const guint8 *data = g_bytes_get_data (key, &len);
  gboolean ok = FALSE;

  if (pk != NULL && len == PUBLIC_KEY_ES256_SIZE && es256_pk_from_ptr (pk, data, len) == FIDO_OK)
    ok = fido_assert_verify (fido, 0, COSE_ES256, pk) == FIDO_OK;
  es256_pk_free (&pk);
  return ok;
}

static gboolean
verify_eddsa (const fido_assert_t *fido, GBytes *key)
{
  eddsa_pk_t *pk = eddsa_pk_new ();
  gsize len;
  const guint8 *data = g_bytes_get_data (key, &len);
  gboolean ok = FALSE;

  if (pk != NULL && len == PUBLIC_KEY_EDDSA_SIZE && eddsa_pk_from_ptr (pk, data, len) == FIDO_OK)
    ok = fido_assert_verify (fido, 0, COSE_EDDSA, pk) == FIDO_OK;
  eddsa_pk_free (&pk);
  return ok;
}

gboolean
assertion_check_signature (const Passkey *passkey, const Assertion *assertion, GError **error)
{
  g_autoptr (EVP_PKEY) point = public_key_new (passkey->algorithm, passkey->public_key, error);
  g_autoptr (FidoAssert) fido = NULL;
  gboolean ok = FALSE;

  if (point == NULL)
    return FALSE;
  fido_init (0);
  fido = fido_assert_new ();
  if (fido != NULL && fill (fido, passkey->rp, assertion))
    ok = passkey->algorithm == PASSKEY_ES256 ? verify_es256 (fido, passkey->public_key)
                                             : verify_eddsa (fido, passkey->public_key);
  if (!ok)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_SIGNATURE,
                         "the signature is not this passkey's over this statement");
  return TRUE;
}

gboolean
passkey_verify (const Passkey *passkey,
                const guint8 challenge[PAE_DIGEST_SIZE],
                const Assertion *assertion,
                guint32 *out_counter,
                GError **error)
{
  const char *origin = passkey_origin (passkey->rp, passkey->origin);
  guint32 counter = 0;

  if (!check_sizes (assertion, error))
    return FALSE;
  if (!client_data_check (assertion->client_data, CLIENT_DATA_GET, challenge, origin, error))
    return FALSE;
  if (!auth_data_check_assertion (assertion->auth_data, passkey->rp, passkey->backup_eligible,
                                  &counter, error))
    return FALSE;
  if (!assertion_check_signature (passkey, assertion, error))
    return FALSE;

  *out_counter = counter;
  return TRUE;
}
