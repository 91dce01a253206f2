/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "service/base/error-json.h"

#include "dbus/error.h"

#include <string.h>

gboolean
error_wants_json (int argc, char **argv)
{
  for (int i = 1; i < argc && strcmp (argv[i], "--") != 0; i++)
    if (strcmp (argv[i], "--json") == 0)
      return TRUE;
  return FALSE;
}

/* A message is "REASON: text"; one of another kind has no reason. */
JsonTree *
error_to_tree (const GError *error)
{
  JsonTree *tree = json_tree_new_object ();
  const char *colon = error->domain == US_ERROR ? strstr (error->message, ": ") : NULL;
  g_autofree char *reason =
      colon != NULL ? g_strndup (error->message, (gsize) (colon - error->message)) : NULL;
  g_autofree char *text = g_utf8_make_valid (colon != NULL ? colon + 2 : error->message, -1);

  json_tree_add_string (tree, "error", us_error_name ((UsError) error->code));
  json_tree_add_string (tree, "reason", reason != NULL ? reason : "internal");
  json_tree_add_string (tree, "text", text);
  return tree;
}
