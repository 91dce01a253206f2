/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The generated table, on the characters that libraries get wrong. */
#include "service/record/unicode.h"

static const gunichar never_shown[] = {
  0x00,    0x09,    0x0a,    0x0d,    0x1b,    0x7f,    0x85,     0x9b,     0xa0,
  0xad,    0x34f,   0x61c,   0x115f,  0x1160,  0x1680,  0x17b4,   0x180b,   0x180e,
  0x2000,  0x200b,  0x200d,  0x200e,  0x200f,  0x2028,  0x2029,   0x202a,   0x202e,
  0x2060,  0x2064,  0x2066,  0x2069,  0x206f,  0x2800,  0x3000,   0x3164,   0xd800,
  0xe000,  0xfdd0,  0xfe0f,  0xfeff,  0xffa0,  0xfff9,  0xfffc,   0xffff,   0x16fe4,
  0x1d159, 0x1d173, 0xe0001, 0xe0072, 0xe0100, 0xf0000, 0x10fffd, 0x10ffff, 0x110000,
};

static void
test_never_shown (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (never_shown); i++)
    {
      g_test_message ("U+%04X", never_shown[i]);
      g_assert_cmpuint (char_flags (never_shown[i], NULL) & (CHAR_SHOWN | CHAR_MARK), ==, 0);
    }
}

static void
test_flags (void)
{
  guint8 script;

  g_assert_cmpuint (char_flags ('a', &script), ==, CHAR_SHOWN | CHAR_LETTER);
  g_assert_cmpstr (script_name (script), ==, "Latin");
  g_assert_cmpuint (char_flags (0x430, &script), ==, CHAR_SHOWN | CHAR_LETTER);
  g_assert_cmpstr (script_name (script), ==, "Cyrillic");
  g_assert_cmpuint (char_flags ('7', &script), ==, CHAR_SHOWN | CHAR_DIGIT);
  g_assert_cmpstr (script_name (script), ==, "Common");
  g_assert_cmpuint (char_flags (' ', NULL), ==, CHAR_SHOWN);
  g_assert_cmpuint (char_flags (0x301, NULL), ==, CHAR_MARK);
  g_assert_cmpuint (char_flags (0x5d0, NULL), ==, CHAR_SHOWN | CHAR_LETTER | CHAR_RTL);
  g_assert_cmpuint (char_flags (0x661, NULL), ==, CHAR_SHOWN | CHAR_DIGIT | CHAR_RTL);
  g_assert_cmpuint (char_flags (0x9ea, NULL), ==, CHAR_SHOWN | CHAR_DIGIT);
  g_assert_cmpuint (char_flags (0xff41, NULL), ==, CHAR_SHOWN | CHAR_LETTER | CHAR_VARIANT);
  g_assert_cmpuint (char_flags (0x1d41a, NULL), ==, CHAR_SHOWN | CHAR_LETTER | CHAR_VARIANT);
  g_assert_cmpuint (char_flags (0x202e, NULL), ==, CHAR_CONTROL | CHAR_BIDI);
  g_assert_cmpuint (char_flags (0x200b, NULL), ==, CHAR_CONTROL);
  g_assert_cmpuint (char_flags (0x20ac, NULL), ==, CHAR_SHOWN);
  g_assert_cmpuint (char_flags (0x4e00, &script), ==, CHAR_SHOWN | CHAR_LETTER);
  g_assert_cmpstr (script_name (script), ==, "Han");
  g_assert_cmpuint (script_find ("Han"), ==, script);
  g_assert_cmpuint (script_find ("Klingon"), ==, 0);
}

/* Counted in the database by hand: bidi controls 12, and no character is shown and control too. */
static void
test_sets (void)
{
  guint bidi = 0;

  for (gunichar c = 0; c <= 0x10ffff; c++)
    {
      guint flags = char_flags (c, NULL);

      bidi += (flags & CHAR_BIDI) != 0;
      g_assert_true (!(flags & CHAR_CONTROL) || !(flags & (CHAR_SHOWN | CHAR_MARK)));
      g_assert_true (!(flags & CHAR_MARK) || !(flags & CHAR_SHOWN));
    }
  g_assert_cmpuint (bidi, ==, 12);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/unicode/never-shown", test_never_shown);
  g_test_add_func ("/unicode/flags", test_flags);
  g_test_add_func ("/unicode/sets", test_sets);
  return g_test_run ();
}
