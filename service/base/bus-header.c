/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading the header of a D-Bus message.  It parses what anybody on the machine may send, so every
 * length is held against what is left before it is used, and nothing is allocated.
 */
#include "service/base/bus-header.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/bus-reader.h"

#include <string.h>

#define FIELDS_MAX (64u * 1024 * 1024)   /* of the protocol: of an array */
#define MESSAGE_MAX (128u * 1024 * 1024) /* of the protocol */
#define NAME_MAX_BYTES 255

typedef enum
{
  FIELD_PATH = 1,
  FIELD_INTERFACE = 2,
  FIELD_MEMBER = 3,
  FIELD_ERROR_NAME = 4,
  FIELD_REPLY_SERIAL = 5,
  FIELD_DESTINATION = 6,
  FIELD_SENDER = 7,
  FIELD_SIGNATURE = 8,
  FIELD_UNIX_FDS = 9,
  FIELD_N,
} Field;

static const char field_types[FIELD_N] = { 0, 'o', 's', 's', 's', 'u', 's', 's', 'g', 'u' };

/* What of a header was read; the numbers are those of Field. */
typedef struct
{
  guint seen; /* one bit a field */
  const char *texts[FIELD_N];
  guint32 numbers[FIELD_N];
} Fields;

/* --- values --- */

/* A field of a later protocol means nothing to us, and only where it is simple is it passed by. */
static gboolean
skip_value (BusReader *reader, char type)
{
  return strchr ("ybnqiuhxtdsog", type) != NULL && bus_reader_skip (reader, type);
}

/* --- what the strings are --- */

static gboolean
is_of (const char *text, gsize max, const char *others)
{
  gsize len = strlen (text);

  for (gsize i = 0; i < len; i++)
    if (!g_ascii_isalnum (text[i]) && strchr (others, text[i]) == NULL)
      return FALSE;
  return len > 0 && len <= max;
}

static gboolean
is_text_of (Field field, const char *text)
{
  switch (field)
    {
    case FIELD_PATH:
      return text[0] == '/' && is_of (text, BUS_HEADER_MAX, "/_");
    case FIELD_INTERFACE:
    case FIELD_ERROR_NAME:
      return is_of (text, NAME_MAX_BYTES, "._");
    case FIELD_MEMBER:
      return is_of (text, NAME_MAX_BYTES, "_");
    case FIELD_DESTINATION:
      return is_of (text, NAME_MAX_BYTES, ":._-");
    case FIELD_SENDER:
      return strcmp (text, BUS_DRIVER) == 0 ||
             (text[0] == ':' && text[1] != '\0' && is_of (text + 1, NAME_MAX_BYTES - 1, "._-"));
    case FIELD_SIGNATURE:
      return text[0] == '\0' || is_of (text, 255, "(){}");
    case FIELD_REPLY_SERIAL:
    case FIELD_UNIX_FDS:
    case FIELD_N:
    default:
      return FALSE;
    }
}

/* --- fields --- */

static gboolean
read_value (BusReader *reader, Field field, Fields *fields)
{
  switch (field_types[field])
    {
    case 'u':
      return bus_reader_number (reader, &fields->numbers[field]);
    case 'g':
      return bus_reader_signature (reader, &fields->texts[field]) &&
             is_text_of (field, fields->texts[field]);
    default:
      return bus_reader_string (reader, &fields->texts[field]) &&
             is_text_of (field, fields->texts[field]);
    }
}

static gboolean
read_field (BusReader *reader, Fields *fields)
{
  const char *type = NULL;
  guint8 code = 0;

  if (!bus_reader_padding (reader, 8) || !bus_reader_byte (reader, &code) || code == 0 ||
      !bus_reader_signature (reader, &type) || type[0] == '\0' || type[1] != '\0')
    return FALSE;
  if (code >= FIELD_N)
    return skip_value (reader, type[0]);
  if (type[0] != field_types[code] || (fields->seen & (1u << code)) != 0)
    return FALSE;
  fields->seen |= 1u << code;
  return read_value (reader, code, fields);
}

/* What each kind of message must have. */
static gboolean
is_whole (guint8 type, const Fields *fields)
{
  static const guint needed[] = {
    [BUS_CALL] = 1u << FIELD_PATH | 1u << FIELD_MEMBER,
    [BUS_RETURN] = 1u << FIELD_REPLY_SERIAL,
    [BUS_ERROR] = 1u << FIELD_ERROR_NAME | 1u << FIELD_REPLY_SERIAL,
    [BUS_SIGNAL] = 1u << FIELD_PATH | 1u << FIELD_INTERFACE | 1u << FIELD_MEMBER,
  };

  return type >= BUS_CALL && type <= BUS_SIGNAL && (fields->seen & needed[type]) == needed[type];
}

gboolean
bus_header_size (const guint8 *fixed, guint32 *out_header, guint32 *out_body)
{
  gboolean is_big = fixed[0] == 'B';
  guint32 body = bus_number_at (fixed + 4, is_big);
  guint32 fields = bus_number_at (fixed + 12, is_big);
  guint32 header = 0;

  if ((fixed[0] != 'l' && !is_big) || fixed[3] != 1 || bus_number_at (fixed + 8, is_big) == 0 ||
      fields > FIELDS_MAX)
    return FALSE;
  header = BUS_HEADER_FIXED + (fields + 7) / 8 * 8;
  if (body > MESSAGE_MAX - header)
    return FALSE;
  *out_header = header;
  *out_body = body;
  return TRUE;
}

static gboolean
read_fields (const guint8 *bytes, gsize size, Fields *out)
{
  gboolean is_big = bytes[0] == 'B';
  BusReader reader = {
    .bytes = bytes,
    .size = BUS_HEADER_FIXED + bus_number_at (bytes + 12, is_big),
    .at = BUS_HEADER_FIXED,
    .is_big = is_big,
  };

  while (reader.at < reader.size)
    if (!read_field (&reader, out))
      return FALSE;
  reader.size = size;
  return bus_reader_padding (&reader, 8) && reader.at == size;
}

gboolean
bus_header_read (const guint8 *bytes, gsize size, BusHeader *out, GError **error)
{
  Fields fields = { 0 };
  guint32 header = 0;
  guint32 body = 0;

  if (size < BUS_HEADER_FIXED || !bus_header_size (bytes, &header, &body) || header != size ||
      !read_fields (bytes, size, &fields) || !is_whole (bytes[1], &fields))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "the header of a message is not well formed");

  *out = (BusHeader) {
    .type = bytes[1],
    .flags = bytes[2],
    .serial = bus_number_at (bytes + 8, bytes[0] == 'B'),
    .header_size = header,
    .body_size = body,
    .reply_serial = fields.numbers[FIELD_REPLY_SERIAL],
    .n_fds = fields.numbers[FIELD_UNIX_FDS],
    .path = fields.texts[FIELD_PATH],
    .interface = fields.texts[FIELD_INTERFACE],
    .member = fields.texts[FIELD_MEMBER],
    .error_name = fields.texts[FIELD_ERROR_NAME],
    .destination = fields.texts[FIELD_DESTINATION],
    .sender = fields.texts[FIELD_SENDER],
    .signature = fields.texts[FIELD_SIGNATURE] != NULL ? fields.texts[FIELD_SIGNATURE] : "",
  };
  if ((out->signature[0] == '\0') != (body == 0))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "a message has a body without a signature, or none with one");
  return TRUE;
}
