/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes as text and back.  Every layer may call it.  A reader here accepts exactly what the writer
 * beside it writes, so that two spellings never stand for the same bytes.
 */
#include "service/base/encode.h"

#include <string.h>
#include <unistd.h>

#define ID_BYTES 16

static const char hex_digits[] = "0123456789abcdef";
static const char url_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

char *
hex_encode (const guint8 *data, gsize len)
{
  char *text = g_malloc (len * 2 + 1);

  for (gsize i = 0; i < len; i++)
    {
      text[2 * i] = hex_digits[data[i] >> 4];
      text[2 * i + 1] = hex_digits[data[i] & 0x0f];
    }
  text[2 * len] = '\0';
  return text;
}

/* One more than the value of a digit; 0 for what is none. */
static const guint8 hex_values[256] = {
  ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
  ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

static gboolean
hex_is_valid (const char *text, gsize digits)
{
  for (gsize i = 0; i < digits; i++)
    if (hex_values[(guint8) text[i]] == 0)
      return FALSE;
  return text[digits] == '\0';
}

gboolean
hex_decode (const char *text, guint8 *out_data, gsize len)
{
  if (!hex_is_valid (text, len * 2))
    return FALSE;
  for (gsize i = 0; i < len; i++)
    out_data[i] = (guint8) ((hex_values[(guint8) text[2 * i]] - 1) << 4 |
                            (hex_values[(guint8) text[2 * i + 1]] - 1));
  return TRUE;
}

char *
base64url_encode (const guint8 *data, gsize len)
{
  GString *text = g_string_sized_new (len / 3 * 4 + 4);
  guint32 bits = 0;
  guint n_bits = 0;

  for (gsize i = 0; i < len; i++)
    {
      bits = bits << 8 | data[i];
      for (n_bits += 8; n_bits >= 6; n_bits -= 6)
        g_string_append_c (text, url_letters[bits >> (n_bits - 6) & 0x3f]);
    }
  if (n_bits > 0)
    g_string_append_c (text, url_letters[bits << (6 - n_bits) & 0x3f]);
  return g_string_free (text, FALSE);
}

static int
url_value (char c)
{
  const char *at = c == '\0' ? NULL : strchr (url_letters, c);

  return at == NULL ? -1 : (int) (at - url_letters);
}

GBytes *
base64url_decode (const char *text, gsize max_bytes)
{
  gsize letters = strlen (text);
  g_autoptr (GByteArray) out = NULL;
  guint32 bits = 0;
  guint n_bits = 0;

  if (letters % 4 == 1 || letters / 4 * 3 + letters % 4 * 3 / 4 > max_bytes)
    return NULL;

  out = g_byte_array_new ();
  for (gsize i = 0; i < letters; i++)
    {
      int value = url_value (text[i]);

      if (value < 0)
        return NULL;
      bits = bits << 6 | (guint32) value;
      n_bits += 6;
      if (n_bits >= 8)
        {
          guint8 byte = (guint8) (bits >> (n_bits - 8));

          n_bits -= 8;
          g_byte_array_append (out, &byte, 1);
        }
    }
  if ((bits & ((1u << n_bits) - 1)) != 0)
    return NULL;
  return g_byte_array_free_to_bytes (g_steal_pointer (&out));
}

char *
random_id (void)
{
  guint8 data[ID_BYTES];

  if (getentropy (data, sizeof data) != 0)
    g_error ("the system gives no random bytes");
  return hex_encode (data, sizeof data);
}

gboolean
id_is_valid (const char *id)
{
  return hex_is_valid (id, ID_BYTES * 2);
}
