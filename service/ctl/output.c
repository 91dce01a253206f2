/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Printing: JSON for programs, escaped lines for people. */
#include "service/ctl/output.h"

#include "dbus/error.h"
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

/* A message is "REASON: text"; one of another kind has no reason. */
static void
print_error_json (const GError *error)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  const char *colon = error->domain == US_ERROR ? strstr (error->message, ": ") : NULL;
  g_autofree char *reason =
      colon != NULL ? g_strndup (error->message, (gsize) (colon - error->message)) : NULL;
  g_autofree char *text = g_utf8_make_valid (colon != NULL ? colon + 2 : error->message, -1);

  json_tree_add_string (tree, "error", us_error_name ((UsError) error->code));
  json_tree_add_string (tree, "reason", reason != NULL ? reason : "internal");
  json_tree_add_string (tree, "text", text);
  output_json (tree);
}

void
output_error (gboolean json, const GError *error)
{
  g_autoptr (GPtrArray) lines = NULL;
  g_autofree char *valid = NULL;

  if (json)
    {
      print_error_json (error);
      return;
    }
  valid = g_utf8_make_valid (error->message, -1);
  lines = escape_text (valid);
  for (guint i = 0; i < lines->len; i++)
    fprintf (stderr, "%s%s\n", i == 0 ? "undersignctl: " : "  ",
             (const char *) g_ptr_array_index (lines, i));
}
