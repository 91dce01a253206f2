/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a screen gets instead of what it could not show, and that nothing is lost on the way. */
#include "service/record/escape-private.h"
#include "service/record/rows.h"

#include <string.h>

static const struct
{
  const char *text, *line;
} lines[] = {
  { "", "" },
  { "a b", "a b" },
  { "alice ", "alice\\u{0020}" },
  { " alice", "\\u{0020}alice" },
  { "   ", "\\u{0020*3}" },
  { "a  b", "a\\u{0020*2}b" },
  { "a\\b", "a\\\\b" },
  { "\\u{202E}", "\\\\u{202E}" },
  { "a\nb", "a\\u{000A}b" },
  { "a\n\n\nb", "a\\u{000A*3}b" },
  { "a\tb", "a\\u{0009}b" },
  { "a\rb", "a\\u{000D}b" },
  { "\033[J", "\\u{001B}[J" },
  { "a\302\233b", "a\\u{009B}b" },
  { "report\342\200\256fdp.exe", "report\\u{202E}fdp.exe" },
  { "a\302\240b", "a\\u{00A0}b" },
  { "a\303\274b", "a\303\274b" },
  { "\327\220\327\221", "\327\220\327\221" },
  { "user\343\205\244name", "user\\u{3164}name" },
  { "user\342\240\200name", "user\\u{2800}name" },
  { "ok\363\240\201\262\363\240\201\255", "ok\\u{E0072}\\u{E006D}" },
  { "\364\217\277\277", "\\u{10FFFF}" },
  { "\356\200\200", "\\u{E000}" },
  { "<b>&amp;</b>", "<b>&amp;</b>" },
  { "\360\237\230\202", "\360\237\230\202" },
  { "e\314\201", "e\314\201" },
  { "\314\201e", "\\u{0301}e" },
  { " \314\201e", "\\u{0020}\\u{0301}e" },
  { "a \314\201e", "a \\u{0301}e" },
  { "e\314\201\314\201\314\201\314\201\314\201", "e\314\201\314\201\314\201\314\201\\u{0301}" },
  { "e\314\200\314\201\314\202\314\203\314\204\314\205",
    "e\314\200\314\201\314\202\314\203\\u{0304}\\u{0305}" },
  { "1\357\270\217\342\203\243", "1\\u{FE0F}\\u{20E3}" },
};

static void
test_line (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autofree char *line = escape_line (lines[i].text);

      g_assert_cmpstr (line, ==, lines[i].line);
    }
}

static const struct
{
  const char *text;
  const char *lines; /* joined by | */
} texts[] = {
  { "", "" },
  { "a", "a" },
  { "a\n", "a|" },
  { "a\nb", "a|b" },
  { "\n", "|" },
  { "a\n\n\n\nb", "a||||b" },
  { "a\n\n\n\n\nb", "a|\\(4 empty lines)|b" },
  { "\n\n\n\n", "\\(5 empty lines)" },
  { "\\(4 empty lines)", "\\\\(4 empty lines)" },
  { "  a", "  a" },
  { "         a", "\\u{0020*9}a" },
  { "a  ", "a\\u{0020*2}" },
  { "a        b", "a        b" },
  { "a         b", "a\\u{0020*9}b" },
  { "  ", "\\u{0020*2}" },
  { "a\r\nb", "a\\u{000D}|b" },
  { "\tx", "\\u{0009}x" },
  { "a\342\200\250b", "a\\u{2028}b" },
  { "a\n\314\201", "a|\\u{0301}" },
};

static void
test_text (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GPtrArray) out = escape_text (texts[i].text);
      g_autofree char *joined = NULL;

      g_ptr_array_add (out, NULL);
      joined = g_strjoinv ("|", (char **) out->pdata);
      g_assert_cmpstr (joined, ==, texts[i].lines);
    }
}

static const struct
{
  const char *text, *name;
} names[] = {
  { "/srv/data /etc", "/srv/data /etc" },
  { "/etc\342\210\225passwd", "/etc\\u{2215}passwd" },
  { "/srv/\320\260rchive", "/srv/\320\260rchive" },
  { "/\327\220/1/2", "/\\u{05D0}/1/2" },
  { "/a\342\200\223b", "/a\\u{2013}b" },
  { "r\303\251sum\303\251.pdf", "r\303\251sum\303\251.pdf" },
};

static void
test_name (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *name = escape_value (names[i].text, ESCAPE_NAME, NULL);

      g_assert_cmpstr (name, ==, names[i].name);
    }
}

