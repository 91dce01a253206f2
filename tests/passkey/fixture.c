/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The test authenticator.  It writes CBOR by hand, apart from the reader that it tests. */
#include "tests/passkey/fixture.h"

#include "service/base/encode.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <string.h>

static GBytes *
public_bytes (EVP_PKEY *key, PasskeyAlgorithm algorithm)
{
  guint8 data[65];
  gsize len = sizeof data;

  if (algorithm == PASSKEY_EDDSA)
    {
      g_assert_cmpint (EVP_PKEY_get_raw_public_key (key, data, &len), ==, 1);
      return g_bytes_new (data, len);
    }
  g_assert_cmpint (
      EVP_PKEY_get_octet_string_param (key, OSSL_PKEY_PARAM_PUB_KEY, data, sizeof data, &len), ==,
      1);
  g_assert_cmpuint (len, ==, 65);
  return g_bytes_new (data + 1, 64);
}

TestKey *
test_key_new (PasskeyAlgorithm algorithm)
{
  TestKey *key = g_new0 (TestKey, 1);
  guint8 id[32];

  key->key =
      algorithm == PASSKEY_EDDSA ? EVP_PKEY_Q_keygen (NULL, NULL, "ED25519") : EVP_EC_gen ("P-256");
  g_assert_nonnull (key->key);
  g_assert_cmpint (RAND_bytes (id, sizeof id), ==, 1);
  g_assert_cmpint (RAND_bytes (key->challenge, sizeof key->challenge), ==, 1);

  key->passkey = g_new0 (Passkey, 1);
  key->passkey->credential = g_bytes_new (id, sizeof id);
  key->passkey->name = g_strdup ("it.lead");
  key->passkey->uid = 1001;
  key->passkey->kind = g_strdup ("software");
  key->passkey->algorithm = algorithm;
  key->passkey->public_key = public_bytes (key->key, algorithm);
  key->passkey->rp = g_strdup (TEST_RP);
  key->passkey->origin = g_strdup ("");
  key->passkey->label = g_strdup ("test");
  key->passkey->active = TRUE;
  return key;
}

void
test_key_free (TestKey *key)
{
  EVP_PKEY_free (key->key);
  passkey_free (key->passkey);
  g_free (key);
}

GBytes *
test_client_data (const char *type,
                  const guint8 *challenge,
                  gsize challenge_len,
                  const char *origin,
                  const char *extra)
{
  g_autofree char *text = base64url_encode (challenge, challenge_len);
  char *json = g_strdup_printf ("{\"type\":\"%s\",\"challenge\":\"%s\",\"origin\":\"%s\","
                                "\"crossOrigin\":false%s}",
                                type, text, origin, extra);

  return g_bytes_new_take (json, strlen (json));
}

GBytes *
test_auth_data (const char *rp, guint8 flags, guint32 counter, GByteArray *tail)
{
  GByteArray *data = g_byte_array_new ();
  guint8 hash[32];
  guint32 big = GUINT32_TO_BE (counter);

  SHA256 ((const guint8 *) rp, strlen (rp), hash);
  g_byte_array_append (data, hash, sizeof hash);
  g_byte_array_append (data, &flags, 1);
  g_byte_array_append (data, (const guint8 *) &big, sizeof big);
  if (tail != NULL)
    g_byte_array_append (data, tail->data, tail->len);
  return g_byte_array_free_to_bytes (data);
}

GBytes *
test_sign (EVP_PKEY *key, GBytes *client_data, GBytes *auth_data)
{
  EVP_MD_CTX *context = EVP_MD_CTX_new ();
  g_autoptr (GByteArray) message = g_byte_array_new ();
  gsize client_len, auth_len, len = 256;
  const guint8 *client = g_bytes_get_data (client_data, &client_len);
  const guint8 *auth = g_bytes_get_data (auth_data, &auth_len);
  guint8 hash[32], signature[256];

  SHA256 (client, client_len, hash);
  g_byte_array_append (message, auth, (guint) auth_len);
  g_byte_array_append (message, hash, sizeof hash);
  g_assert_cmpint (EVP_DigestSignInit (context, NULL,
                                       EVP_PKEY_is_a (key, "EC") ? EVP_sha256 () : NULL, NULL, key),
                   ==, 1);
  g_assert_cmpint (EVP_DigestSign (context, signature, &len, message->data, message->len), ==, 1);
  EVP_MD_CTX_free (context);
  return g_bytes_new (signature, len);
}

