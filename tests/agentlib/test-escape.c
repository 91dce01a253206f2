/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is printed can't move the cursor, hide or reorder, and is never ambiguous. */
#include "agentlib/cli/escape.h"

#include <json-glib/json-glib.h>
#include <string.h>

static void
test_text (void)
{
  static const struct
  {
    const char *in, *out;
  } rows[] = {
    { "", "" },
    { "a b-\303\244 \342\202\254 \346\227\245", "a b-\303\244 \342\202\254 \346\227\245" },
    { "\360\237\230\202", "\360\237\230\202" },
    { "\\", "\\\\" },
    { "\\u{202E}", "\\\\u{202E}" },
    /* control: line breaks, the terminal's escapes, C1 */
    { "a\nb\tc\rd", "a\\u{000A}b\\u{0009}c\\u{000D}d" },
    { "\033[2K\177", "\\u{001B}[2K\\u{007F}" },
    { "\302\233\302\205", "\\u{009B}\\u{0085}" },
    { "\342\200\250\342\200\251", "\\u{2028}\\u{2029}" },
    /* bidi */
    { "report\342\200\256fdp.exe", "report\\u{202E}fdp.exe" },
    { "\342\201\246\342\201\247\342\201\250\342\201\251\330\234\342\200\217",
      "\\u{2066}\\u{2067}\\u{2068}\\u{2069}\\u{061C}\\u{200F}" },
    /* invisible: zero-width, soft hyphen, fillers, variation selectors, tags, BOM */
    { "ali\342\200\213ce\302\255", "ali\\u{200B}ce\\u{00AD}" },
    { "\342\200\215\342\201\240\357\273\277", "\\u{200D}\\u{2060}\\u{FEFF}" },
    { "\341\205\237\343\205\244\357\276\240\342\240\200", "\\u{115F}\\u{3164}\\u{FFA0}\\u{2800}" },
    { "a\357\270\217\363\240\204\200", "a\\u{FE0F}\\u{E0100}" },
    { "\363\240\201\201", "\\u{E0041}" },
    { "a\315\217", "a\\u{034F}" },
    /* spaces that are not the space, private use, noncharacters */
    { "\302\240\343\200\200", "\\u{00A0}\\u{3000}" },
    { "\356\200\200\357\277\276", "\\u{E000}\\u{FFFE}" },
    /* marks: some, not a pile, and none without a base */
    { "e\314\201", "e\314\201" },
    { "\314\201", "\\u{0301}" },
    { "e\314\201\314\201\314\201\314\201\314\201\314\201",
      "e\314\201\314\201\314\201\314\201\\u{0301}\\u{0301}" },
    { "\n\314\201", "\\u{000A}\\u{0301}" },
    /* no UTF-8 */
    { "\377a\355\240\275", "\\x{FF}a\\x{ED}\\x{A0}\\x{BD}" },
    { "\303", "\\x{C3}" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *out = escape_text (rows[i].in);

      g_assert_cmpstr (out, ==, rows[i].out);
    }
}

/* No character at all gets through that GLib calls a control, a format or unassigned. */
static void
test_every_character (void)
{
  for (gunichar c = 1; c <= 0x10ffff; c++)
    {
      char in[7] = { 0 };
      g_autofree char *out = NULL;

      if (c >= 0xd800 && c <= 0xdfff)
        continue;
      g_unichar_to_utf8 (c, in);
      if (g_unichar_isgraph (c) && (!g_unichar_iszerowidth (c) || g_unichar_isalpha (c)))
        continue;
      out = escape_text (in);
      g_assert_true (c == ' ' ? strcmp (out, " ") == 0 : out[0] == '\\');
    }
}

static void
test_json (void)
{
  static const struct
  {
    const char *in, *out;
  } rows[] = {
    { "{\"a\":\"b\\n\\\"\303\244\"}", "{\"a\":\"b\\n\\\"\303\244\"}" },
    { "[\"\342\200\256\302\233\177\"]", "[\"\\u202e\\u009b\\u007f\"]" },
    { "[\"\363\240\201\201\"]", "[\"\\udb40\\udc41\"]" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *out = escape_json (rows[i].in);
      g_autoptr (JsonNode) before = json_from_string (rows[i].in, NULL);
      g_autoptr (JsonNode) after = json_from_string (out, NULL);

      g_assert_cmpstr (out, ==, rows[i].out);
      g_assert_true (json_node_equal (before, after));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/escape/text", test_text);
  g_test_add_func ("/escape/every-character", test_every_character);
  g_test_add_func ("/escape/json", test_json);
  return g_test_run ();
}
