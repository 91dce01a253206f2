/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Assertions.  A signature can't be guessed, so the target owns the key and signs what it is given:
 * the first byte says how (bits: EdDSA, don't sign, enrolled as backed up, client data padded beyond
 * its limit), the second how many bytes are authenticator data, the rest is client data, or with
 * don't sign ends with as many bytes of signature as its last byte says.  "@" at the begin of the
 * authenticator data is the hash of the relying party.  What passes is what the standard wants, by a
 * second look, and no longer passes with any one bit of its signature, data or challenge changed.
 */
#include "service/passkey/auth-data.h"
#include "service/passkey/public-key.h"
#include "tests/fuzz/refusal.h"
#include "tests/fuzz/starve.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <openssl/pem.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <string.h>

#define RP "undersign:00000000000000000000000000000000"

enum
{
  INPUT_EDDSA = 1,
  INPUT_UNSIGNED = 2,
  INPUT_BACKED_UP = 4,
  INPUT_LONG = 8,
};

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Made for this file; a secret to nobody. */
static const guint8 ed25519_seed[32] = "undersign fuzz target: eddsa key";
static const char es256_pem[] = "-----BEGIN PRIVATE KEY-----\n"
                                "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggn+YThQ9+ZobbUR/\n"
                                "cKdyEHucq+SPNVv4KwXqWk/jldOhRANCAARsEdxfSp89PxCG4U/Ll6k2Kouzq5md\n"
                                "Un1XS6WkWfPwBNzOdPhxlDy9FQRxkvzy14NhGBhd1VLDxVD2nkM7t6vB\n"
                                "-----END PRIVATE KEY-----\n";

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BIO, BIO_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_MD_CTX, EVP_MD_CTX_free)

static EVP_PKEY *
private_key (PasskeyAlgorithm algorithm)
{
  g_autoptr (BIO) memory = NULL;

  if (algorithm == PASSKEY_EDDSA)
    return EVP_PKEY_new_raw_private_key (EVP_PKEY_ED25519, NULL, ed25519_seed, sizeof ed25519_seed);
  memory = BIO_new_mem_buf (es256_pem, -1);
  return PEM_read_bio_PrivateKey (memory, NULL, NULL, NULL);
}

static GBytes *
public_bytes (EVP_PKEY *key, PasskeyAlgorithm algorithm)
{
  guint8 bytes[PUBLIC_KEY_ES256_SIZE + 1];
  gsize len = sizeof bytes;

  if (algorithm == PASSKEY_EDDSA)
    {
      g_assert (EVP_PKEY_get_raw_public_key (key, bytes, &len) == 1);
      return g_bytes_new (bytes, len);
    }
  g_assert (EVP_PKEY_get_octet_string_param (key, "encoded-pub-key", bytes, sizeof bytes, &len));
  g_assert (len == sizeof bytes);
  return g_bytes_new (bytes + 1, len - 1);
}

static GBytes *
sign (EVP_PKEY *key, PasskeyAlgorithm algorithm, GBytes *client_data, GBytes *auth_data)
{
  g_autoptr (EVP_MD_CTX) context = EVP_MD_CTX_new ();
  g_autoptr (GByteArray) message = g_byte_array_new ();
  guint8 digest[SHA256_DIGEST_LENGTH], signature[PASSKEY_SIGNATURE_MAX];
  gsize len = sizeof signature;

  SHA256 (g_bytes_get_data (client_data, NULL), g_bytes_get_size (client_data), digest);
  g_byte_array_append (message, g_bytes_get_data (auth_data, NULL),
                       (guint) g_bytes_get_size (auth_data));
  g_byte_array_append (message, digest, sizeof digest);
  g_assert (EVP_DigestSignInit (context, NULL, algorithm == PASSKEY_EDDSA ? NULL : EVP_sha256 (),
                                NULL, key) == 1);
  g_assert (EVP_DigestSign (context, signature, &len, message->data, message->len) == 1);
  return g_bytes_new (signature, len);
}

/* --- what the input stands for --- */

static GBytes *
auth_data_of (const uint8_t *data, gsize len)
{
  GByteArray *bytes = g_byte_array_new ();
  guint8 digest[SHA256_DIGEST_LENGTH];

  if (len > 0 && data[0] == '@')
    {
      SHA256 ((const guint8 *) RP, strlen (RP), digest);
      g_byte_array_append (bytes, digest, sizeof digest);
      data++;
      len--;
    }
  g_byte_array_append (bytes, data, (guint) len);
  return g_byte_array_free_to_bytes (bytes);
}

static GBytes *
client_data_of (const uint8_t *data, gsize len, guint8 how)
{
  g_autofree char *padding = g_strnfill (PASSKEY_CLIENT_DATA_MAX, ' ');
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_append (bytes, data, (guint) len);
  if (how & INPUT_LONG)
    g_byte_array_append (bytes, (const guint8 *) padding, PASSKEY_CLIENT_DATA_MAX);
  return g_byte_array_free_to_bytes (bytes);
}

