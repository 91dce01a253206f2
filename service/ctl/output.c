/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Printing: JSON for programs, escaped lines for people. */
#include "service/ctl/output.h"

#include "service/base/error-json.h"
#include "service/record/rows.h"

#include <stdio.h>
#include <string.h>

void
output_entry (const JsonTree *tree)
{
  g_autoptr (GBytes) bytes = json_tree_write (tree);
  gsize len = 0;
  const char *data = g_bytes_get_data (bytes, &len);

  fwrite (data, 1, len, stdout);
  fputc ('\n', stdout);
}

void
output_json (JsonTree *tree)
{
  json_tree_add_string (tree, "version", OUTPUT_VERSION);
  output_entry (tree);
}

void
output_field (const char *name, const char *value)
{
  g_autofree char *shown_name = escape_line (name);
  g_autofree char *shown = escape_line (value);

  printf ("  %s: %s\n", shown_name, shown);
}

void
output_done (gboolean json, const char *text)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();

  if (json)
    output_json (tree);
  else
    puts (text);
}

void
output_error (gboolean json, const GError *error)
{
  g_autoptr (GPtrArray) lines = NULL;
  g_autofree char *valid = NULL;

  if (json)
    {
      g_autoptr (JsonTree) tree = error_to_tree (error);

      output_json (tree);
      return;
    }
  valid = g_utf8_make_valid (error->message, -1);
  lines = escape_text (valid);
  for (guint i = 0; i < lines->len; i++)
    fprintf (stderr, "%s%s\n", i == 0 ? "undersignctl: " : "  ",
             (const char *) g_ptr_array_index (lines, i));
}
