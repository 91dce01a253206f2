/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text for a terminal: nothing that it could obey, nothing lost, never wider than said. */
#include "module/card/tty/text.h"

#include <string.h>

static void
test_safe (void)
{
  static const struct
  {
    const char *text, *utf8, *ascii;
  } cases[] = {
    { "", "", "" },
    { "plain text", "plain text", "plain text" },
    { "\\u{202E}", "\\u{202E}", "\\u{202E}" },
    { "caf\303\251", "caf\303\251", "caf\\u{00E9}" },
    { "\033[2J", "\\u{001B}[2J", "\\u{001B}[2J" },
    { "a\rb\nc\td\b\007\177", "a\\u{000D}b\\u{000A}c\\u{0009}d\\u{0008}\\u{0007}\\u{007F}",
      "a\\u{000D}b\\u{000A}c\\u{0009}d\\u{0008}\\u{0007}\\u{007F}" },
    { "\302\233"
      "31m",
      "\\u{009B}31m", "\\u{009B}31m" },
    { "\342\200\256x", "\\u{202E}x", "\\u{202E}x" },
    { "\342\200\213", "\\u{200B}", "\\u{200B}" },
    { "\357\273\277", "\\u{FEFF}", "\\u{FEFF}" },
    { "\342\200\250", "\\u{2028}", "\\u{2028}" },
    { "\363\240\201\262", "\\u{E0072}", "\\u{E0072}" },
    { "\356\200\200", "\\u{E000}", "\\u{E000}" },
    { "bad\377byte", "bad\\x{FF}byte", "bad\\x{FF}byte" },
    { "cut\303", "cut\\x{C3}", "cut\\x{C3}" },
    /* the two- and three-em dash, the basmala: wider than their place */
    { "a\342\270\272b", "a\\u{2E3A}b", "a\\u{2E3A}b" },
    { "\342\270\273", "\\u{2E3B}", "\\u{2E3B}" },
    { "\357\267\275", "\\u{FDFD}", "\\u{FDFD}" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *utf8 = text_safe (cases[i].text, TRUE);
      g_autofree char *ascii = text_safe (cases[i].text, FALSE);

      g_assert_cmpstr (utf8, ==, cases[i].utf8);
      g_assert_cmpstr (ascii, ==, cases[i].ascii);
    }
}

/* Every code point: what is safe is of one piece and no control; what is not is spelled out. */
static void
test_safe_all (void)
{
  for (gunichar c = 1; c <= 0x10ffff; c++)
    {
      char text[8] = { 0 };
      g_autofree char *safe = NULL;

      if (!g_unichar_validate (c))
        continue;
      g_unichar_to_utf8 (c, text);
      safe = text_safe (text, TRUE);
      if (strcmp (safe, text) == 0)
        g_assert_true (c == ' ' || g_unichar_isgraph (c) || g_unichar_isspace (c) ||
                       g_unichar_ismark (c));
      else
        g_assert_true (g_str_has_prefix (safe, "\\u{"));
      g_assert_false (g_unichar_iscntrl (g_utf8_get_char (safe)));
    }
}

static void
test_width (void)
{
  g_assert_cmpuint (text_width (""), ==, 0);
  g_assert_cmpuint (text_width ("abc"), ==, 3);
  g_assert_cmpuint (text_width ("\346\274\242\345\255\227"), ==, 4); /* wide */
  g_assert_cmpuint (text_width ("e\314\201"), >=, 2);                /* combining: in doubt, one */
  g_assert_cmpuint (text_width ("\302\241"), ==, 2);                 /* of ambiguous width */
}

static void
assert_wrapped (const char *text, guint columns)
{
  g_autoptr (GPtrArray) pieces = text_wrap (text, columns);
  g_autoptr (GString) joined = g_string_new (NULL);

  g_assert_cmpuint (pieces->len, >=, 1);
  for (guint i = 0; i < pieces->len; i++)
    {
      const char *piece = g_ptr_array_index (pieces, i);

      g_assert_true (g_utf8_validate (piece, -1, NULL));
      g_assert_cmpuint (text_width (piece), <=, columns);
      g_assert_true (piece[0] != '\0' || text[0] == '\0');
      g_string_append (joined, piece);
    }
  g_assert_cmpstr (joined->str, ==, text);
}

static void
test_wrap (void)
{
  static const char *const texts[] = {
    "",
    "a",
    "some words that are longer than the line is wide",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "a aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "   spaces   in   rows   ",
    "\346\274\242\345\255\227\346\274\242\345\255\227 \346\274\242\345\255\227",
    "e\314\201e\314\201e\314\201e\314\201e\314\201e\314\201",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    for (guint columns = 2; columns < 70; columns++)
      assert_wrapped (texts[i], columns);
}

static void
test_wrap_at_spaces (void)
{
  g_autoptr (GPtrArray) pieces = text_wrap ("to approve it press Enter", 16);

  g_assert_cmpuint (pieces->len, ==, 2);
  g_assert_cmpstr (g_ptr_array_index (pieces, 0), ==, "to approve it ");
  g_assert_cmpstr (g_ptr_array_index (pieces, 1), ==, "press Enter");
}

static void
test_duration (void)
{
  static const struct
  {
    guint64 seconds;
    const char *text;
  } cases[] = {
    { 0, "0 s" },          { 59, "59 s" },           { 60, "1 min 0 s" },  { 3599, "59 min 59 s" },
    { 3600, "1 h 0 min" }, { 86399, "23 h 59 min" }, { 86400, "1 d 0 h" }, { 90000, "1 d 1 h" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = text_duration (cases[i].seconds);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text/safe", test_safe);
  g_test_add_func ("/text/safe-all", test_safe_all);
  g_test_add_func ("/text/width", test_width);
  g_test_add_func ("/text/wrap", test_wrap);
  g_test_add_func ("/text/wrap-at-spaces", test_wrap_at_spaces);
  g_test_add_func ("/text/duration", test_duration);
  return g_test_run ();
}
