/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks the registration of a new passkey.  Attestation "none" proves nothing and is taken as
 * such; "packed" self proves that the key signs.  Anything with a certificate chain is refused: an
 * unverified chain must never look like a verified one.  Called by the executor for uid 0 alone.
 */
#include "service/passkey/passkey.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/passkey/auth-data.h"
#include "service/passkey/cbor.h"
#include "service/passkey/client-data.h"
#include "service/passkey/public-key.h"

#include <openssl/sha.h>
#include <string.h>

/* The attestation object, read; everything points into its bytes. */
typedef struct
{
  gboolean packed; /* else "none" */
  gboolean has_alg;
  gint64 alg; /* of the packed statement */
  const guint8 *signature;
  gsize signature_len;
  const guint8 *auth_data;
  gsize auth_data_len;
} Attestation;

static gboolean
malformed (GError **error, const char *what)
{
  return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ATTESTATION, "%s", what);
}

static gboolean
read_format (Cbor *cbor, Attestation *attestation, GError **error)
{
  const char *format;
  gsize len;

  if (!cbor_read_text (cbor, &format, &len))
    return malformed (error, "the attestation format is not a text");
  attestation->packed = cbor_text_is (format, len, "packed");
  if (!attestation->packed && !cbor_text_is (format, len, "none"))
    return malformed (error, "the attestation format is neither none nor packed");
  return TRUE;
}

static gboolean
read_packed_member (Cbor *cbor, Attestation *attestation)
{
  const char *name;
  gsize len;

  if (!cbor_read_text (cbor, &name, &len))
    return FALSE;
  if (cbor_text_is (name, len, "alg") && !attestation->has_alg)
    {
      attestation->has_alg = TRUE;
      return cbor_read_int (cbor, &attestation->alg);
    }
  if (cbor_text_is (name, len, "sig") && attestation->signature == NULL)
    return cbor_read_bytes (cbor, &attestation->signature, &attestation->signature_len);
  return FALSE;
}

static gboolean
read_statement (Cbor *cbor, Attestation *attestation, GError **error)
{
  guint64 members;

  if (!cbor_read_map (cbor, &members))
    return malformed (error, "the attestation statement is not a map");
  if (!attestation->packed)
    return members == 0 || malformed (error, "attestation none with a statement");
  if (members != 2 || !read_packed_member (cbor, attestation) ||
      !read_packed_member (cbor, attestation))
    return malformed (error, "a packed attestation is not alg and sig alone");
  return TRUE;
}

/* Browsers differ in the order; the statement can only be read after its format. */
static gboolean
read_members (Cbor *cbor, Attestation *attestation, GError **error)
{
  gboolean has_format = FALSE, has_statement = FALSE;

  for (guint i = 0; i < 3; i++)
    {
      const char *name;
      gsize len;

      if (!cbor_read_text (cbor, &name, &len))
        return malformed (error, "a name of the attestation object is not a text");
      if (cbor_text_is (name, len, "fmt") && !has_format)
        {
          has_format = TRUE;
          if (!read_format (cbor, attestation, error))
            return FALSE;
        }
      else if (cbor_text_is (name, len, "attStmt") && has_format && !has_statement)
        {
          has_statement = TRUE;
          if (!read_statement (cbor, attestation, error))
            return FALSE;
        }
      else if (cbor_text_is (name, len, "authData") && attestation->auth_data == NULL)
        {
          if (!cbor_read_bytes (cbor, &attestation->auth_data, &attestation->auth_data_len))
            return malformed (error, "authData is not a byte string");
        }
      else
        return malformed (error, "a member of the attestation object is unknown or twice there");
    }
  return TRUE;
}

static gboolean
read_attestation (GBytes *bytes, Attestation *attestation, GError **error)
{
  gsize len;
  const guint8 *data = g_bytes_get_data (bytes, &len);
  guint64 members;
  Cbor cbor;

  cbor_init (&cbor, data, len);
  if (!cbor_read_map (&cbor, &members) || members != 3)
    return malformed (error, "the attestation object is not a map of three");
  if (!read_members (&cbor, attestation, error))
    return FALSE;
  if (!cbor_at_end (&cbor))
    return malformed (error, "bytes are left over after the attestation object");
  return TRUE;
}

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

/* Section 8.2: the key itself signs authenticator data and hash of the client data. */
static gboolean
check_self (const Attestation *attestation,
            const Passkey *passkey,
            GBytes *client_data,
            GError **error)
{
  g_autoptr (EVP_PKEY) key = NULL;
  g_autoptr (GBytes) data = NULL;
  guint8 *message = NULL;
  gsize len;
  const guint8 *client = g_bytes_get_data (client_data, &len);

  if (attestation->alg != passkey->algorithm)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ALGORITHM,
                         "the attestation is of another algorithm than the key");
  if (attestation->signature_len > PASSKEY_SIGNATURE_MAX)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ASSERTION_SIZE,
                         "the attestation's signature is over %d bytes", PASSKEY_SIGNATURE_MAX);
  key = public_key_new (passkey->algorithm, passkey->public_key, error);
  if (key == NULL)
    return FALSE;

  message = g_malloc (attestation->auth_data_len + SHA256_DIGEST_LENGTH);
  memcpy (message, attestation->auth_data, attestation->auth_data_len);
  SHA256 (client, len, message + attestation->auth_data_len);
  data = g_bytes_new_take (message, attestation->auth_data_len + SHA256_DIGEST_LENGTH);
  return public_key_verify (key, attestation->signature, attestation->signature_len, data, error);
}

Passkey *
passkey_register (const Registration *registration, GError **error)
{
  g_autoptr (Passkey) passkey = g_new0 (Passkey, 1);
  Attestation attestation = { 0 };

  if (!check_sizes (registration, error))
    return NULL;
  if (!client_data_check (registration->client_data, CLIENT_DATA_CREATE, registration->challenge,
                          passkey_origin (registration->rp, registration->origin), error))
    return NULL;
  if (!read_attestation (registration->attestation, &attestation, error))
    return NULL;
  if (!auth_data_check_registration (attestation.auth_data, attestation.auth_data_len,
                                     registration->rp, error))
    return NULL;
  if (!auth_data_read_attested (attestation.auth_data, attestation.auth_data_len, passkey, error))
    return NULL;
  if (attestation.packed && !check_self (&attestation, passkey, registration->client_data, error))
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
