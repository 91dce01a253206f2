/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text for a terminal.  Called by layout.c for every value and by terminal.c for every byte that is
 * written.  Must never drop a character: what cannot be written is spelled out.
 */
#include "module/card/tty/text.h"

#include <string.h>

/* Their pictures are wider than any terminal makes their place: they would lie over what follows. */
static gboolean
is_too_wide (gunichar c)
{
  static const gunichar wide[] = { 0x2e3a, 0x2e3b, 0xfdfd, 0x12219, 0x1242b };

  for (gsize i = 0; i < G_N_ELEMENTS (wide); i++)
    if (c == wide[i])
      return TRUE;
  return FALSE;
}

static gboolean
is_safe (gunichar c, gboolean utf8)
{
  if (c < 0x80)
    return c >= 0x20 && c < 0x7f;
  if (!utf8 || is_too_wide (c))
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
    case G_UNICODE_SPACE_SEPARATOR:
      return TRUE;
    default:
      return FALSE;
    }
}

char *
text_safe (const char *text, gboolean utf8)
{
  GString *out = g_string_new (NULL);

  for (const char *at = text; *at != '\0';)
    {
      gunichar c = g_utf8_get_char_validated (at, -1);

      if (c == (gunichar) -1 || c == (gunichar) -2)
        {
          g_string_append_printf (out, "\\x{%02X}", (guint8) *at);
          at++;
          continue;
        }
      if (is_safe (c, utf8))
        g_string_append_unichar (out, c);
      else
        g_string_append_printf (out, "\\u{%04X}", c);
      at = g_utf8_next_char (at);
    }
  return g_string_free (out, FALSE);
}

static guint
char_width (gunichar c)
{
  return c >= 0x80 && g_unichar_iswide_cjk (c) ? 2 : 1;
}

guint
text_width (const char *text)
{
  guint width = 0;

  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at))
    width += char_width (g_utf8_get_char (at));
  return width;
}

/* Where the piece that starts at @text ends: after the last space that still fits, unless that
 * leaves more than a third of the line empty. */
static const char *
find_break (const char *text, guint columns)
{
  const char *at = text, *space = NULL;
  guint width = 0, space_width = 0;

  while (*at != '\0')
    {
      gunichar c = g_utf8_get_char (at);

      if (width + char_width (c) > columns)
        return space != NULL && space_width * 3 >= columns * 2 ? space : at;
      width += char_width (c);
      at = g_utf8_next_char (at);
      if (c == ' ')
        {
          space = at;
          space_width = width;
        }
    }
  return at;
}

GPtrArray *
text_wrap (const char *text, guint columns)
{
  GPtrArray *pieces = g_ptr_array_new_with_free_func (g_free);
  const char *at = text;

  g_return_val_if_fail (columns >= 2, pieces);
  do
    {
      const char *end = find_break (at, columns);

      g_ptr_array_add (pieces, g_strndup (at, (gsize) (end - at)));
      at = end;
    }
  while (*at != '\0');
  return pieces;
}

char *
text_pad (const char *text, guint columns)
{
  guint width = text_width (text);
  g_autofree char *spaces = g_strnfill (width < columns ? columns - width : 0, ' ');

  return g_strconcat (text, spaces, NULL);
}

char *
text_duration (guint64 seconds)
{
  const guint64 minute = 60, hour = 60 * minute, day = 24 * hour;

  if (seconds >= day)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " d %" G_GUINT64_FORMAT " h", seconds / day,
                            seconds % day / hour);
  if (seconds >= hour)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " h %" G_GUINT64_FORMAT " min", seconds / hour,
                            seconds % hour / minute);
  if (seconds >= minute)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " min %" G_GUINT64_FORMAT " s", seconds / minute,
                            seconds % minute);
  return g_strdup_printf ("%" G_GUINT64_FORMAT " s", seconds);
}
