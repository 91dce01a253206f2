/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything that the program prints goes through here.  It lets letters, digits, marks, punctuation,
 * symbols and the plain space pass and escapes all else; nothing is dropped.
 */
#include "agentlib/cli/escape.h"

#include <string.h>

/* Combining marks on one base character before the rest is escaped. */
#define MARKS_MAX 4

/* In categories that pass, yet invisible. */
static const struct
{
  gunichar first, last;
} invisible[] = {
  { 0x034f, 0x034f }, { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
  { 0x2800, 0x2800 }, { 0x3164, 0x3164 },   { 0xfe00, 0xfe0f }, { 0xffa0, 0xffa0 },
  { 0x1d159, 0x1d159 }, { 0xe0100, 0xe01ef },
};

static gboolean
is_mark (gunichar c)
{
  GUnicodeType type = g_unichar_type (c);

  return type == G_UNICODE_SPACING_MARK || type == G_UNICODE_ENCLOSING_MARK ||
         type == G_UNICODE_NON_SPACING_MARK;
}

static gboolean
is_plain (gunichar c)
{
  if (c == ' ')
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (invisible); i++)
    if (c >= invisible[i].first && c <= invisible[i].last)
      return FALSE;
  switch (g_unichar_type (c))
    {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_UNASSIGNED:
    case G_UNICODE_PRIVATE_USE:
    case G_UNICODE_SURROGATE:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
    case G_UNICODE_SPACE_SEPARATOR:
      return FALSE;
    case G_UNICODE_LOWERCASE_LETTER:
    case G_UNICODE_MODIFIER_LETTER:
    case G_UNICODE_OTHER_LETTER:
    case G_UNICODE_TITLECASE_LETTER:
    case G_UNICODE_UPPERCASE_LETTER:
    case G_UNICODE_SPACING_MARK:
    case G_UNICODE_ENCLOSING_MARK:
    case G_UNICODE_NON_SPACING_MARK:
    case G_UNICODE_DECIMAL_NUMBER:
    case G_UNICODE_LETTER_NUMBER:
    case G_UNICODE_OTHER_NUMBER:
    case G_UNICODE_CONNECT_PUNCTUATION:
    case G_UNICODE_DASH_PUNCTUATION:
    case G_UNICODE_CLOSE_PUNCTUATION:
    case G_UNICODE_FINAL_PUNCTUATION:
    case G_UNICODE_INITIAL_PUNCTUATION:
    case G_UNICODE_OTHER_PUNCTUATION:
    case G_UNICODE_OPEN_PUNCTUATION:
    case G_UNICODE_CURRENCY_SYMBOL:
    case G_UNICODE_MODIFIER_SYMBOL:
    case G_UNICODE_MATH_SYMBOL:
    case G_UNICODE_OTHER_SYMBOL:
      return TRUE;
    default:
      return FALSE;
    }
}

char *
escape_text (const char *bytes)
{
  const char *end = bytes + strlen (bytes);
  GString *out = g_string_new (NULL);
  guint marks = MARKS_MAX;

  while (bytes < end)
    {
      gunichar c = g_utf8_get_char_validated (bytes, end - bytes);

      if (c == (gunichar) -1 || c == (gunichar) -2)
        {
          g_string_append_printf (out, "\\x{%02X}", (guint8) *bytes);
          bytes++;
          marks = MARKS_MAX;
          continue;
        }
      bytes = g_utf8_next_char (bytes);
      marks = !is_plain (c) ? MARKS_MAX : is_mark (c) ? marks + 1 : 0;
      if (c == '\\')
        g_string_append (out, "\\\\");
      else if (is_plain (c) && marks <= MARKS_MAX)
        g_string_append_unichar (out, c);
      else
        {
          g_string_append_printf (out, "\\u{%04X}", c);
          marks = MARKS_MAX;
        }
    }
  return g_string_free (out, FALSE);
}

char *
escape_json (const char *json)
{
  GString *out = g_string_new (NULL);

  /* Outside its strings JSON is plain ASCII, and the writer escaped what is below U+0020. */
  for (const char *at = json; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if (is_plain (c))
        g_string_append_unichar (out, c);
      else if (c > 0xffff)
        g_string_append_printf (out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
      else
        g_string_append_printf (out, "\\u%04x", c);
    }
  return g_string_free (out, FALSE);
}