/* The inverse, which exists only if nothing was lost and nothing is ambiguous. */
static char *
unescape (const char *line)
{
  GString *out = g_string_new (NULL);

  for (const char *c = line; *c != '\0'; c++)
    {
      guint64 code, n = 1;
      char *end;

      if (*c != '\\')
        {
          g_string_append_c (out, *c);
          continue;
        }
      c++;
      if (*c == '\\')
        {
          g_string_append_c (out, '\\');
          continue;
        }
      g_assert_true (c[0] == 'u' && c[1] == '{');
      code = g_ascii_strtoull (c + 2, &end, 16);
      if (*end == '*')
        n = g_ascii_strtoull (end + 1, &end, 10);
      g_assert_cmpint (*end, ==, '}');
      for (; n > 0; n--)
        g_string_append_unichar (out, (gunichar) code);
      c = end;
    }
  return g_string_free (out, FALSE);
}

static char *
random_text (void)
{
  static const gunichar of[] = { ' ',    ' ',     '\\',    '{',    '*',   '}',   'u',
                                 '(',    'a',     '\n',    '\t',   0x301, 0x302, 0x5d0,
                                 0x202e, 0xe0072, 0x1f602, 0x2800, 0xa0,  0x430 };
  GString *out = g_string_new (NULL);
  int n = g_test_rand_int_range (0, 24);

  for (int i = 0; i < n; i++)
    g_string_append_unichar (out, of[g_test_rand_int_range (0, G_N_ELEMENTS (of))]);
  return g_string_free (out, FALSE);
}

static void
test_nothing_is_lost (void)
{
  for (guint i = 0; i < 20000; i++)
    {
      EscapeMode mode = (EscapeMode) (i % 4);
      g_autofree char *text = random_text ();
      g_autofree char *line = escape_value (text, mode, NULL);
      g_autofree char *back = unescape (line);

      g_assert_cmpstr (back, ==, text);
      g_assert_null (strchr (line, '\n'));
    }
}

static void
test_no_text_is_lost (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (guint i = 0; i < 20000; i++)
    {
      g_autofree char *text = random_text ();
      g_autoptr (GPtrArray) out = escape_text (text);
      g_autofree char *joined = NULL;
      const char *other;

      g_ptr_array_add (out, NULL);
      joined = g_strjoinv ("\n", (char **) out->pdata);
      other = g_hash_table_lookup (seen, joined);
      if (other != NULL)
        g_assert_cmpstr (other, ==, text);
      else
        g_hash_table_insert (seen, g_steal_pointer (&joined), g_steal_pointer (&text));
    }
}

static void
test_mostly_hidden (void)
{
  static const struct
  {
    gsize shown, hidden;
    gboolean is;
  } cases[] = { { 0, 0, FALSE }, { 0, 8, FALSE },  { 0, 9, TRUE },
                { 26, 9, TRUE }, { 27, 9, FALSE }, { 1000, 300, FALSE } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      EscapeCount count = { cases[i].shown, cases[i].hidden, 0 };

      g_assert_true (escape_is_mostly_hidden (&count) == cases[i].is);
    }
}

/* Every note once, and a value that deserves none. */
static const struct
{
  const char *text;
  const char *notes; /* joined by | */
} notes[] = {
  { "plain text, \342\202\254 5", "" },
  { "caf\303\251", "" },
  { "a\302\255b", "characters that have no picture or would mislead, written as \\u{…}" },
  { "a\342\200\256b", "characters that have no picture or would mislead, written as \\u{…}|"
                      "direction controls, which would reorder what is read" },
  { "alice ", "spaces at an end or in a row, written as \\u{0020}" },
  { "\\u{0020", "" },
  { "\327\220\327\221", "right-to-left text|letters that are not Latin: Hebrew" },
  { "p\320\260ypal",
    "one word mixes letters of Latin, Cyrillic|letters that are not Latin: Cyrillic" },
  { "p\320\260y p\316\261l",
    "one word mixes letters of Latin, Cyrillic|letters that are not Latin: Cyrillic, Greek" },
  { "\321\200\320\260\321\203", "letters that are not Latin: Cyrillic" },
  { "\346\227\245\346\234\254\350\252\236\343\201\256A\343\202\253",
    "letters that are not Latin: Han, Hiragana, Katakana" },
  { "\357\275\201lice", "letters in a mathematical, full-width or half-width form" },
  { "\331\241\331\240", "right-to-left text|digits other than 0 to 9" },
  { "\340\247\252\340\247\255", "digits other than 0 to 9" },
  { "A\314\212", "not in Unicode normal form C: another spelling looks the same" },
  { "\314\260"
    "1lice",
    "characters that have no picture or would mislead, written as \\u{…}|"
    "a combining mark without a letter of its own" },
  { "e\314\200\314\201\314\202\314\203\314\204",
    "characters that have no picture or would mislead, written as \\u{…}|"
    "not in Unicode normal form C: another spelling looks the same|"
    "5 combining marks on one letter" },
  { "i\314\207", "a dot that its letter hides" },
};

