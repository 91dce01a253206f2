/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one place that sees a private key in the clear, for the time of one signature.  Called by
 * software.c.  The cost of guessing a passphrase is fixed here and checked again when a key is
 * opened; a file that asks for another scheme is not followed.
 */
#include "module/card/key/private-key.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <string.h>

/* 16 MiB, five times over: about a quarter of a second, and the most memory that OpenSSL's PKCS#8
 * code grants. */
#define SCRYPT_N 16384
#define SCRYPT_R 8
#define SCRYPT_P 5
#define SALT_SIZE 16
#define KEY_SIZE 32 /* AES-256 */

#define SECURE_HEAP (64 * 1024)
#define SECURE_HEAP_SMALLEST 32

G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_MD_CTX, EVP_MD_CTX_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_PKEY, EVP_PKEY_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PBE2PARAM, PBE2PARAM_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PKCS8_PRIV_KEY_INFO, PKCS8_PRIV_KEY_INFO_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SCRYPT_PARAMS, SCRYPT_PARAMS_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (X509_SIG, X509_SIG_free)

void
private_key_prepare (void)
{
  if (!CRYPTO_secure_malloc_initialized ())
    CRYPTO_secure_malloc_init (SECURE_HEAP, SECURE_HEAP_SMALLEST);
}

static gboolean
crypto_failed (GError **error, const char *what)
{
  ERR_clear_error ();
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "%s failed", what);
}

EVP_PKEY *
private_key_generate (GError **error)
{
  EVP_PKEY *key = EVP_EC_gen ("P-256");

  if (key == NULL)
    crypto_failed (error, "making a P-256 key");
  return key;
}

gboolean
private_key_point (EVP_PKEY *key, guint8 out_point[PRIVATE_KEY_POINT_SIZE], GError **error)
{
  guint8 point[1 + PRIVATE_KEY_POINT_SIZE] = { 0 };
  gsize len = 0;

  if (EVP_PKEY_get_octet_string_param (key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point, &len) !=
          1 ||
      len != sizeof point || point[0] != POINT_CONVERSION_UNCOMPRESSED)
    return crypto_failed (error, "reading the public key");

  memcpy (out_point, point + 1, PRIVATE_KEY_POINT_SIZE);
  return TRUE;
}

GBytes *
private_key_seal (EVP_PKEY *key, Secret *passphrase, GError **error)
{
  g_autoptr (PKCS8_PRIV_KEY_INFO) info = EVP_PKEY2PKCS8 (key);
  g_autoptr (X509_SIG) sealed = NULL;
  X509_ALGOR *scheme = NULL;
  guint8 salt[SALT_SIZE], *der = NULL;
  int len = 0;
  GBytes *bytes = NULL;

  if (info == NULL || RAND_bytes (salt, sizeof salt) != 1)
    {
      crypto_failed (error, "encoding the key");
      return NULL;
    }
  scheme = PKCS5_pbe2_set_scrypt (EVP_aes_256_cbc (), salt, sizeof salt, NULL, SCRYPT_N, SCRYPT_R,
                                  SCRYPT_P);
  if (scheme != NULL)
    sealed = PKCS8_set0_pbe ((const char *) secret_data (passphrase),
                             (int) secret_size (passphrase), info, scheme);
  if (sealed == NULL)
    {
      X509_ALGOR_free (scheme);
      crypto_failed (error, "encrypting the key");
      return NULL;
    }

  len = i2d_X509_SIG (sealed, &der);
  if (len <= 0)
    {
      crypto_failed (error, "encoding the encrypted key");
      return NULL;
    }
  bytes = g_bytes_new (der, (gsize) len);
  OPENSSL_free (der);
  return bytes;
}

static gboolean
integer_is (const ASN1_INTEGER *integer, guint64 expected)
{
  guint64 value = 0;

  return integer != NULL && ASN1_INTEGER_get_uint64 (&value, integer) == 1 && value == expected;
}

static gpointer
unpack (const X509_ALGOR *algorithm, int nid, const ASN1_ITEM *item)
{
  const ASN1_OBJECT *object = NULL;
  const void *parameter = NULL;
  int type = V_ASN1_UNDEF;

  X509_ALGOR_get0 (&object, &type, &parameter, algorithm);
  if (OBJ_obj2nid (object) != nid || type != V_ASN1_SEQUENCE)
    return NULL;
  return ASN1_item_unpack (parameter, item);
}

