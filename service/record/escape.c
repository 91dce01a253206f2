/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Spells a value so that everything in it is seen: what has no glyph is written as \u{XXXX}, never
 * dropped, and the backslash is doubled, so that two values never look alike.  Every screen, log
 * and terminal uses this one function; it must never shorten.
 */
#include "service/record/escape-private.h"

#include "service/record/rows.h"
#include "service/record/unicode.h"

#include <string.h>

#define MAX_MARKS 4         /* on one base */
#define MAX_TEXT_SPACES 8   /* in a row, as they are, in a line of a text */
#define MAX_EMPTY_LINES 3   /* in a row, as they are */
#define MOSTLY_HIDDEN_MIN 8 /* so many escapes can be read whatever stands around them */
#define MOSTLY_HIDDEN_SHARE 3

static gsize
run_length (const char *c, const char *end)
{
  gunichar first = g_utf8_get_char (c);
  gsize n = 0;

  for (; c < end && g_utf8_get_char (c) == first; c = g_utf8_next_char (c))
    n++;
  return n;
}

static void
append_escape (GString *out, gunichar c, gsize n)
{
  if (n == 1)
    g_string_append_printf (out, "\\u{%04X}", c);
  else
    g_string_append_printf (out, "\\u{%04X*%" G_GSIZE_FORMAT "}", c, n);
}

/* Whether @mode lets a character that has a glyph stand as it is. */
static gboolean
mode_shows (EscapeMode mode, gunichar c, guint flags)
{
  if (c < 0x80)
    return TRUE;
  switch (mode)
    {
    case ESCAPE_LINE:
    case ESCAPE_TEXT:
      return TRUE;
    case ESCAPE_NAME:
      return !(flags & CHAR_RTL) && (flags & (CHAR_LETTER | CHAR_DIGIT | CHAR_MARK)) != 0;
    case ESCAPE_ASCII:
    default:
      return FALSE;
    }
}

/* Writes @n spaces; @first and @last say whether they are at an end of the line. */
static void
append_spaces (
    GString *out, gsize n, gboolean first, gboolean last, EscapeMode mode, EscapeCount *count)
{
  gsize most = mode == ESCAPE_TEXT ? MAX_TEXT_SPACES : 1;

  if (last || n > most || (first && mode != ESCAPE_TEXT))
    {
      append_escape (out, ' ', n);
      count->spaces++;
      return;
    }
  for (gsize i = 0; i < n; i++)
    g_string_append_c (out, ' ');
}

/* How many bytes from @c on are ASCII that stands for itself and is no space. */
static gsize
plain_length (const char *c, const char *end)
{
  const char *start = c;

  while (c < end && g_ascii_isgraph (*c) && *c != '\\')
    c++;
  return (gsize) (c - start);
}

void
escape_append (GString *out, const char *text, gsize len, EscapeMode mode, EscapeCount *count)
{
  EscapeCount unused = { 0 };
  EscapeCount *sum = count != NULL ? count : &unused;
  const char *end = text + len;
  int marks = MAX_MARKS; /* that the base has; none can stand where there is no base */

  for (const char *c = text; c < end;)
    {
      gsize n = plain_length (c, end);
      gunichar u;
      guint flags;

      if (n > 0)
        {
          g_string_append_len (out, c, (gssize) n);
          sum->shown += n;
          marks = 0;
          c += n;
          continue;
        }

      u = g_utf8_get_char (c);
      flags = char_flags (u, NULL);
      n = 1;
      if (u == ' ')
        {
          n = run_length (c, end);
          append_spaces (out, n, c == text, c + n == end, mode, sum);
          sum->shown += n;
          marks = MAX_MARKS;
        }
      else if ((flags & CHAR_SHOWN) && mode_shows (mode, u, flags))
        {
          g_string_append_unichar (out, u);
          if (u == '\\')
            g_string_append_c (out, '\\');
          sum->shown++;
          marks = 0;
        }
      else if ((flags & CHAR_MARK) && marks < MAX_MARKS && mode_shows (mode, u, flags))
        {
          g_string_append_unichar (out, u);
          sum->shown++;
          marks++;
        }
      else
        {
          n = run_length (c, end);
          append_escape (out, u, n);
          if (u != '\t' && u != '\n')
            sum->hidden++;
          marks = MAX_MARKS;
        }
      c = g_utf8_offset_to_pointer (c, (glong) n);
    }
}

char *
escape_value (const char *text, EscapeMode mode, EscapeCount *count)
{
  GString *out = g_string_new (NULL);

  escape_append (out, text, strlen (text), mode, count);
  return g_string_free (out, FALSE);
}

char *
escape_line (const char *text)
{
  return escape_value (text, ESCAPE_LINE, NULL);
}

/* Writes @n empty lines: as they are, or as words that no escaped line can be. */
static void
add_empty_lines (GPtrArray *lines, gsize n)
{
  if (n > MAX_EMPTY_LINES)
    g_ptr_array_add (lines, g_strdup_printf ("\\(%" G_GSIZE_FORMAT " empty lines)", n));
  else
    for (gsize i = 0; i < n; i++)
      g_ptr_array_add (lines, g_strdup (""));
}

GPtrArray *
escape_lines (const char *text, EscapeCount *count)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  const char *c = text;
  gsize empty = 0;

  for (;;)
    {
      gsize len = strcspn (c, "\n");

      if (len == 0)
        empty++;
      else
        {
          GString *out = g_string_new (NULL);

          add_empty_lines (lines, empty);
          empty = 0;
          escape_append (out, c, len, ESCAPE_TEXT, count);
          g_ptr_array_add (lines, g_string_free (out, FALSE));
        }
      if (c[len] == '\0')
        break;
      c += len + 1;
    }
  add_empty_lines (lines, empty);
  return lines;
}

GPtrArray *
escape_text (const char *text)
{
  return escape_lines (text, NULL);
}

gboolean
escape_is_mostly_hidden (const EscapeCount *count)
{
  return count->hidden > MOSTLY_HIDDEN_MIN && count->hidden * MOSTLY_HIDDEN_SHARE > count->shown;
}