static void
test_notes (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (notes); i++)
    {
      g_autoptr (GPtrArray) out = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (Notes) read = notes_new ();
      g_autofree char *joined = NULL;
      EscapeCount count = { 0 };

      g_free (escape_value (notes[i].text, ESCAPE_LINE, &count));
      notes_read (read, notes[i].text);
      notes_write (read, &count, out);
      g_ptr_array_add (out, NULL);
      joined = g_strjoinv ("|", (char **) out->pdata);
      g_assert_cmpstr (joined, ==, notes[i].notes);
    }
}

static gboolean
has_form_note (const char *text)
{
  g_autoptr (GPtrArray) out = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (Notes) read = notes_new ();
  EscapeCount count = { 0 };

  notes_read (read, text);
  notes_write (read, &count, out);
  for (guint i = 0; i < out->len; i++)
    if (g_str_has_prefix (g_ptr_array_index (out, i), "not in Unicode normal form C"))
      return TRUE;
  return FALSE;
}

/* Long texts are looked at piece by piece; what is found is the same. */
static void
test_form_of_long_texts (void)
{
  static const gunichar of[] = {
    'a', 'a', 'a', 0xe5, 0x5d0, 0x1100, 0x1161, 0x11a8, 0xac00, 0x4e00
  };
  static const gunichar rare[] = { 0x301, 0x323, 0x11a8, 0x1161, 0x212b, 0x9be };

  for (guint i = 0; i < 500; i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autofree char *composed = NULL;

      while (text->len < 1500)
        g_string_append_unichar (text, of[g_test_rand_int_range (0, G_N_ELEMENTS (of))]);
      composed = g_utf8_normalize (text->str, -1, G_NORMALIZE_NFC);
      g_string_assign (text, composed);
      if (i % 2 == 0)
        for (guint n = 0; n < 3; n++)
          {
            glong at = g_test_rand_int_range (0, (gint32) g_utf8_strlen (text->str, -1));

            g_string_insert_unichar (text, g_utf8_offset_to_pointer (text->str, at) - text->str,
                                     rare[g_test_rand_int_range (0, G_N_ELEMENTS (rare))]);
          }
      g_free (composed);
      composed = g_utf8_normalize (text->str, -1, G_NORMALIZE_NFC);
      g_assert_true (has_form_note (text->str) == (strcmp (composed, text->str) != 0));
    }
}

/* No value of the largest size takes long, whatever is in it. */
static void
test_large_values (void)
{
  static const char *const of[] = { "a",
                                    " ",
                                    "\n",
                                    "\033",
                                    "\314\201",
                                    "a\314\201",
                                    "\\",
                                    "a ",
                                    "\314\241\314\201",
                                    "\327\220",
                                    "\303\245\314\243" };

  for (gsize i = 0; i < G_N_ELEMENTS (of); i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (GPtrArray) out = NULL;
      g_autoptr (Notes) read = notes_new ();

      while (text->len + strlen (of[i]) <= 64 * 1024)
        g_string_append (text, of[i]);
      g_test_timer_start ();
      out = escape_text (text->str);
      notes_read (read, text->str);
      g_assert_cmpfloat (g_test_timer_elapsed (), <, 5.0);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/escape/line", test_line);
  g_test_add_func ("/escape/text", test_text);
  g_test_add_func ("/escape/name", test_name);
  g_test_add_func ("/escape/nothing-is-lost", test_nothing_is_lost);
  g_test_add_func ("/escape/no-text-is-lost", test_no_text_is_lost);
  g_test_add_func ("/escape/mostly-hidden", test_mostly_hidden);
  g_test_add_func ("/escape/notes", test_notes);
  g_test_add_func ("/escape/form-of-long-texts", test_form_of_long_texts);
  g_test_add_func ("/escape/large-values", test_large_values);
  return g_test_run ();
}
