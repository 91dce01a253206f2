/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From JSON to the types that the action declares.  Nothing is converted: a number where text is
 * due is an error.  Files are opened here, as the user that the program runs as, and are sealed
 * copies from then on.
 */
#include "agentlib/mcp/arguments.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

static gboolean
wrong_type (const char *name, const char *expected, GError **error)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE, "%s: expected %s",
                       name, expected);
}

/* The signature of an argument; NULL for none of that name, and then those that there are. */
static char *
find_signature (GVariant *description, const char *name, GString *names)
{
  g_autoptr (GVariant) arguments =
      g_variant_lookup_value (description, "arguments", G_VARIANT_TYPE ("aa{sv}"));

  for (gsize i = 0; arguments != NULL && i < g_variant_n_children (arguments); i++)
    {
      g_autoptr (GVariant) argument = g_variant_get_child_value (arguments, i);
      const char *other = NULL, *signature = NULL;

      if (!g_variant_lookup (argument, "name", "&s", &other) ||
          !g_variant_lookup (argument, "signature", "&s", &signature))
        continue;
      if (strcmp (other, name) == 0)
        return g_strdup (signature);
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", other);
    }
  return NULL;
}

/* (transfer container) (nullable): the items of an array of strings, borrowed */
static GPtrArray *
strings_of (const JsonTree *value)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new ();

  if (json_tree_kind (value) != JSON_TREE_ARRAY)
    return NULL;
  for (guint i = 0; i < json_tree_length (value); i++)
    {
      const char *item = json_tree_string (json_tree_item (value, i));

      if (item == NULL)
        return NULL;
      g_ptr_array_add (items, (gpointer) item);
    }
  g_ptr_array_add (items, NULL);
  return g_steal_pointer (&items);
}

/* An error of a file becomes one of ours. */
static gboolean
take_file_error (GError *own, GError **error)
{
  if (own->domain == US_ERROR)
    {
      g_propagate_error (error, own);
      return FALSE;
    }
  us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s", own->message);
  g_error_free (own);
  return FALSE;
}

static gboolean
add_file (UsSubmission *submission, const char *name, const JsonTree *value, GError **error)
{
  const char *path = json_tree_string (value);
  GError *own = NULL;

  if (path == NULL)
    return wrong_type (name, "the path of a file", error);
  return us_submission_add_file (submission, name, path, &own) || take_file_error (own, error);
}

static gboolean
add_list (UsSubmission *submission,
          const char *name,
          const JsonTree *value,
          gboolean files,
          GError **error)
{
  g_autoptr (GPtrArray) items = strings_of (value);
  GError *own = NULL;

  if (items == NULL)
    return wrong_type (name, files ? "an array of paths of files" : "an array of strings", error);
  if (!files)
    return us_submission_add_strings (submission, name, (const char *const *) items->pdata, error);
  return us_submission_add_files (submission, name, (const char *const *) items->pdata, &own) ||
         take_file_error (own, error);
}

static gboolean
add_argument (UsSubmission *submission,
              const char *name,
              const char *signature,
              const JsonTree *value,
              GError **error)
{
  gboolean boolean = FALSE;

  if (strcmp (signature, "s") == 0)
    return json_tree_string (value) != NULL
               ? us_submission_add_string (submission, name, json_tree_string (value), error)
               : wrong_type (name, "a string", error);
  if (strcmp (signature, "b") == 0)
    return json_tree_boolean (value, &boolean)
               ? us_submission_add_boolean (submission, name, boolean, error)
               : wrong_type (name, "true or false", error);
  if (strcmp (signature, "as") == 0)
    return add_list (submission, name, value, FALSE, error);
  if (strcmp (signature, "(sh)") == 0)
    return add_file (submission, name, value, error);
  if (strcmp (signature, "a(sh)") == 0)
    return add_list (submission, name, value, TRUE, error);
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                       "%s is of the type \"%s\", which is not known here", name, signature);
}

gboolean
arguments_add (UsSubmission *submission,
               GVariant *description,
               const JsonTree *arguments,
               GError **error)
{
  if (arguments != NULL && json_tree_kind (arguments) != JSON_TREE_OBJECT)
    return wrong_type ("arguments", "an object", error);
  for (guint i = 0; i < json_tree_length (arguments); i++)
    {
      const char *name = json_tree_name (arguments, i);
      g_autoptr (GString) names = g_string_new (NULL);
      g_autofree char *signature = find_signature (description, name, names);

      if (signature == NULL)
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                             "%s: the action has no such argument; it has: %s", name,
                             names->len > 0 ? names->str : "none");
      if (!add_argument (submission, name, signature, json_tree_member_at (arguments, i), error))
        return FALSE;
    }
  return TRUE;
}
