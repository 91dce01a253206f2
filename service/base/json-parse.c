/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The strict reader of untrusted JSON text: one pass, recursive down to a depth that the caller
 * chooses and JSON_MAX_DEPTH bounds.  Every layer may call it.  It never guesses, repairs or skips:
 * the first thing out of order ends it.
 */
#include "service/base/json-private.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

typedef struct
{
  const char *text;
  gsize len;
  gsize at;
  guint depth;
  const JsonLimits *limits;
  GError **error;
} Reader;

static JsonTree *read_value (Reader *reader);

static gboolean
reader_fail (Reader *reader, const char *what)
{
  return us_error_set (reader->error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_JSON,
                       "byte %" G_GSIZE_FORMAT ": %s", reader->at, what);
}

/* The next byte, or -1 at the end. */
static int
reader_peek (const Reader *reader)
{
  return reader->at < reader->len ? (guint8) reader->text[reader->at] : -1;
}

static gboolean
reader_take (Reader *reader, char c)
{
  if (reader_peek (reader) != c)
    return FALSE;
  reader->at++;
  return TRUE;
}

static void
skip_space (Reader *reader)
{
  while (reader_take (reader, ' ') || reader_take (reader, '\t') || reader_take (reader, '\n') ||
         reader_take (reader, '\r'))
    ;
}

static gboolean
read_word (Reader *reader, const char *word)
{
  gsize len = strlen (word);

  if (reader->len - reader->at < len || memcmp (reader->text + reader->at, word, len) != 0)
    return reader_fail (reader, "no value starts like this");
  reader->at += len;
  return TRUE;
}

/* Four hex digits of a \u escape. */
static gboolean
read_unit (Reader *reader, gunichar *out_unit)
{
  gunichar unit = 0;

  for (guint i = 0; i < 4; i++)
    {
      int c = reader_peek (reader);

      if (c < 0 || !g_ascii_isxdigit (c))
        return reader_fail (reader, "\\u needs four hexadecimal digits");
      unit = unit << 4 | (gunichar) g_ascii_xdigit_value ((char) c);
      reader->at++;
    }
  *out_unit = unit;
  return TRUE;
}