static gboolean
scheme_is_ours (const X509_SIG *sealed)
{
  g_autoptr (PBE2PARAM) scheme = NULL;
  g_autoptr (SCRYPT_PARAMS) cost = NULL;
  const ASN1_OBJECT *cipher = NULL;
  const X509_ALGOR *algorithm = NULL;

  X509_SIG_get0 (sealed, &algorithm, NULL);
  scheme = unpack (algorithm, NID_pbes2, ASN1_ITEM_rptr (PBE2PARAM));
  if (scheme == NULL)
    return FALSE;
  cost = unpack (scheme->keyfunc, NID_id_scrypt, ASN1_ITEM_rptr (SCRYPT_PARAMS));
  X509_ALGOR_get0 (&cipher, NULL, NULL, scheme->encryption);
  return cost != NULL && OBJ_obj2nid (cipher) == NID_aes_256_cbc && cost->salt != NULL &&
         ASN1_STRING_length (cost->salt) == SALT_SIZE &&
         integer_is (cost->costParameter, SCRYPT_N) && integer_is (cost->blockSize, SCRYPT_R) &&
         integer_is (cost->parallelizationParameter, SCRYPT_P) &&
         (cost->keyLength == NULL || integer_is (cost->keyLength, KEY_SIZE));
}

static X509_SIG *
read_sealed (GBytes *bytes, GError **error)
{
  g_autoptr (X509_SIG) sealed = NULL;
  gsize len;
  const guint8 *data = g_bytes_get_data (bytes, &len), *at = data;

  if (len > 0 && len <= PRIVATE_KEY_SEALED_MAX)
    sealed = d2i_X509_SIG (NULL, &at, (long) len);
  if (sealed == NULL || at != data + len || !scheme_is_ours (sealed))
    {
      ERR_clear_error ();
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_STORE,
                    "the stored key is not PKCS#8 under scrypt %d:%d:%d and AES-256", SCRYPT_N,
                    SCRYPT_R, SCRYPT_P);
      return NULL;
    }
  return g_steal_pointer (&sealed);
}

EVP_PKEY *
private_key_unseal (GBytes *sealed,
                    Secret *passphrase,
                    const guint8 point[PRIVATE_KEY_POINT_SIZE],
                    GError **error)
{
  g_autoptr (X509_SIG) read = read_sealed (sealed, error);
  g_autoptr (PKCS8_PRIV_KEY_INFO) info = NULL;
  g_autoptr (EVP_PKEY) key = NULL;
  guint8 found[PRIVATE_KEY_POINT_SIZE];

  if (read == NULL)
    return NULL;
  info =
      PKCS8_decrypt (read, (const char *) secret_data (passphrase), (int) secret_size (passphrase));
  if (info != NULL)
    key = EVP_PKCS82PKEY (info);
  ERR_clear_error ();

  /* a wrong passphrase now and then gives bytes that look like a key, never like this one */
  if (key == NULL || !EVP_PKEY_is_a (key, "EC") || !private_key_point (key, found, NULL) ||
      CRYPTO_memcmp (found, point, sizeof found) != 0)
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_PASSPHRASE,
                    "the passphrase does not open this passkey");
      return NULL;
    }
  return g_steal_pointer (&key);
}

GBytes *
private_key_sign (EVP_PKEY *key, GBytes *first, GBytes *second, GError **error)
{
  g_autoptr (EVP_MD_CTX) context = EVP_MD_CTX_new ();
  gsize first_len, second_len, len = 0;
  const guint8 *first_data = g_bytes_get_data (first, &first_len);
  const guint8 *second_data = g_bytes_get_data (second, &second_len);
  g_autofree guint8 *signature = NULL;

  if (context == NULL || EVP_DigestSignInit (context, NULL, EVP_sha256 (), NULL, key) != 1 ||
      EVP_DigestSignUpdate (context, first_data, first_len) != 1 ||
      EVP_DigestSignUpdate (context, second_data, second_len) != 1 ||
      EVP_DigestSignFinal (context, NULL, &len) != 1)
    {
      crypto_failed (error, "signing");
      return NULL;
    }
  signature = g_malloc (len);
  if (EVP_DigestSignFinal (context, signature, &len) != 1)
    {
      crypto_failed (error, "signing");
      return NULL;
    }
  return g_bytes_new (signature, len);
}
