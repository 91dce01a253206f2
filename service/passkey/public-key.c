/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turns stored key bytes into an OpenSSL key.  OpenSSL checks a P-256 point; it takes any 32 bytes
 * for Ed25519, so that curve's equation is checked here.  Called by assertion.c before each
 * signature and by register.c before a key is enrolled; must never pass a key unlooked at.
 */
#include "service/passkey/public-key.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <string.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BN_CTX, BN_CTX_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_PKEY_CTX, EVP_PKEY_CTX_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_MD_CTX, EVP_MD_CTX_free)

/* RFC 8032, section 5.1: the prime and the constant d. */
#define ED25519_PRIME "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed"
#define ED25519_D "52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3"

static EVP_PKEY *
es256_new (const guint8 *xy)
{
  g_autoptr (EVP_PKEY_CTX) context = EVP_PKEY_CTX_new_from_name (NULL, "EC", NULL);
  guint8 point[1 + PUBLIC_KEY_ES256_SIZE] = { POINT_CONVERSION_UNCOMPRESSED };
  char group[] = "P-256";
  EVP_PKEY *key = NULL;
  OSSL_PARAM params[] = {
    OSSL_PARAM_construct_utf8_string (OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
    OSSL_PARAM_construct_octet_string (OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point),
    OSSL_PARAM_construct_end (),
  };

  memcpy (point + 1, xy, PUBLIC_KEY_ES256_SIZE);
  if (context == NULL || EVP_PKEY_fromdata_init (context) != 1 ||
      EVP_PKEY_fromdata (context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
    return NULL;
  return key;
}

/*
 * With u = y²: a point has y below the prime and x² = (u - 1) / (d u + 1) a square, which is so
 * where (u - 1) (d u + 1) is one.  The eight points of small order are those with u = 0, u = 1 or
 * d u² + 2 u = 1: doubled three times they vanish, and any signature fits them.
 */
static gboolean
ed25519_is_sound (BN_CTX *context, const guint8 *key)
{
  BIGNUM *p = BN_CTX_get (context), *d = BN_CTX_get (context), *y = BN_CTX_get (context);
  BIGNUM *u = BN_CTX_get (context), *du = BN_CTX_get (context), *t = BN_CTX_get (context);
  guint8 bytes[PUBLIC_KEY_EDDSA_SIZE];

  memcpy (bytes, key, sizeof bytes);
  bytes[sizeof bytes - 1] &= 0x7f; /* the sign of x */
  if (t == NULL || BN_hex2bn (&p, ED25519_PRIME) == 0 || BN_hex2bn (&d, ED25519_D) == 0 ||
      BN_lebin2bn (bytes, sizeof bytes, y) == NULL || BN_cmp (y, p) >= 0)
    return FALSE;
  if (!BN_mod_sqr (u, y, p, context) || BN_is_zero (u) || BN_is_one (u))
    return FALSE;

  if (!BN_mod_mul (du, d, u, p, context) || !BN_mod_mul (t, du, u, p, context) ||
      !BN_mod_add (t, t, u, p, context) || !BN_mod_add (t, t, u, p, context) || BN_is_one (t))
    return FALSE;

  if (!BN_add_word (du, 1) || !BN_sub_word (u, 1) || !BN_mod_mul (t, u, du, p, context))
    return FALSE;
  return BN_kronecker (t, p, context) == 1;
}

static EVP_PKEY *
eddsa_new (const guint8 *bytes)
{
  g_autoptr (BN_CTX) context = BN_CTX_new ();
  gboolean sound = FALSE;

  if (context == NULL)
    return NULL;
  BN_CTX_start (context);
  sound = ed25519_is_sound (context, bytes);
  BN_CTX_end (context);
  if (!sound)
    return NULL;
  return EVP_PKEY_new_raw_public_key (EVP_PKEY_ED25519, NULL, bytes, PUBLIC_KEY_EDDSA_SIZE);
}

EVP_PKEY *
public_key_new (PasskeyAlgorithm algorithm, GBytes *key, GError **error)
{
  g_autoptr (EVP_PKEY) result = NULL;
  gsize len;
  const guint8 *data = g_bytes_get_data (key, &len);

  switch (algorithm)
    {
    case PASSKEY_ES256:
      if (len == PUBLIC_KEY_ES256_SIZE)
        result = es256_new (data);
      break;
    case PASSKEY_EDDSA:
      if (len == PUBLIC_KEY_EDDSA_SIZE)
        result = eddsa_new (data);
      break;
    default:
      us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ALGORITHM,
                    "COSE algorithm %d is neither ES256 nor EdDSA", (int) algorithm);
      return NULL;
    }

  if (result == NULL)
    us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_PUBLIC_KEY,
                  "the public key of %" G_GSIZE_FORMAT " bytes is no point of its curve", len);
  return g_steal_pointer (&result);
}

gboolean
public_key_verify (
    EVP_PKEY *key, const guint8 *signature, gsize signature_len, GBytes *data, GError **error)
{
  g_autoptr (EVP_MD_CTX) context = EVP_MD_CTX_new ();
  const EVP_MD *digest = EVP_PKEY_is_a (key, "EC") ? EVP_sha256 () : NULL;
  gsize len;
  const guint8 *bytes = g_bytes_get_data (data, &len);

  if (context == NULL || EVP_DigestVerifyInit (context, NULL, digest, NULL, key) != 1 ||
      EVP_DigestVerify (context, signature, signature_len, bytes, len) != 1)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_SIGNATURE,
                         "the signature is not this key's");
  return TRUE;
}