static gboolean
read_unicode_escape (Reader *reader, GString *out)
{
  gunichar unit = 0, low = 0;

  if (!read_unit (reader, &unit))
    return FALSE;
  if (unit == 0)
    return reader_fail (reader, "U+0000 in a string");
  if (unit >= 0xdc00 && unit <= 0xdfff)
    return reader_fail (reader, "a low surrogate without a high one");
  if (unit >= 0xd800 && unit <= 0xdbff)
    {
      if (!reader_take (reader, '\\') || !reader_take (reader, 'u'))
        return reader_fail (reader, "a high surrogate without a low one");
      if (!read_unit (reader, &low))
        return FALSE;
      if (low < 0xdc00 || low > 0xdfff)
        return reader_fail (reader, "a high surrogate without a low one");
      unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
  g_string_append_unichar (out, unit);
  return TRUE;
}

static gboolean
read_escape (Reader *reader, GString *out)
{
  static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  int c = reader_peek (reader);
  const char *letter = c > 0 ? strchr (letters, c) : NULL;

  if (letter != NULL)
    {
      reader->at++;
      g_string_append_c (out, values[letter - letters]);
      return TRUE;
    }
  if (!reader_take (reader, 'u'))
    return reader_fail (reader, "unknown escape");
  return read_unicode_escape (reader, out);
}

/* How many bytes from here on stand for themselves. */
static gsize
plain_length (const Reader *reader)
{
  gsize at = reader->at;

  while (at < reader->len && json_needs_escape[(guint8) reader->text[at]] == 0)
    at++;
  return at - reader->at;
}

/*
 * read_plain: a string of which every byte stands for itself, as most do: it is read without a
 * copy.
 *
 * Returns: (nullable): its bytes, within the text; NULL for any other, of which nothing was read
 */
static const char *
read_plain (Reader *reader, gsize *out_len)
{
  Reader ahead = *reader;
  gsize len;

  if (!reader_take (&ahead, '"'))
    return NULL;
  len = plain_length (&ahead);
  if (len > MIN (reader->limits->string, reader->len))
    return NULL;
  ahead.at += len;
  if (!reader_take (&ahead, '"'))
    return NULL;
  reader->at = ahead.at;
  *out_len = len;
  return reader->text + ahead.at - 1 - len;
}

/* The text between quotes, unescaped; the whole input is known to be UTF-8. */
static char *
read_string (Reader *reader)
{
  gsize max = MIN (reader->limits->string, reader->len);
  g_autoptr (GString) out = NULL;

  if (!reader_take (reader, '"'))
    {
      reader_fail (reader, "expected a string");
      return NULL;
    }
  out = g_string_sized_new (plain_length (reader) + 1);
  while (!reader_take (reader, '"'))
    {
      gsize plain = plain_length (reader);
      int c = reader_peek (reader);
      gboolean ok = TRUE;

      if (c < 0)
        ok = reader_fail (reader, "the string does not end");
      else if (c < 0x20)
        ok = reader_fail (reader, "a control character in a string");
      else if (out->len > max)
        ok = reader_fail (reader, "the string is too long");
      else if (reader_take (reader, '\\'))
        ok = read_escape (reader, out);
      else
        {
          plain = MIN (plain, max + 1 - out->len);
          g_string_append_len (out, reader->text + reader->at, (gssize) plain);
          reader->at += plain;
        }
      if (!ok)
        return NULL;
    }
  if (out->len > max)
    {
      reader_fail (reader, "the string is too long");
      return NULL;
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static guint
skip_digits (Reader *reader)
{
  guint n = 0;

  for (int c = reader_peek (reader); c >= '0' && c <= '9'; c = reader_peek (reader))
    {
      reader->at++;
      n++;
    }
  return n;
}

static JsonTree *
read_number (Reader *reader)
{
  gsize start = reader->at;
  g_autofree char *text = NULL;

  reader_take (reader, '-');
  if (!reader_take (reader, '0') && skip_digits (reader) == 0)
    {
      reader_fail (reader, "a number needs a digit");
      return NULL;
    }
  if (reader_take (reader, '.') && skip_digits (reader) == 0)
    {
      reader_fail (reader, "a fraction needs a digit");
      return NULL;
    }
  if (reader_take (reader, 'e') || reader_take (reader, 'E'))
    {
      if (!reader_take (reader, '+'))
        reader_take (reader, '-');
      if (skip_digits (reader) == 0)
        {
          reader_fail (reader, "an exponent needs a digit");
          return NULL;
        }
    }
  if (reader->at - start > reader->limits->string)
    {
      reader_fail (reader, "the number is too long");
      return NULL;
    }
  text = g_strndup (reader->text + start, reader->at - start);
  return json_tree_new_number (text);
}

static gboolean
read_member (Reader *reader, JsonTree *object)
{
  gsize len = 0;
  const char *plain = read_plain (reader, &len);
  g_autofree char *name = plain != NULL ? g_strndup (plain, len) : read_string (reader);
  JsonTree *value;
  gboolean found;
  guint place;

  if (name == NULL)
    return FALSE;
  place = object_search (object, name, &found);
  if (found)
    return reader_fail (reader, "a name is used twice in one object");
  skip_space (reader);
  if (!reader_take (reader, ':'))
    return reader_fail (reader, "expected a colon");
  value = read_value (reader);
  if (value == NULL)
    return FALSE;
  items_add (object, place, g_steal_pointer (&name), value);
  return TRUE;
}

static gboolean
read_item (Reader *reader, JsonTree *array)
{
  JsonTree *value = read_value (reader);

  if (value == NULL)
    return FALSE;
  json_tree_append (array, value);
  return TRUE;
}

/* An array or an object, from its opening bracket to its closing one. */
static JsonTree *
read_container (Reader *reader, char close)
{
  gboolean is_object = close == '}';
  g_autoptr (JsonTree) tree = is_object ? json_tree_new_object () : json_tree_new_array ();

  if (reader->depth >= MIN (reader->limits->depth, JSON_MAX_DEPTH))
    {
      reader_fail (reader, "nested too deep");
      return NULL;
    }
  reader->depth++;
  reader->at++;
  skip_space (reader);
  if (!reader_take (reader, close))
    for (;;)
      {
        if (json_tree_length (tree) >= reader->limits->items)
          {
            reader_fail (reader, "too many items");
            return NULL;
          }
        skip_space (reader);
        if (!(is_object ? read_member (reader, tree) : read_item (reader, tree)))
          return NULL;
        skip_space (reader);
        if (reader_take (reader, close))
          break;
        if (!reader_take (reader, ','))
          {
            reader_fail (reader, "expected a comma or the closing bracket");
            return NULL;
          }
      }
  reader->depth--;
  return g_steal_pointer (&tree);
}

static JsonTree *
read_text (Reader *reader)
{
  gsize len = 0;
  const char *plain = read_plain (reader, &len);
  g_autofree char *text = plain == NULL ? read_string (reader) : NULL;

  if (plain != NULL)
    return tree_new (JSON_TREE_STRING, plain, len);
  return text != NULL ? tree_new (JSON_TREE_STRING, text, strlen (text)) : NULL;
}

static JsonTree *
read_value (Reader *reader)
{
  skip_space (reader);
  switch (reader_peek (reader))
    {
    case '{':
      return read_container (reader, '}');
    case '[':
      return read_container (reader, ']');
    case '"':
      return read_text (reader);
    case 't':
      return read_word (reader, "true") ? json_tree_new_boolean (TRUE) : NULL;
    case 'f':
      return read_word (reader, "false") ? json_tree_new_boolean (FALSE) : NULL;
    case 'n':
      return read_word (reader, "null") ? json_tree_new_null () : NULL;
    case -1:
      reader_fail (reader, "expected a value");
      return NULL;
    default:
      return read_number (reader);
    }
}

JsonTree *
json_tree_parse (const char *text, gsize len, const JsonLimits *limits, GError **error)
{
  Reader reader = { text, len, 0, 0, limits, error };
  g_autoptr (JsonTree) tree = NULL;
  const char *end = text;

  if (len > limits->bytes)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_JSON,
                    "larger than %" G_GSIZE_FORMAT " bytes", limits->bytes);
      return NULL;
    }
  if (len > 0 && !g_utf8_validate_len (text, len, &end))
    {
      reader.at = (gsize) (end - text);
      reader_fail (&reader, *end == '\0' ? "U+0000 in the text" : "not UTF-8");
      return NULL;
    }
  if (len >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0)
    {
      reader_fail (&reader, "a byte order mark");
      return NULL;
    }
  tree = read_value (&reader);
  if (tree == NULL)
    return NULL;
  skip_space (&reader);
  if (reader.at < len)
    {
      reader_fail (&reader, "something after the value");
      return NULL;
    }
  return g_steal_pointer (&tree);
}
