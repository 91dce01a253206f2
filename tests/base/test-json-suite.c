/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The JSON reader and writer against other people's vectors (tests/vectors/README of each). */
#include "service/base/json.h"

#include "service/base/encode.h"

#include <string.h>

static const JsonLimits limits = { 1024 * 1024, JSON_MAX_DEPTH, 65536, 1000 };

/* A file of "accept NAME" and "refuse NAME" lines, as name → verdict. */
static GHashTable *
read_verdicts (const char *path)
{
  g_autofree char *file = g_test_build_filename (G_TEST_DIST, path, NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  GHashTable *verdicts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GError) error = NULL;

  g_file_get_contents (file, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *space = strchr (lines[i], ' ');

      g_assert_nonnull (space);
      g_assert_true (g_hash_table_insert (verdicts, g_strdup (space + 1),
                                          g_strndup (lines[i], (gsize) (space - lines[i]))));
    }
  return verdicts;
}

static const char *
verdict_of (const char *text, gsize len)
{
  g_autofree char *copy = g_memdup2 (text, len);
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonTree) tree = json_tree_parse (copy, len, &limits, &error);

  g_assert_true ((tree == NULL) == (error != NULL));
  return tree != NULL ? "accept" : "refuse";
}

static void
test_suite (void)
{
  g_autoptr (GHashTable) verdicts = read_verdicts ("vectors/jsontestsuite/verdicts");
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "vectors/jsontestsuite/test_parsing", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) dir = g_dir_open (path, 0, &error);
  guint seen = 0, pinned = 0;

  g_assert_no_error (error);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    {
      g_autofree char *file = g_build_filename (path, name, NULL);
      g_autofree char *text = NULL;
      const char *expected = g_hash_table_lookup (verdicts, name);
      gsize len;

      g_test_message ("%s", name);
      seen++;
      if (expected != NULL)
        pinned++;
      g_assert_false (name[0] == 'n' && expected != NULL);
      g_assert_true (name[0] == 'i' ? expected != NULL : TRUE);
      if (expected == NULL)
        expected = name[0] == 'y' ? "accept" : "refuse";
      g_file_get_contents (file, &text, &len, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (verdict_of (text, len), ==, expected);
    }
  g_assert_cmpuint (seen, ==, 318);
  g_assert_cmpuint (pinned, ==, g_hash_table_size (verdicts));
}

/* Lines of a verdict, a name and the input in hex. */
static void
test_probes (void)
{
  g_autofree char *file = g_test_build_filename (G_TEST_DIST, "vectors/jcs/probes", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  g_assert_true (g_file_get_contents (file, &text, NULL, NULL));
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 53);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) words = g_strsplit (lines[i], " ", 3);
      gsize size = strlen (words[2]) / 2;
      g_autofree guint8 *data = g_malloc (size + 1);

      g_test_message ("%s", words[1]);
      g_assert_true (hex_decode (words[2], data, size));
      g_assert_cmpstr (verdict_of ((const char *) data, size), ==, words[0]);
    }
}

static void
test_canonical (void)
{
  static const struct
  {
    const char *name;
    gboolean has_numbers;
  } rows[] = {
    { "arrays.json", TRUE },  { "french.json", FALSE }, { "structures.json", TRUE },
    { "unicode.json", FALSE }, { "values.json", TRUE },  { "weird.json", FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *in = g_test_build_filename (G_TEST_DIST, "vectors/jcs/input", rows[i].name, NULL);
      g_autofree char *out =
          g_test_build_filename (G_TEST_DIST, "vectors/jcs/output", rows[i].name, NULL);
      g_autofree char *text = NULL;
      g_autofree char *expected = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (JsonTree) tree = NULL;
      g_autoptr (GBytes) bytes = NULL;
      gsize len, expected_len;

      g_test_message ("%s", rows[i].name);
      g_assert_true (g_file_get_contents (in, &text, &len, NULL));
      g_assert_true (g_file_get_contents (out, &expected, &expected_len, NULL));
      tree = json_tree_parse (text, len, &limits, &error);
      g_assert_no_error (error);
      bytes = json_tree_write (tree);
      if (rows[i].has_numbers)
        g_assert_null (bytes);
      else
        g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), expected,
                         expected_len);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-suite/parsing", test_suite);
  g_test_add_func ("/json-suite/probes", test_probes);
  g_test_add_func ("/json-suite/canonical", test_canonical);
  return g_test_run ();
}