/* --- what must hold --- */

static GBytes *
flip (GBytes *bytes, gsize bit)
{
  gsize len;
  guint8 *copy = g_memdup2 (g_bytes_get_data (bytes, &len), g_bytes_get_size (bytes));

  copy[bit / 8 % len] ^= (guint8) (1 << bit % 8);
  return g_bytes_new_take (copy, len);
}

static gboolean
passes (const Passkey *passkey, GBytes *client_data, GBytes *auth_data, GBytes *signature)
{
  static const guint8 challenge[PAE_DIGEST_SIZE] = { 0 };
  Assertion assertion = { client_data, auth_data, signature };
  guint32 counter = 0;

  return passkey_verify (passkey, challenge, &assertion, &counter, NULL);
}

static void
check_passed (const Passkey *passkey, const Assertion *assertion, guint32 counter, gsize bit)
{
  const guint8 *auth = g_bytes_get_data (assertion->auth_data, NULL);
  g_autoptr (GBytes) client_data = flip (assertion->client_data, bit);
  g_autoptr (GBytes) auth_data = flip (assertion->auth_data, bit);
  g_autoptr (GBytes) signature = flip (assertion->signature, bit);
  guint8 digest[SHA256_DIGEST_LENGTH];

  SHA256 ((const guint8 *) RP, strlen (RP), digest);
  g_assert (g_bytes_get_size (assertion->auth_data) == 37);
  g_assert (memcmp (auth, digest, sizeof digest) == 0);
  g_assert ((auth[32] & 0xe7) == 0x05 && (!(auth[32] & 0x10) || (auth[32] & 0x08)));
  g_assert (!!(auth[32] & 0x08) == passkey->backup_eligible);
  g_assert (counter == ((guint32) auth[33] << 24 | (guint32) auth[34] << 16 |
                        (guint32) auth[35] << 8 | auth[36]));
  g_assert (!passes (passkey, client_data, assertion->auth_data, assertion->signature));
  g_assert (!passes (passkey, assertion->client_data, auth_data, assertion->signature));
  g_assert (!passes (passkey, assertion->client_data, assertion->auth_data, signature));
}

typedef struct
{
  const Passkey *passkey;
  const Assertion *assertion;
} Attempt;

static gboolean
attempt (gpointer data)
{
  const Attempt *one = data;

  return passes (one->passkey, one->assertion->client_data, one->assertion->auth_data,
                 one->assertion->signature);
}

static void
check_assertion (const Passkey *passkey, const Assertion *assertion, gsize bit)
{
  static const guint8 challenge[PAE_DIGEST_SIZE] = { 0 }, other[PAE_DIGEST_SIZE] = { 1 };
  g_autoptr (GError) error = NULL;
  guint32 counter = 0;
  gboolean ok = passkey_verify (passkey, challenge, assertion, &counter, &error);

  g_assert (ok == (error == NULL));
  g_assert (ok || g_error_matches (error, US_ERROR, US_ERROR_WRONG_ASSERTION));
  refusal_seen (error);
  starve (attempt, &(Attempt){ passkey, assertion });
  if (!ok)
    return;
  g_assert (!passkey_verify (passkey, other, assertion, &counter, NULL));
  check_passed (passkey, assertion, counter, bit);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  guint8 how = size > 1 ? data[0] : INPUT_UNSIGNED;
  gsize auth_len = size > 1 ? MIN (data[1], size - 2) : 0;
  gsize rest = size > 1 ? size - 2 - auth_len : 0;
  const uint8_t *at = size > 1 ? data + 2 + auth_len : data;
  gsize signature_len =
      (how & INPUT_UNSIGNED) && rest > 0 ? MIN (data[size - 1], rest - 1) : 0;
  gsize client_len = rest - signature_len - ((how & INPUT_UNSIGNED) && rest > 0 ? 1 : 0);
  PasskeyAlgorithm algorithm = how & INPUT_EDDSA ? PASSKEY_EDDSA : PASSKEY_ES256;
  g_autoptr (EVP_PKEY) key = private_key (algorithm);
  g_autoptr (GBytes) auth_data = auth_data_of (data + MIN (size, 2), auth_len);
  g_autoptr (GBytes) client_data = client_data_of (at, client_len, how);
  g_autoptr (GBytes) signature = how & INPUT_UNSIGNED
                                     ? g_bytes_new (at + client_len, signature_len)
                                     : sign (key, algorithm, client_data, auth_data);
  g_autoptr (GBytes) public_key = public_bytes (key, algorithm);
  char rp[] = RP, origin[] = "";
  Passkey passkey = { .algorithm = algorithm,
                      .public_key = public_key,
                      .rp = rp,
                      .origin = origin,
                      .backup_eligible = (how & INPUT_BACKED_UP) != 0,
                      .active = TRUE };
  Assertion assertion = { client_data, auth_data, signature };

  check_assertion (&passkey, &assertion, size);
  return 0;
}
