/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes client data, authenticator data and attestation object.  Called by software.c, and by
 * security.c for what a device leaves to its host.  Must never be given text that is not checked,
 * since it writes JSON by format.
 */
#include "module/card/key/ceremony.h"

#include "service/base/encode.h"

#include <openssl/sha.h>
#include <string.h>

#define RP_PREFIX "undersign:"

#define FLAG_USER_PRESENT 0x01
#define FLAG_USER_VERIFIED 0x04
#define FLAG_ATTESTED 0x40

/* Major types of CBOR, RFC 8949. */
#define CBOR_BYTES 2
#define CBOR_TEXT 3
#define CBOR_MAP 5

gboolean
ceremony_rp_is_valid (const char *rp)
{
  return g_str_has_prefix (rp, RP_PREFIX) && id_is_valid (rp + strlen (RP_PREFIX));
}

GBytes *
ceremony_client_data (const char *type, const guint8 challenge[PAE_DIGEST_SIZE], const char *rp)
{
  g_autofree char *encoded = base64url_encode (challenge, PAE_DIGEST_SIZE);
  char *json = NULL;

  g_assert (ceremony_rp_is_valid (rp));
  json = g_strdup_printf (
      "{\"type\":\"%s\",\"challenge\":\"%s\",\"origin\":\"%s\",\"crossOrigin\":false}", type,
      encoded, rp);
  return g_bytes_new_take (json, strlen (json));
}

static void
append_header (GByteArray *out, const char *rp, guint8 flags, guint32 counter)
{
  guint8 hash[SHA256_DIGEST_LENGTH];
  guint32 big_endian = GUINT32_TO_BE (counter);

  if (SHA256 ((const guint8 *) rp, strlen (rp), hash) == NULL)
    g_error ("out of memory");
  g_byte_array_append (out, hash, sizeof hash);
  g_byte_array_append (out, &flags, 1);
  g_byte_array_append (out, (const guint8 *) &big_endian, sizeof big_endian);
}

GBytes *
ceremony_auth_data (const char *rp, guint32 counter)
{
  GByteArray *out = g_byte_array_new ();

  append_header (out, rp, FLAG_USER_PRESENT | FLAG_USER_VERIFIED, counter);
  return g_byte_array_free_to_bytes (out);
}

static void
append_head (GByteArray *out, guint8 major, gsize value)
{
  guint8 head[3] = { (guint8) (major << 5) };
  guint len = 1;

  g_assert (value <= G_MAXUINT16);
  if (value < 24)
    head[0] |= (guint8) value;
  else if (value <= G_MAXUINT8)
    {
      head[0] |= 24;
      head[len++] = (guint8) value;
    }
  else
    {
      head[0] |= 25;
      head[len++] = (guint8) (value >> 8);
      head[len++] = (guint8) value;
    }
  g_byte_array_append (out, head, len);
}

static void
append_text (GByteArray *out, const char *text)
{
  append_head (out, CBOR_TEXT, strlen (text));
  g_byte_array_append (out, (const guint8 *) text, (guint) strlen (text));
}

static void
append_bytes (GByteArray *out, const guint8 *data, gsize len)
{
  append_head (out, CBOR_BYTES, len);
  g_byte_array_append (out, data, (guint) len);
}

/* RFC 9053: kty 2 (EC2), alg -7 (ES256), crv 1 (P-256), then x under -2 and y under -3. */
static void
append_cose_key (GByteArray *out, const guint8 point[CEREMONY_POINT_SIZE])
{
  static const guint8 head[] = { 0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01 };
  static const guint8 x_label = 0x21, y_label = 0x22;

  g_byte_array_append (out, head, sizeof head);
  g_byte_array_append (out, &x_label, 1);
  append_bytes (out, point, CEREMONY_POINT_SIZE / 2);
  g_byte_array_append (out, &y_label, 1);
  append_bytes (out, point + CEREMONY_POINT_SIZE / 2, CEREMONY_POINT_SIZE / 2);
}

static void
append_attested (GByteArray *out, GBytes *credential, const guint8 point[CEREMONY_POINT_SIZE])
{
  static const guint8 aaguid[16] = { 0 }; /* as attestation "none" wants it */
  gsize len;
  const guint8 *id = g_bytes_get_data (credential, &len);
  const guint8 size[2] = { (guint8) (len >> 8), (guint8) len };

  g_byte_array_append (out, aaguid, sizeof aaguid);
  g_byte_array_append (out, size, sizeof size);
  g_byte_array_append (out, id, (guint) len);
  append_cose_key (out, point);
}

GBytes *
ceremony_attestation_object (const char *format, GBytes *statement, GBytes *auth_data)
{
  GByteArray *out = g_byte_array_new ();
  gsize len;
  const guint8 *data;

  g_assert ((format == NULL) == (statement == NULL));
  append_head (out, CBOR_MAP, 3);
  append_text (out, "fmt");
  append_text (out, format != NULL ? format : "none");
  append_text (out, "attStmt");
  if (statement == NULL)
    append_head (out, CBOR_MAP, 0);
  else
    {
      data = g_bytes_get_data (statement, &len);
      g_byte_array_append (out, data, (guint) len);
    }
  append_text (out, "authData");
  data = g_bytes_get_data (auth_data, &len);
  append_bytes (out, data, len);
  return g_byte_array_free_to_bytes (out);
}

GBytes *
ceremony_attestation (const char *rp,
                      guint32 counter,
                      GBytes *credential,
                      const guint8 point[CEREMONY_POINT_SIZE])
{
  GByteArray *auth_data = g_byte_array_new ();
  g_autoptr (GBytes) bytes = NULL;

  append_header (auth_data, rp, FLAG_USER_PRESENT | FLAG_USER_VERIFIED | FLAG_ATTESTED, counter);
  append_attested (auth_data, credential, point);
  bytes = g_byte_array_free_to_bytes (auth_data);
  return ceremony_attestation_object (NULL, NULL, bytes);
}
