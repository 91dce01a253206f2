/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an agent writes to a person's terminal, for each kind of terminal and of command.  What
 * passes is read by a reader of its own, one pattern for each sequence that may be there, which
 * knows nothing of screen.c.  In whatever pieces it came, it is the same; and it passes as it is.
 */
#include "module/card/tty/screen.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define N "0*[0-9]{0,4}"
#define SAVES_TITLE "[22;0t"
#define TEXT "[^\\x00-\\x1f\\x7f]*+"
#define INPUT_MAX 20000

/* Sequences without their ESC; those of strings without their end. */
static const struct
{
  const char *pattern;
  gboolean asks; /* not where nobody hears the answer */
} rules[] = {
  { "[6789=>DEMNO\\\\]", FALSE },
  { "[()*+#][0-~]", FALSE },
  { "\\[" N "[@A-GI-MPSTXZ`abde]", FALSE },
  { "\\[" N "(;" N ")?[Hfsr]", FALSE },
  { "\\[u", FALSE },
  { "\\[" N " q", FALSE },
  { "\\[\\?[018]?c", FALSE },
  { "\\[!p", FALSE },
  { "\\[" N "(;" N "){0,4}\\$x", FALSE },
  { "\\[[<>]" N "u", TRUE },
  { "\\[=" N "(;" N ")?u", TRUE },
  { "\\[>4(;" N ")?m", TRUE },
  { "\\[\\?u", TRUE },
  { "\\[[>=]?0?c", TRUE },
  { "\\[>0?q", TRUE },
  { "\\[[56]n", TRUE },
  { "\\[\\?(6|996)n", TRUE },
  { "\\[1[468](;" N ")?t", TRUE },
  { "\\[\\??" N "\\$p", TRUE },
  { "\\[(0*+(4|34);)*+0*(4|34)[hl]", FALSE },
  { "\\[\\?(0*+(1|5|7|12|25|47|69|1047|1048|1049|2026);)*+"
    "0*(1|5|7|12|25|47|69|1047|1048|1049|2026)[hl]",
    FALSE },
  { "\\[\\?(0*+(1|5|7|12|25|47|69|1047|1048|1049|2026|9|100[023467]|101[56]|2004|2031|2048);)*+"
    "0*(1|5|7|12|25|47|69|1047|1048|1049|2026|9|100[023467]|101[56]|2004|2031|2048)[hl]",
    TRUE },
  { "\\][012](;" TEXT ")?", FALSE },
  { "\\]8;[^;\\x00-\\x1f\\x7f]*+;((?i)https?://" TEXT ")?", FALSE },
  { "\\](104|11[012])(;[^?\\x00-\\x1f\\x7f]*+)?", FALSE },
  { "\\](104|11[012])(;" TEXT ")?", TRUE },
  { "\\]1[012](;[^?;\\x00-\\x1f\\x7f]*+)?", FALSE },
  { "\\]1[012](;[^;\\x00-\\x1f\\x7f]*+)?", TRUE },
  { "\\]4(;|(;0*(1?[0-9]?[0-9]|2[0-4][0-9]|25[0-5]);[^?;\\x00-\\x1f\\x7f]*+)++;?)?", FALSE },
  { "\\]4(;|(;0*(1?[0-9]?[0-9]|2[0-4][0-9]|25[0-5]);[^;\\x00-\\x1f\\x7f]*+)++;?)?", TRUE },
};
static GRegex *compiled[G_N_ELEMENTS (rules)];

static gboolean
matches (gsize rule, const char *text, gsize len)
{
  if (compiled[rule] == NULL)
    {
      g_autofree char *whole = g_strdup_printf ("\\A(?:%s)\\z", rules[rule].pattern);

      compiled[rule] = g_regex_new (whole, G_REGEX_RAW, 0, NULL);
      g_assert (compiled[rule] != NULL);
    }
  return g_regex_match_full (compiled[rule], text, (gssize) len, 0, 0, NULL, NULL);
}

static gboolean
has_parts (const char *word)
{
  return strchr (word, ':') != NULL;
}

/* No font but the usual one: 11 to 19 are there as what Linux's console takes for a colour alone.
 */
static gboolean
is_attributes (const char *text, gsize len)
{
  g_autofree char *copy = NULL;
  g_auto (GStrv) words = NULL;
  guint n = 0;

  if (len < 2 || text[0] != '[' || text[len - 1] != 'm' || memchr (text, '>', len) != NULL)
    return FALSE;
  copy = g_strndup (text + 1, len - 2);
  if (strspn (copy, "0123456789;:") != len - 2)
    return FALSE;
  words = g_strsplit (copy, ";", -1);
  n = g_strv_length (words);
  for (guint i = 0; i < n; i++)
    {
      g_auto (GStrv) parts = g_strsplit (words[i], ":", -1);

      for (guint j = 0; parts[j] != NULL; j++)
        if (strtoul (parts[j], NULL, 10) > 9999)
          return FALSE;
    }
  for (guint i = 0; i < n; i++)
    {
      const gulong number = strtoul (words[i], NULL, 10);
      const gboolean is_colour =
          (number == 38 || number == 48) && !has_parts (words[i]) && i + 1 < n;
      const gulong kind =
          is_colour && !has_parts (words[i + 1]) ? strtoul (words[i + 1], NULL, 10) : 0;

      if (number >= 11 && number <= 19)
        return FALSE;
      if (kind == 5)
        i += 2;
      else if (kind == 2 && i + 4 < n)
        i += 4;
      else if (is_colour)
        i += 1;
    }
  return TRUE;
}

