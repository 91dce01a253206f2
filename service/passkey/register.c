/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks the registration of a new passkey.  Attestation "none" proves nothing and is taken as
 * such; "packed" self proves that the key signs.  A certificate chain is taken only where there are
 * roots to hold it against, and then nothing else is: an unverified chain must never look like a
 * verified one.  Called by the executor for uid 0 alone.
 */
#include "service/passkey/passkey.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/passkey/attestation.h"
#include "service/passkey/auth-data.h"
#include "service/passkey/client-data.h"
#include "service/passkey/public-key.h"

#include <openssl/sha.h>
#include <string.h>

static gboolean
check_sizes (const Registration *registration, GError **error)
{
  gsize client = g_bytes_get_size (registration->client_data);
  gsize attestation = g_bytes_get_size (registration->attestation);

  if (client == 0 || client > PASSKEY_CLIENT_DATA_MAX)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ASSERTION_SIZE,
                         "the client data is empty or over %d bytes", PASSKEY_CLIENT_DATA_MAX);
  if (attestation == 0 || attestation > PASSKEY_ATTESTATION_MAX)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ASSERTION_SIZE,
                         "the attestation object is empty or over %d bytes",
                         PASSKEY_ATTESTATION_MAX);
  return TRUE;
}

/* Section 8.2: what is signed, by the key itself or by the one that its maker vouches for; NULL where
 * there is no memory for the hash. */
static GBytes *
signed_data (const Attestation *attestation, GBytes *client_data)
{
  gsize len;
  const guint8 *client = g_bytes_get_data (client_data, &len);
  g_autofree guint8 *message = g_malloc (attestation->auth_data_len + SHA256_DIGEST_LENGTH);

  memcpy (message, attestation->auth_data, attestation->auth_data_len);
  if (SHA256 (client, len, message + attestation->auth_data_len) == NULL)
    return NULL;
  return g_bytes_new_take (g_steal_pointer (&message),
                           attestation->auth_data_len + SHA256_DIGEST_LENGTH);
}

static gboolean
check_self (const Attestation *attestation, const Passkey *passkey, GBytes *data, GError **error)
{
  g_autoptr (EVP_PKEY) key = NULL;

  if (attestation->algorithm != passkey->algorithm)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ALGORITHM,
                         "the attestation is of another algorithm than the key");
  if (attestation->signature_len > PASSKEY_SIGNATURE_MAX)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ASSERTION_SIZE,
                         "the attestation's signature is over %d bytes", PASSKEY_SIGNATURE_MAX);
  key = public_key_new (passkey->algorithm, passkey->public_key, error);
  if (key == NULL)
    return FALSE;
  return public_key_verify (key, attestation->signature, attestation->signature_len, data, error);
}

/* A chain is verified or refused, never overlooked. */
static gboolean
check_form (const Registration *registration, const Attestation *attestation, GError **error)
{
  gboolean chain = attestation->form == ATTESTATION_CHAIN;

  if (registration->roots == NULL && chain)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ATTESTATION,
                         "a certificate chain where none is verified");
  if (registration->roots != NULL && !chain)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ATTESTATION_CHAIN,
                         "no maker attests this key");
  return TRUE;
}

/* A key that can be copied or backed up is no piece of hardware, whoever made it. */
static gboolean
check_maker (const Registration *registration,
             const Attestation *attestation,
             const Passkey *passkey,
             GBytes *data,
             GError **error)
{
  if (passkey->backup_eligible)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_BACKUP_FLAGS,
                         "a passkey that can be backed up is not bound to hardware");
  return attestation_roots_verify (registration->roots, attestation, passkey->aaguid, data, error);
}

static gboolean
check_attestation (const Registration *registration,
                   const Attestation *attestation,
                   const Passkey *passkey,
                   GError **error)
{
  g_autoptr (GBytes) data = signed_data (attestation, registration->client_data);

  if (data == NULL)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ATTESTATION,
                         "what is attested cannot be hashed");
  if (registration->roots != NULL)
    return check_maker (registration, attestation, passkey, data, error);
  return attestation->form == ATTESTATION_NONE || check_self (attestation, passkey, data, error);
}

Passkey *
passkey_register (const Registration *registration, GError **error)
{
  g_autoptr (Passkey) passkey = g_new0 (Passkey, 1);
  Attestation attestation;

  if (!check_sizes (registration, error))
    return NULL;
  if (!client_data_check (registration->client_data, CLIENT_DATA_CREATE, registration->challenge,
                          passkey_origin (registration->rp, registration->origin), error))
    return NULL;
  if (!attestation_read (registration->attestation, &attestation, error) ||
      !check_form (registration, &attestation, error))
    return NULL;
  if (!auth_data_check_registration (attestation.auth_data, attestation.auth_data_len,
                                     registration->rp, error))
    return NULL;
  if (!auth_data_read_attested (attestation.auth_data, attestation.auth_data_len, passkey, error))
    return NULL;
  if (!check_attestation (registration, &attestation, passkey, error))
    return NULL;

  passkey->name = g_strdup ("");
  passkey->kind = g_strdup ("");
  passkey->label = g_strdup ("");
  passkey->rp = g_strdup (registration->rp);
  passkey->origin = g_strdup (registration->origin);
  passkey->uid = (uid_t) -1;
  passkey->active = TRUE;
  return g_steal_pointer (&passkey);
}
