/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines out of pieces of any size, and the ones that are too long. */
#include "agentlib/mcp/line.h"

#include <string.h>

#define LIMIT 8

/* Feeds @input in pieces of @size; what was found, each line in [], a line too long as !. */
static char *
lines_of (const char *input, gsize size)
{
  g_autoptr (LineReader) reader = line_reader_new (LIMIT);
  GString *found = g_string_new (NULL);
  gsize len = strlen (input);

  for (gsize at = 0; at < len; at += size)
    {
      LineFound what;
      const char *line = NULL;
      gsize n = 0;

      line_reader_feed (reader, input + at, MIN (size, len - at));
      while ((what = line_reader_next (reader, &line, &n)) != LINE_NONE)
        if (what == LINE_WHOLE)
          g_string_append_printf (found, "[%.*s]", (int) n, line);
        else
          g_string_append_c (found, '!');
    }
  return g_string_free (found, FALSE);
}

static void
test_lines (void)
{
  static const struct
  {
    const char *input, *found;
  } rows[] = {
    { "123456789\n", "!" },
    { "123456789\nab\n", "![ab]" },
    { "ab\n123456789", "[ab]!" },
    { "1234567890123456789012345678901234567890\nab\n1234567890\ncd\n", "![ab]![cd]" },
    { "123456789", "!" },
    { "", "" },
    { "ab", "" },
    { "ab\n", "[ab]" },
    { "\n", "[]" },
    { "\n\n\nab\n", "[][][][ab]" },
    { "12345678\n", "[12345678]" },
    { "12345678\n12345678\nab\r\n", "[12345678][12345678][ab\r]" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    for (gsize size = 1; size < 50; size++)
      {
        g_autofree char *found = lines_of (rows[i].input, size);

        g_assert_cmpstr (found, ==, rows[i].found);
      }
}

/* A line without an end takes no more memory than the limit, however long it gets. */
static void
test_endless (void)
{
  g_autoptr (LineReader) reader = line_reader_new (LIMIT);
  guint too_long = 0;
  const char *line;
  gsize n;

  for (guint i = 0; i < 100000; i++)
    {
      line_reader_feed (reader, "endless ", 8);
      if (line_reader_next (reader, &line, &n) == LINE_TOO_LONG)
        too_long++;
    }
  g_assert_cmpuint (too_long, ==, 1);
  line_reader_feed (reader, "\nab\n", 4);
  g_assert_cmpint (line_reader_next (reader, &line, &n), ==, LINE_WHOLE);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpint (line_reader_next (reader, &line, &n), ==, LINE_NONE);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mcp/line/lines", test_lines);
  g_test_add_func ("/mcp/line/endless", test_endless);
  return g_test_run ();
}
