/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one place where a digest or a tag over our own formats is made.  Every layer may call it.
 * It never hashes without a type in front, and a failure of the crypto library ends the process:
 * there is no digest that means "could not".
 */
#include "service/base/pae.h"

#include "service/base/encode.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#define DIGEST_PREFIX "sha256:"

/* What stands before a body; the types are constants of ours. */
#define HEADER_MAX 256
#define NUMBER_MAX 20 /* digits of a number of 64 bits */

static char *
put_text (char *at, const char *text, gsize len)
{
  memcpy (at, text, len);
  return at + len;
}

/* put_number: in decimal, and a space. */
static char *
put_number (char *at, gsize number)
{
  char digits[NUMBER_MAX];
  gsize i = sizeof digits;

  do
    digits[--i] = (char) ('0' + number % 10);
  while ((number /= 10) > 0);
  at = put_text (at, digits + i, sizeof digits - i);
  return put_text (at, " ", 1);
}

/* By hand: printf() takes as long as a digest of a hundred bytes, and an audit log has many. */
static gsize
pae_header (char out_header[HEADER_MAX], const char *type, gsize body_len)
{
  static const char version[] = "DSSEv1 ";
  gsize type_len = strlen (type);
  char *at = out_header;

  g_assert (type_len < HEADER_MAX - sizeof version - 2 * (NUMBER_MAX + 1) - 1);
  at = put_text (at, version, sizeof version - 1);
  at = put_number (at, type_len);
  at = put_text (at, type, type_len);
  at = put_text (at, " ", 1);
  at = put_number (at, body_len);
  return (gsize) (at - out_header);
}

GBytes *
pae_encode (const char *type, GBytes *body)
{
  gsize len;
  const void *data = g_bytes_get_data (body, &len);
  char header[HEADER_MAX];
  gsize header_len = pae_header (header, type, len);
  GByteArray *out = g_byte_array_sized_new ((guint) (header_len + len));

  g_byte_array_append (out, (const guint8 *) header, (guint) header_len);
  if (len > 0)
    g_byte_array_append (out, data, (guint) len);
  return g_byte_array_free_to_bytes (out);
}

/* Looked up once: to name it anew for each digest costs as much as one of some hundred bytes. */
static const EVP_MD *
sha256 (void)
{
  static gsize fetched;

  if (g_once_init_enter (&fetched))
    {
      EVP_MD *digest = EVP_MD_fetch (NULL, "SHA256", NULL);

      if (digest == NULL)
        g_error ("SHA-256 is not available");
      g_once_init_leave (&fetched, (gsize) digest);
    }
  return (const EVP_MD *) fetched;
}

/* One for each thread: to make one costs as much as a digest of some hundred bytes. */
static EVP_MD_CTX *
context (void)
{
  static GPrivate kept = G_PRIVATE_INIT ((GDestroyNotify) EVP_MD_CTX_free);
  EVP_MD_CTX *ctx = g_private_get (&kept);

  if (ctx != NULL)
    return ctx;
  ctx = EVP_MD_CTX_new ();
  g_private_set (&kept, ctx);
  return ctx;
}

void
pae_sha256 (const char *type, GBytes *body, guint8 out_digest[PAE_DIGEST_SIZE])
{
  gsize len;
  const void *data = g_bytes_get_data (body, &len);
  char header[HEADER_MAX];
  gsize header_len = pae_header (header, type, len);
  EVP_MD_CTX *ctx = context ();
  guint size = 0;

  if (ctx == NULL || EVP_DigestInit_ex (ctx, sha256 (), NULL) != 1 ||
      EVP_DigestUpdate (ctx, header, header_len) != 1 ||
      EVP_DigestUpdate (ctx, data, len) != 1 || EVP_DigestFinal_ex (ctx, out_digest, &size) != 1 ||
      size != PAE_DIGEST_SIZE)
    g_error ("SHA-256 is not available");
}

void
pae_hmac (const guint8 *key,
          gsize key_len,
          const char *type,
          GBytes *body,
          guint8 out_tag[PAE_DIGEST_SIZE])
{
  g_autoptr (GBytes) message = pae_encode (type, body);
  gsize len;
  const void *data = g_bytes_get_data (message, &len);
  guint size = 0;

  g_assert (key_len > 0 && key_len <= G_MAXINT);
  if (HMAC (EVP_sha256 (), key, (int) key_len, data, len, out_tag, &size) == NULL ||
      size != PAE_DIGEST_SIZE)
    g_error ("HMAC-SHA-256 is not available");
}

gboolean
digest_equal (const guint8 a[PAE_DIGEST_SIZE], const guint8 b[PAE_DIGEST_SIZE])
{
  return CRYPTO_memcmp (a, b, PAE_DIGEST_SIZE) == 0;
}

char *
digest_to_string (const guint8 digest[PAE_DIGEST_SIZE])
{
  g_autofree char *hex = hex_encode (digest, PAE_DIGEST_SIZE);

  return g_strconcat (DIGEST_PREFIX, hex, NULL);
}

gboolean
digest_from_string (const char *text, guint8 out_digest[PAE_DIGEST_SIZE])
{
  if (!g_str_has_prefix (text, DIGEST_PREFIX))
    return FALSE;
  return hex_decode (text + strlen (DIGEST_PREFIX), out_digest, PAE_DIGEST_SIZE);
}
