/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes JSON for a client.  It is no canonical form and nothing is ever hashed of it.  A line of
 * the protocol ends at the first line feed, and some readers end one at U+2028 too: neither is ever
 * written but as an escape.
 */
#include "agentlib/mcp/text.h"

#include <string.h>

/* All that some reader could take for the end of a line or not accept in a string. */
static gboolean
is_plain (gunichar c)
{
  return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f && c != 0x85 && c != 0x2028 && c != 0x2029;
}

static void
write_string (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if (is_plain (c))
        g_string_append_len (out, at, g_utf8_next_char (at) - at);
      else if (c == '\n')
        g_string_append (out, "\\n");
      else if (c == '"' || c == '\\')
        g_string_append_printf (out, "\\%c", (char) c);
      else
        g_string_append_printf (out, "\\u%04x", c);
    }
  g_string_append_c (out, '"');
}

static void
write_tree (GString *out, const JsonTree *tree)
{
  JsonTreeKind kind = json_tree_kind (tree);
  gboolean value = FALSE;

  switch (kind)
    {
    case JSON_TREE_BOOLEAN:
      json_tree_boolean (tree, &value);
      g_string_append (out, value ? "true" : "false");
      break;
    case JSON_TREE_NUMBER:
      g_string_append (out, json_tree_number (tree));
      break;
    case JSON_TREE_STRING:
      write_string (out, json_tree_string (tree));
      break;
    case JSON_TREE_ARRAY:
    case JSON_TREE_OBJECT:
      g_string_append_c (out, kind == JSON_TREE_ARRAY ? '[' : '{');
      for (guint i = 0; i < json_tree_length (tree); i++)
        {
          if (i > 0)
            g_string_append_c (out, ',');
          if (kind == JSON_TREE_OBJECT)
            {
              write_string (out, json_tree_name (tree, i));
              g_string_append_c (out, ':');
            }
          write_tree (out, kind == JSON_TREE_OBJECT ? json_tree_member_at (tree, i)
                                                    : json_tree_item (tree, i));
        }
      g_string_append_c (out, kind == JSON_TREE_ARRAY ? ']' : '}');
      break;
    case JSON_TREE_NULL:
    default:
      g_string_append (out, "null");
      break;
    }
}

char *
tree_text (const JsonTree *tree)
{
  GString *out = g_string_new (NULL);

  write_tree (out, tree);
  return g_string_free (out, FALSE);
}

JsonTree *
tree_new_integer (gint64 value)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  return json_tree_new_number (text);
}

gboolean
tree_integer (const JsonTree *tree, gint64 *out_value)
{
  const gint64 most = G_GINT64_CONSTANT (1) << 53;
  const char *number = json_tree_number (tree);

  return number != NULL && strcmp (number, "-0") != 0 &&
         g_ascii_string_to_signed (number, 10, -most, most, out_value, NULL);
}
