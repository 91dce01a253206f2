/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signing by OpenSSL.  It copies a private key: the copy is made in OpenSSL's secure heap, which is
 * locked and wiped, and where there is no such heap nothing is signed.  Called by the executor to
 * sign and by everyone to verify.
 */
#include "service/base/ed25519.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/pae.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#define HEAP_SIZE 16384
#define HEAP_MIN 16

G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_PKEY, EVP_PKEY_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_MD_CTX, EVP_MD_CTX_free)

static EVP_PKEY *
private_key (Secret *seed, GError **error)
{
  g_autoptr (EVP_PKEY) key = NULL;

  if (!CRYPTO_secure_malloc_initialized () && CRYPTO_secure_malloc_init (HEAP_SIZE, HEAP_MIN) != 1)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                    "cannot lock memory for a private key");
      return NULL;
    }
  if (secret_size (seed) == ED25519_SEED_SIZE)
    key = EVP_PKEY_new_raw_private_key (EVP_PKEY_ED25519, NULL, secret_data (seed),
                                        ED25519_SEED_SIZE);
  if (key == NULL)
    us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "this is no private key");
  return g_steal_pointer (&key);
}

gboolean
ed25519_public (Secret *seed, guint8 out_public[ED25519_PUBLIC_SIZE], GError **error)
{
  g_autoptr (EVP_PKEY) key = private_key (seed, error);
  gsize len = ED25519_PUBLIC_SIZE;

  if (key == NULL)
    return FALSE;
  if (EVP_PKEY_get_raw_public_key (key, out_public, &len) != 1 || len != ED25519_PUBLIC_SIZE)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "the crypto library gives no public key");
  return TRUE;
}

gboolean
ed25519_sign (Secret *seed,
              const char *type,
              GBytes *body,
              guint8 out_signature[ED25519_SIGNATURE_SIZE],
              GError **error)
{
  g_autoptr (EVP_PKEY) key = private_key (seed, error);
  g_autoptr (EVP_MD_CTX) context = EVP_MD_CTX_new ();
  g_autoptr (GBytes) message = pae_encode (type, body);
  gsize len = ED25519_SIGNATURE_SIZE;

  if (key == NULL)
    return FALSE;
  if (context == NULL || EVP_DigestSignInit (context, NULL, NULL, NULL, key) != 1 ||
      EVP_DigestSign (context, out_signature, &len, g_bytes_get_data (message, NULL),
                      g_bytes_get_size (message)) != 1 ||
      len != ED25519_SIGNATURE_SIZE)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "the crypto library does not sign");
  return TRUE;
}

gboolean
ed25519_verify (const guint8 public[ED25519_PUBLIC_SIZE],
                const char *type,
                GBytes *body,
                const guint8 signature[ED25519_SIGNATURE_SIZE])
{
  g_autoptr (EVP_PKEY) key =
      EVP_PKEY_new_raw_public_key (EVP_PKEY_ED25519, NULL, public, ED25519_PUBLIC_SIZE);
  g_autoptr (EVP_MD_CTX) context = EVP_MD_CTX_new ();
  g_autoptr (GBytes) message = pae_encode (type, body);

  return key != NULL && context != NULL &&
         EVP_DigestVerifyInit (context, NULL, NULL, NULL, key) == 1 &&
         EVP_DigestVerify (context, signature, ED25519_SIGNATURE_SIZE,
                           g_bytes_get_data (message, NULL), g_bytes_get_size (message)) == 1;
}
