/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counting the values of a body.  It goes through the bytes once, from one length to the next, and
 * stops at the limits; it looks at no value and allocates nothing.
 */
#include "service/base/bus-body.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/bus-reader.h"

#include <string.h>

typedef struct
{
  BusReader reader;
  guint values;
  gboolean is_too_much;
} Count;

static gboolean count_value (Count *count, const char **type, guint depth);

/* Moves on by one type, as count_value() does, without any value. */
static gboolean
skip_type (const char **type, guint depth)
{
  char first = *(*type)++;
  char last = first == '(' ? ')' : '}';

  if (bus_alignment (first) == 0 || depth >= BUS_DEPTH_MAX)
    return FALSE;
  if (first == 'a')
    return skip_type (type, depth + 1);
  if (first != '(' && first != '{')
    return TRUE;
  do
    if (!skip_type (type, depth + 1))
      return FALSE;
  while (**type != last);
  (*type)++;
  return TRUE;
}

static gboolean
count_array (Count *count, const char **type, guint depth)
{
  BusReader *reader = &count->reader;
  const char *element = *type;
  gsize alignment = bus_alignment (*element);
  guint32 len = 0;
  gsize end = 0;

  if (!skip_type (type, depth) || !bus_reader_number (reader, &len) ||
      !bus_reader_padding (reader, alignment) || len > reader->size - reader->at)
    return FALSE;
  end = reader->at + len;
  if (strchr ("ynqiuxtd", *element) != NULL)
    {
      reader->at = end;
      return len % alignment == 0;
    }
  while (reader->at < end)
    {
      const char *again = element;

      if (!count_value (count, &again, depth))
        return FALSE;
    }
  return reader->at == end;
}

static gboolean
count_variant (Count *count, guint depth)
{
  const char *type = NULL;

  return bus_reader_signature (&count->reader, &type) && count_value (count, &type, depth) &&
         *type == '\0';
}

/* A struct or an entry of a dictionary. */
static gboolean
count_members (Count *count, const char **type, char last, guint depth)
{
  if (!bus_reader_padding (&count->reader, 8))
    return FALSE;
  do
    if (!count_value (count, type, depth))
      return FALSE;
  while (**type != last);
  (*type)++;
  return TRUE;
}

/* One value of the type at @type, which moves on to the next. */
static gboolean
count_value (Count *count, const char **type, guint depth)
{
  char first = **type;

  if (bus_alignment (first) == 0)
    return FALSE;
  if (depth >= BUS_DEPTH_MAX || ++count->values > BUS_VALUES_MAX)
    {
      count->is_too_much = TRUE;
      return FALSE;
    }
  (*type)++;
  switch (first)
    {
    case 'a':
      return count_array (count, type, depth + 1);
    case 'v':
      return count_variant (count, depth + 1);
    case '(':
      return count_members (count, type, ')', depth + 1);
    case '{':
      return count_members (count, type, '}', depth + 1);
    default:
      return bus_reader_skip (&count->reader, first);
    }
}

gboolean
bus_body_check (
    const guint8 *message, gsize size, gsize body_at, const char *signature, GError **error)
{
  Count count = { .reader = { message, size, body_at, message[0] == 'B' } };
  const char *type = signature;
  gboolean good = TRUE;

  while (good && *type != '\0')
    good = count_value (&count, &type, 0);
  if (count.is_too_much)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the arguments are more than %d values, or more than %d within each other",
                         BUS_VALUES_MAX, BUS_DEPTH_MAX);
  if (!good || count.reader.at != size)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "the arguments are not of the signature of the message");
  return TRUE;
}
