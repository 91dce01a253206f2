/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is written is one line, reads back as the same tree, and keeps its numbers. */
#include "agentlib/mcp/text.h"

#include <string.h>

static const JsonLimits limits = { 4096, 32, 4096, 256 };

/* No byte of any text of the world ends the line. */
static void
test_one_line (void)
{
  for (gunichar c = 1; c < 0x3000; c++)
    {
      char utf8[7] = "";
      g_autoptr (JsonTree) tree = NULL;
      g_autoptr (JsonTree) back = NULL;
      g_autofree char *text = NULL;

      if (c >= 0xd800 && c <= 0xdfff)
        continue;
      g_unichar_to_utf8 (c, utf8);
      tree = json_tree_new_string (utf8);
      text = tree_text (tree);
      for (const char *at = text; *at != '\0'; at++)
        g_assert_true ((guint8) *at >= 0x20);
      g_assert_null (strstr (text, "\xe2\x80\xa8"));
      g_assert_null (strstr (text, "\xe2\x80\xa9"));
      back = json_tree_parse (text, strlen (text), &limits, NULL);
      g_assert_cmpstr (json_tree_string (back), ==, utf8);
    }
}

static void
test_texts (void)
{
  static const char *const texts[] = {
    "{\"b\":1,\"a\":[true,false,null,{}],\"c\":\"\"}",
    "[1.50,-0,1e400,123456789012345678901234567890]",
    "\"a\\nb\\u2028\\u007f\xf0\x9f\x98\x80\"",
    "[]",
    "null",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (JsonTree) tree = json_tree_parse (texts[i], strlen (texts[i]), &limits, &error);
      g_autofree char *text = NULL;

      g_assert_no_error (error);
      text = tree_text (tree);
      g_assert_cmpstr (text, ==, texts[i]);
    }
}

static void
test_integers (void)
{
  static const char *const bad[] = { "1.0", "1e3", "-0", "9007199254740993",
                                     "99999999999999999999", "-9007199254740993" };
  g_autoptr (JsonTree) text = json_tree_new_string ("1");
  g_autoptr (JsonTree) good = tree_new_integer (-12);
  gint64 value = 7;

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (JsonTree) tree = json_tree_new_number (bad[i]);

      g_assert_false (tree_integer (tree, &value));
    }
  g_assert_false (tree_integer (text, &value));
  g_assert_false (tree_integer (NULL, &value));
  g_assert_cmpint (value, ==, 7);
  g_assert_true (tree_integer (good, &value));
  g_assert_cmpint (value, ==, -12);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mcp/text/one-line", test_one_line);
  g_test_add_func ("/mcp/text/texts", test_texts);
  g_test_add_func ("/mcp/text/integers", test_integers);
  return g_test_run ();
}
