/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/record/vectors.h"

#include "dbus/error.h"
#include "service/base/encode.h"

#include <string.h>

JsonTree *
vectors_read (const char *name)
{
  static const JsonLimits limits = { 4 * 1024 * 1024, 16, 1024 * 1024, 100000 };
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "vectors", "record", name, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  JsonTree *tree;
  gsize len;

  g_file_get_contents (path, &text, &len, &error);
  g_assert_no_error (error);
  tree = json_tree_parse (text, len, &limits, &error);
  g_assert_no_error (error);
  return tree;
}

const JsonTree *
vectors_find (const JsonTree *entries, const char *id)
{
  for (guint i = 0; i < json_tree_length (entries); i++)
    if (g_strcmp0 (json_tree_get_string (json_tree_item (entries, i), "id"), id) == 0)
      return json_tree_item (entries, i);
  g_error ("no vector %s", id);
}

const char *
vectors_text (const JsonTree *entry, const char *name)
{
  const char *text = json_tree_get_string (entry, name);

  if (text == NULL)
    g_error ("%s has no %s", json_tree_get_string (entry, "id"), name);
  return text;
}

static guint
times_of (const JsonTree *entry)
{
  const char *times = json_tree_get_string (entry, "times");

  return times != NULL ? (guint) g_ascii_strtoull (times, NULL, 10) : 1;
}

/* One replacement: where `from` comes first in @text, `to`, as often as `times` says. */
static void
replace (GString *text, const JsonTree *entry, const char *id)
{
  const char *from = vectors_text (entry, "from");
  const char *to = vectors_text (entry, "to");
  const char *found = strstr (text->str, from);
  g_autoptr (GString) repeated = g_string_new (NULL);
  gssize at;

  if (found == NULL)
    g_error ("%s: nothing to replace", id);
  at = found - text->str;
  for (guint i = 0; i < times_of (entry); i++)
    g_string_append (repeated, to);
  g_string_erase (text, at, (gssize) strlen (from));
  g_string_insert (text, at, repeated->str);
}

JsonTree *
vectors_value (const JsonTree *entry)
{
  const JsonTree *value = json_tree_member (entry, "value");
  g_autoptr (GString) text = g_string_new (NULL);
  JsonTree *list = NULL;

  if (times_of (entry) == 1)
    return json_tree_copy (value);
  if (json_tree_kind (value) == JSON_TREE_ARRAY)
    list = json_tree_new_array ();
  for (guint i = 0; i < times_of (entry); i++)
    if (list != NULL)
      json_tree_append (list, json_tree_copy (json_tree_item (value, 0)));
    else
      g_string_append (text, json_tree_string (value));
  return list != NULL ? list : json_tree_new_string (text->str);
}

GBytes *
vectors_bytes (const JsonTree *entries, const JsonTree *entry, const char *member)
{
  g_autofree char *hex_name = g_strconcat (member, "_hex", NULL);
  const char *hex = json_tree_get_string (entry, hex_name);
  const char *text = json_tree_get_string (entry, member);
  const char *of = json_tree_get_string (entry, "of");

  if (hex != NULL)
    {
      gsize len = strlen (hex) / 2;
      guint8 *data = g_malloc (len + 1);

      g_assert_true (hex_decode (hex, data, len));
      return g_bytes_new_take (data, len);
    }
  if (of != NULL)
    {
      g_autoptr (GString) copy = g_string_new (vectors_text (vectors_find (entries, of), member));
      const JsonTree *also = json_tree_member (entry, "also");

      replace (copy, entry, vectors_text (entry, "id"));
      for (guint i = 0; i < json_tree_length (also); i++)
        replace (copy, json_tree_item (also, i), vectors_text (entry, "id"));
      return g_bytes_new (copy->str, copy->len);
    }
  if (text == NULL)
    g_error ("%s has no bytes", vectors_text (entry, "id"));
  return g_bytes_new (text, strlen (text));
}

void
vectors_assert_verdict (const JsonTree *entry, const GError *error)
{
  const char *verdict = vectors_text (entry, "verdict");
  gboolean agrees =
      strcmp (verdict, "ok") == 0 ? error == NULL : us_error_has_reason (error, verdict);

  if (!agrees)
    g_error ("%s: the verdict is %s, not: %s", vectors_text (entry, "id"), verdict,
             error != NULL ? error->message : "ok");
}
