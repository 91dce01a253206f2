/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Strict reading of small formats: exact members, exact spelling.  It knows no format and never
 * supplies a default: what is not there is an error.
 */
#include "service/base/shape.h"

#include "dbus/error.h"

#include <string.h>

gboolean
shape_check (const JsonTree *tree,
             const char *const *names,
             const char *reason,
             const char *what,
             GError **error)
{
  guint n = 0;

  for (; names[n] != NULL; n++)
    if (json_tree_member (tree, names[n]) == NULL)
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, reason, "%s has a member \"%s\"",
                           what, names[n]);
  if (json_tree_kind (tree) != JSON_TREE_OBJECT || json_tree_length (tree) != n)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, reason, "%s has %u members", what, n);
  return TRUE;
}

gboolean
shape_check_strings (const JsonTree *tree,
                     const char *const *names,
                     const char *reason,
                     const char *what,
                     GError **error)
{
  if (!shape_check (tree, names, reason, what, error))
    return FALSE;
  for (guint i = 0; names[i] != NULL; i++)
    if (json_tree_get_string (tree, names[i]) == NULL)
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, reason,
                           "the member \"%s\" of %s is a string", names[i], what);
  return TRUE;
}

gboolean
shape_number (const char *text, guint64 *out_number)
{
  gsize len = strlen (text);

  if (len == 0 || strspn (text, "0123456789") != len || (text[0] == '0' && len > 1))
    return FALSE;
  return g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT64, out_number, NULL);
}

/* As deep as the reader's limits allow. */
static gboolean
has_null (const JsonTree *tree)
{
  gboolean found = json_tree_kind (tree) == JSON_TREE_NULL;

  for (guint i = 0; !found && i < json_tree_length (tree); i++)
    found = has_null (json_tree_kind (tree) == JSON_TREE_ARRAY ? json_tree_item (tree, i)
                                                               : json_tree_member_at (tree, i));
  return found;
}

JsonTree *
shape_parse (
    GBytes *bytes, const JsonLimits *limits, const char *reason, const char *what, GError **error)
{
  gsize len = 0;
  const char *text = g_bytes_get_data (bytes, &len);
  g_autoptr (JsonTree) tree = json_tree_parse (text, len, limits, error);
  g_autoptr (GBytes) again = NULL;

  if (tree == NULL)
    return NULL;
  again = json_tree_write (tree);
  if (again == NULL || !g_bytes_equal (again, bytes) || has_null (tree))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, reason,
                    "%s is canonical JSON without numbers and null", what);
      return NULL;
    }
  return g_steal_pointer (&tree);
}