static void
check_sequence (const char *text, gsize len, gboolean is_deaf)
{
  g_autofree char *shown = NULL;

  if (is_attributes (text, len))
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (rules); i++)
    if (!(is_deaf && rules[i].asks) && matches (i, text, len))
      return;
  shown = g_strndup (text, len);
  g_error ("%s ESC %s passed", is_deaf ? "for the deaf" : "", shown);
}

/* The sequence behind the ESC before @at; behind all of it. */
static gsize
read_sequence (const char *text, gsize len, gsize at, gboolean is_deaf)
{
  gsize end = at;

  g_assert (at < len);
  if (text[at] == ']')
    {
      while (end < len && text[end] != '\a' && text[end] != '\033')
        end++;
      check_sequence (text + at, end - at, is_deaf);
      g_assert (end < len && (text[end] == '\a' || (end + 1 < len && text[end + 1] == '\\')));
      return end + (text[end] == '\a' ? 1 : 2);
    }
  if (text[at] == '[')
    for (end++; end < len && text[end] >= 0x20 && text[end] < 0x40;)
      end++;
  else
    while (end < len && text[end] >= 0x20 && text[end] < 0x30)
      end++;
  g_assert (end < len && text[end] >= 0x30 && text[end] <= 0x7e);
  check_sequence (text + at, end + 1 - at, is_deaf);
  return end + 1;
}

/* Valid, none of C1, and none behind SO, where Linux's console takes bytes for themselves. */
static void
check_characters (const char *text, gsize len, gboolean is_utf8)
{
  gboolean shifted = FALSE;

  g_assert (!is_utf8 || g_utf8_validate (text, (gssize) len, NULL));
  for (gsize i = 0; i < len; i++)
    {
      const guint8 byte = (guint8) text[i];

      shifted = byte == 0x0e || (shifted && byte != 0x0f);
      if (byte < 0x80)
        continue;
      g_assert (is_utf8 ? !shifted : byte >= 0xa0);
      g_assert (!(is_utf8 && byte == 0xc2) || (guint8) text[i + 1] >= 0xa0);
    }
}

static void
check_shown (const GString *shown, gboolean is_utf8, gboolean is_deaf)
{
  const gsize saved_len = strlen (SAVES_TITLE);
  gboolean has_saved = FALSE;

  check_characters (shown->str, shown->len, is_utf8);
  for (gsize i = 0; i < shown->len;)
    {
      const guint8 byte = (guint8) shown->str[i++];

      g_assert (byte != 0x7f && (byte >= 0x20 || byte == 0x1b || (byte >= 7 && byte <= 15)));
      if (byte != 0x1b)
        continue;
      /* Ours, once, before the first title. */
      if (!has_saved && strncmp (shown->str + i, SAVES_TITLE "\033]", saved_len + 2) == 0)
        {
          has_saved = TRUE;
          i += saved_len;
          g_assert (strchr ("012", shown->str[i + 2]) != NULL);
        }
      else
        i = read_sequence (shown->str, shown->len, i, is_deaf);
    }
}

/* --- screen.c --- */

static GString *
pass (Screen *screen, const guint8 *in, gsize len, gsize piece)
{
  GString *all = g_string_new (NULL);

  for (gsize at = 0; at < len; at += piece)
    {
      const gsize given = MIN (piece, len - at);
      g_autofree guint8 *out = g_malloc (given + SCREEN_ROOM);
      const gsize shown = screen_pass (screen, in + at, given, out);

      g_assert (shown <= given + SCREEN_ROOM);
      g_string_append_len (all, (const char *) out, (gssize) shown);
    }
  g_assert (all->len <= len + 1 + strlen (SAVES_TITLE));
  return all;
}

static void
check_undo (const Screen *one, const Screen *other, gboolean is_whole)
{
  g_autoptr (GString) undo = screen_undo (one, is_whole);
  g_autoptr (GString) again = screen_undo (other, is_whole);

  g_assert (g_string_equal (undo, again));
  g_assert ((undo->len > 0) == one->has_drawn);
}

static void
check (const guint8 *data, gsize size, gboolean is_utf8, gboolean is_deaf)
{
  static const gsize pieces[] = { 1, 2, 7, 61 };
  const Screen fresh = { .is_utf8 = is_utf8, .is_deaf = is_deaf };
  g_autofree Screen *screen = g_memdup2 (&fresh, sizeof fresh);
  g_autoptr (GString) shown = pass (screen, data, size, INPUT_MAX);

  check_shown (shown, is_utf8, is_deaf);
  g_assert (!is_deaf || !screen->has_asked || memchr (shown->str, '?', shown->len) != NULL);
  for (gsize i = 0; i <= G_N_ELEMENTS (pieces); i++)
    {
      const gboolean is_second = i == G_N_ELEMENTS (pieces);
      g_autofree Screen *other = g_memdup2 (&fresh, sizeof fresh);
      g_autoptr (GString) again =
          is_second ? pass (other, (const guint8 *) shown->str, shown->len, INPUT_MAX)
                    : pass (other, data, size, pieces[i]);

      g_assert (g_string_equal (shown, again));
      check_undo (screen, other, TRUE);
      check_undo (screen, other, FALSE);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size > INPUT_MAX)
    return 0;
  for (guint kind = 0; kind < 4; kind++)
    check (data, size, (kind & 1) != 0, (kind & 2) != 0);
  return 0;
}
