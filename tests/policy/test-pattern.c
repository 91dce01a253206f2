/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pattern=: what is no pattern, and what one matches, however often it is asked. */
#include "service/policy/constraint.h"

#include <locale.h>
#include <string.h>

static void
test_refused (void)
{
  static const struct
  {
    const char *text, *says;
  } rows[] = {
    { "(", "is not valid" },
    { "[a", "is not valid" },
    { "(a)\\1", "back reference" },
    { "(a{100}){100}", "repeats more than" },
    { "a{4097}", "repeats more than" },
  };
  g_autofree char *large = g_strnfill (PATTERN_MAX_BYTES + 1, 'a');
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_assert_null (pattern_new (rows[i].text, &error));
      g_assert_nonnull (error);
      g_assert_nonnull (strstr (error->message, rows[i].says));
      g_clear_error (&error);
    }
  g_assert_null (pattern_new (large, &error));
  g_assert_nonnull (strstr (error->message, "longer than"));
  g_assert_false (pattern_matches (NULL, ""));
  g_assert_false (pattern_matches (NULL, "a"));
}

static void
test_whole (void)
{
  static const struct
  {
    const char *pattern, *text;
    gboolean matches;
  } rows[] = {
    { "b|abc", "abcd", FALSE }, { "b|abc", "abc", TRUE },      { "a*", "", TRUE },
    { "b", "ab", FALSE },       { "[a-z]+", "ab\ncd", FALSE }, { "a|ab|abc", "abc", TRUE },
    { "a.c", "abc", TRUE },     { "a.c", "a\303\244c", TRUE }, { "[a-z]", "\303\244", FALSE },
    { "[A-Z]", "b", FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Pattern) pattern = pattern_new (rows[i].pattern, &error);

      g_test_message ("%s: %s", rows[i].pattern, rows[i].text);
      g_assert_no_error (error);
      /* Nothing is kept of what it was held against before. */
      for (guint j = 0; j < 3; j++)
        {
          g_assert_true (pattern_matches (pattern, rows[i].text) == rows[i].matches);
          g_assert_false (pattern_matches (pattern, "#\n"));
        }
    }
}

/* A process with another locale sees the same. */
static void
test_locale (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Pattern) pattern = pattern_new ("a.c", &error);
  g_autofree char *before = g_strdup (setlocale (LC_ALL, NULL));

  g_assert_no_error (error);
  g_assert_nonnull (setlocale (LC_ALL, "C"));
  g_assert_true (pattern_matches (pattern, "a\303\244c"));
  g_assert_nonnull (setlocale (LC_ALL, "C.UTF-8"));
  g_assert_true (pattern_matches (pattern, "a\303\244c"));
  setlocale (LC_ALL, before);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/pattern/refused", test_refused);
  g_test_add_func ("/policy/pattern/whole", test_whole);
  g_test_add_func ("/policy/pattern/locale", test_locale);
  return g_test_run ();
}
