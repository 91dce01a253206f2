/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CBOR reader of the registration check.  Only attestation.c, auth-data.c and cose.c call it,
 * on bytes that nobody has vouched for.  It must never read past the end, recurse without a bound,
 * or take two encodings for one value.
 */
#include "service/passkey/cbor.h"

#include <string.h>

#define CBOR_MAX_DEPTH 4
#define CBOR_MAX_MEMBERS 64

typedef enum
{
  CBOR_UNSIGNED = 0,
  CBOR_NEGATIVE = 1,
  CBOR_BYTES = 2,
  CBOR_TEXT = 3,
  CBOR_ARRAY = 4,
  CBOR_MAP = 5,
  CBOR_TAG = 6,
  CBOR_SIMPLE = 7,
} CborMajor;

void
cbor_init (Cbor *cbor, const guint8 *data, gsize len)
{
  cbor->data = data;
  cbor->len = len;
  cbor->at = 0;
}

gboolean
cbor_at_end (const Cbor *cbor)
{
  return cbor->at == cbor->len;
}

/* The argument of a head must be written in the fewest bytes: @least is the smallest value that
 * needs @width of them. */
static gboolean
read_argument (Cbor *cbor, guint width, guint64 least, guint64 *out_value)
{
  guint64 value = 0;

  if (cbor->len - cbor->at < width)
    return FALSE;
  for (guint i = 0; i < width; i++)
    value = value << 8 | cbor->data[cbor->at + i];
  if (value < least)
    return FALSE;

  cbor->at += width;
  *out_value = value;
  return TRUE;
}

static gboolean
read_head (Cbor *cbor, CborMajor *out_major, guint64 *out_value)
{
  guint8 head, info;

  if (cbor_at_end (cbor))
    return FALSE;
  head = cbor->data[cbor->at++];
  info = head & 0x1f;
  *out_major = (CborMajor) (head >> 5);

  if (info < 24)
    {
      *out_value = info;
      return TRUE;
    }
  if (*out_major == CBOR_SIMPLE)
    return FALSE;
  switch (info)
    {
    case 24:
      return read_argument (cbor, 1, 24, out_value);
    case 25:
      return read_argument (cbor, 2, G_GUINT64_CONSTANT (0x100), out_value);
    case 26:
      return read_argument (cbor, 4, G_GUINT64_CONSTANT (0x10000), out_value);
    case 27:
      return read_argument (cbor, 8, G_GUINT64_CONSTANT (0x100000000), out_value);
    default: /* reserved, or an indefinite length */
      return FALSE;
    }
}

static gboolean
read_string (Cbor *cbor, CborMajor wanted, const guint8 **out_data, gsize *out_len)
{
  CborMajor major;
  guint64 len;

  if (!read_head (cbor, &major, &len) || major != wanted || len > cbor->len - cbor->at)
    return FALSE;

  *out_data = cbor->data + cbor->at;
  *out_len = (gsize) len;
  cbor->at += (gsize) len;
  return TRUE;
}

gboolean
cbor_read_map (Cbor *cbor, guint64 *out_members)
{
  CborMajor major;

  return read_head (cbor, &major, out_members) && major == CBOR_MAP;
}

gboolean
cbor_read_array (Cbor *cbor, guint64 *out_items)
{
  CborMajor major;

  return read_head (cbor, &major, out_items) && major == CBOR_ARRAY;
}

gboolean
cbor_read_int (Cbor *cbor, gint64 *out_value)
{
  CborMajor major;
  guint64 value;

  if (!read_head (cbor, &major, &value) || value > G_MAXINT64)
    return FALSE;
  if (major != CBOR_UNSIGNED && major != CBOR_NEGATIVE)
    return FALSE;

  *out_value = major == CBOR_UNSIGNED ? (gint64) value : -1 - (gint64) value;
  return TRUE;
}

gboolean
cbor_read_bytes (Cbor *cbor, const guint8 **out_data, gsize *out_len)
{
  return read_string (cbor, CBOR_BYTES, out_data, out_len);
}

gboolean
cbor_read_text (Cbor *cbor, const char **out_text, gsize *out_len)
{
  const guint8 *data;

  if (!read_string (cbor, CBOR_TEXT, &data, out_len))
    return FALSE;
  if (!g_utf8_validate_len ((const char *) data, *out_len, NULL))
    return FALSE;

  *out_text = (const char *) data;
  return TRUE;
}

gboolean
cbor_text_is (const char *text, gsize len, const char *name)
{
  return len == strlen (name) && memcmp (text, name, len) == 0;
}

static gboolean skip_item (Cbor *cbor, guint depth);

/* The order of CTAP2: the shorter name first, then by bytes. */
static gboolean
name_follows (const char *name, gsize len, const char *previous, gsize previous_len)
{
  if (previous == NULL)
    return TRUE;
  if (len != previous_len)
    return len > previous_len;
  return memcmp (name, previous, len) > 0;
}

static gboolean
skip_members (Cbor *cbor, guint64 members, guint depth)
{
  const char *previous = NULL;
  gsize previous_len = 0;

  for (guint64 i = 0; i < members; i++)
    {
      const char *name;
      gsize len;

      if (!cbor_read_text (cbor, &name, &len) || !name_follows (name, len, previous, previous_len))
        return FALSE;
      previous = name;
      previous_len = len;
      if (!skip_item (cbor, depth))
        return FALSE;
    }
  return TRUE;
}

static gboolean
skip_items (Cbor *cbor, guint64 items, guint depth)
{
  for (guint64 i = 0; i < items; i++)
    if (!skip_item (cbor, depth))
      return FALSE;
  return TRUE;
}

/* @depth: how many maps and arrays may still be opened */
static gboolean
skip_item (Cbor *cbor, guint depth)
{
  gsize start = cbor->at, len;
  const guint8 *data;
  const char *text;
  CborMajor major;
  guint64 value;

  if (!read_head (cbor, &major, &value))
    return FALSE;
  switch (major)
    {
    case CBOR_UNSIGNED:
    case CBOR_NEGATIVE:
      return TRUE;
    case CBOR_BYTES:
      cbor->at = start;
      return cbor_read_bytes (cbor, &data, &len);
    case CBOR_TEXT:
      cbor->at = start;
      return cbor_read_text (cbor, &text, &len);
    case CBOR_ARRAY:
      return depth > 0 && value <= CBOR_MAX_MEMBERS && skip_items (cbor, value, depth - 1);
    case CBOR_MAP:
      return depth > 0 && value <= CBOR_MAX_MEMBERS && skip_members (cbor, value, depth - 1);
    case CBOR_SIMPLE:
      return value >= 20 && value <= 22; /* false, true, null */
    case CBOR_TAG:
    default:
      return FALSE;
    }
}

gboolean
cbor_skip_map (Cbor *cbor)
{
  guint64 members;

  return cbor_read_map (cbor, &members) && members <= CBOR_MAX_MEMBERS &&
         skip_members (cbor, members, CBOR_MAX_DEPTH - 1);
}
