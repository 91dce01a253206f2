/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading D-Bus's wire format: every length is held against what is left before it is used. */
#include "service/base/bus-reader.h"

#include <string.h>

guint32
bus_number_at (const guint8 *bytes, gboolean is_big)
{
  guint32 number = 0;

  memcpy (&number, bytes, sizeof number);
  return is_big ? GUINT32_FROM_BE (number) : GUINT32_FROM_LE (number);
}

gsize
bus_alignment (char type)
{
  switch (type)
    {
    case 'y':
    case 'g':
    case 'v':
      return 1;
    case 'n':
    case 'q':
      return 2;
    case 'b':
    case 'i':
    case 'u':
    case 'h':
    case 's':
    case 'o':
    case 'a':
      return 4;
    case 'x':
    case 't':
    case 'd':
    case '(':
    case '{':
      return 8;
    default:
      return 0;
    }
}

gboolean
bus_reader_padding (BusReader *reader, gsize alignment)
{
  while (reader->at % alignment != 0)
    {
      if (reader->at >= reader->size || reader->bytes[reader->at] != 0)
        return FALSE;
      reader->at++;
    }
  return TRUE;
}

gboolean
bus_reader_byte (BusReader *reader, guint8 *out)
{
  if (reader->at >= reader->size)
    return FALSE;
  *out = reader->bytes[reader->at++];
  return TRUE;
}

gboolean
bus_reader_number (BusReader *reader, guint32 *out)
{
  if (!bus_reader_padding (reader, 4) || reader->size - reader->at < 4)
    return FALSE;
  *out = bus_number_at (reader->bytes + reader->at, reader->is_big);
  reader->at += 4;
  return TRUE;
}

/* @len bytes without a zero, and a zero after them. */
static gboolean
read_text (BusReader *reader, gsize len, const char **out)
{
  const guint8 *text = reader->bytes + reader->at;

  if (reader->size - reader->at <= len || text[len] != 0 || memchr (text, 0, len) != NULL)
    return FALSE;
  *out = (const char *) text;
  reader->at += len + 1;
  return TRUE;
}

gboolean
bus_reader_string (BusReader *reader, const char **out)
{
  guint32 len = 0;

  return bus_reader_number (reader, &len) && read_text (reader, len, out);
}

gboolean
bus_reader_signature (BusReader *reader, const char **out)
{
  guint8 len = 0;

  return bus_reader_byte (reader, &len) && read_text (reader, len, out);
}

gboolean
bus_reader_skip (BusReader *reader, char type)
{
  gsize size = bus_alignment (type);
  const char *text = NULL;

  if (type == 's' || type == 'o')
    return bus_reader_string (reader, &text);
  if (type == 'g')
    return bus_reader_signature (reader, &text);
  if (size == 0 || strchr ("av({", type) != NULL || !bus_reader_padding (reader, size) ||
      reader->size - reader->at < size)
    return FALSE;
  reader->at += size;
  return TRUE;
}