Assertion
test_assertion (TestKey *key, GBytes *client_data, GBytes *auth_data)
{
  Assertion assertion = { client_data, auth_data, NULL };

  assertion.signature = test_sign (key->key, client_data, auth_data);
  return assertion;
}

void
cbor_put_head (GByteArray *out, guint major, guint64 value)
{
  guint8 head[9];
  guint width = value < 24 ? 0 : value < 0x100 ? 1 : value < 0x10000 ? 2 : 4;

  g_assert_cmpuint (value, <, G_GUINT64_CONSTANT (0x100000000));
  head[0] = (guint8) (major << 5 | (width == 0 ? value : width == 1 ? 24 : width == 2 ? 25 : 26));
  for (guint i = 0; i < width; i++)
    head[1 + i] = (guint8) (value >> 8 * (width - 1 - i));
  g_byte_array_append (out, head, 1 + width);
}

void
cbor_put_int (GByteArray *out, gint64 value)
{
  cbor_put_head (out, value < 0, value < 0 ? (guint64) (-1 - value) : (guint64) value);
}

void
cbor_put_text (GByteArray *out, const char *text)
{
  cbor_put_head (out, 3, strlen (text));
  g_byte_array_append (out, (const guint8 *) text, (guint) strlen (text));
}

void
cbor_put_bytes (GByteArray *out, const void *data, gsize len)
{
  cbor_put_head (out, 2, len);
  g_byte_array_append (out, data, (guint) len);
}

static void
put_cose_key (GByteArray *out, const Passkey *passkey)
{
  const guint8 *data = g_bytes_get_data (passkey->public_key, NULL);
  gboolean ec = passkey->algorithm == PASSKEY_ES256;

  cbor_put_head (out, 5, ec ? 5 : 4);
  cbor_put_int (out, 1);
  cbor_put_int (out, ec ? 2 : 1);
  cbor_put_int (out, 3);
  cbor_put_int (out, passkey->algorithm);
  cbor_put_int (out, -1);
  cbor_put_int (out, ec ? 1 : 6);
  cbor_put_int (out, -2);
  cbor_put_bytes (out, data, 32);
  if (!ec)
    return;
  cbor_put_int (out, -3);
  cbor_put_bytes (out, data + 32, 32);
}

GByteArray *
test_attested (TestKey *key, gsize id_len)
{
  GByteArray *out = g_byte_array_new ();
  g_autofree guint8 *id = g_malloc0 (id_len + 1);
  guint8 head[18] = { 0xaa };

  head[16] = (guint8) (id_len >> 8);
  head[17] = (guint8) id_len;
  memset (id, 0x5a, id_len);
  g_byte_array_append (out, head, sizeof head);
  g_byte_array_append (out, id, (guint) id_len);
  put_cose_key (out, key->passkey);
  return out;
}

GBytes *
test_attestation (GBytes *auth_data, int algorithm, GBytes *signature)
{
  GByteArray *out = g_byte_array_new ();
  gsize len;
  const void *data;

  cbor_put_head (out, 5, 3);
  cbor_put_text (out, "fmt");
  cbor_put_text (out, signature != NULL ? "packed" : "none");
  cbor_put_text (out, "attStmt");
  cbor_put_head (out, 5, signature != NULL ? 2 : 0);
  if (signature != NULL)
    {
      data = g_bytes_get_data (signature, &len);
      cbor_put_text (out, "alg");
      cbor_put_int (out, algorithm);
      cbor_put_text (out, "sig");
      cbor_put_bytes (out, data, len);
    }
  data = g_bytes_get_data (auth_data, &len);
  cbor_put_text (out, "authData");
  cbor_put_bytes (out, data, len);
  return g_byte_array_free_to_bytes (out);
}
