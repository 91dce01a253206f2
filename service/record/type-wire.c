/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values from outside: a variant off the bus, a text of a policy file.  Each is turned into a tree
 * and then passes type_check(), which alone says what is valid.  A D-Bus type that is not the
 * argument's is an error here, never "absent".
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/record/type-private.h"

#include <string.h>

/* The files that came with a request, and which of them an argument has used. */
typedef struct
{
  const TypeFile *files;
  guint n_files;
  gboolean *used;
} Handles;

static JsonTree *
file_from_variant (GVariant *variant, const char *where, const Handles *handles, GError **error)
{
  g_autofree char *size = NULL;
  g_autofree char *sha256 = NULL;
  const char *name;
  gint32 handle;
  JsonTree *file;

  g_variant_get (variant, "(&sh)", &name, &handle);
  if (handle < 0 || (guint) handle >= handles->n_files)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_HANDLE,
                    "%s: there is no file with handle %d", where, handle);
      return NULL;
    }
  if (handles->used[handle])
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_HANDLE,
                    "%s: the file with handle %d is used twice", where, handle);
      return NULL;
    }

  handles->used[handle] = TRUE;
  size = g_strdup_printf ("%" G_GUINT64_FORMAT, handles->files[handle].size);
  sha256 = hex_encode (handles->files[handle].sha256, sizeof handles->files[handle].sha256);
  file = json_tree_new_object ();
  json_tree_add_string (file, "name", name);
  json_tree_add_string (file, "size", size);
  json_tree_add_string (file, "sha256", sha256);
  return file;
}

static JsonTree *
list_from_variant (const Type *type,
                   const char *name,
                   GVariant *variant,
                   const Handles *handles,
                   GError **error)
{
  g_autoptr (JsonTree) list = json_tree_new_array ();
  gsize count = g_variant_n_children (variant);

  if (count > RECORD_MAX_ITEMS)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE, "%s: more than %d items",
                    name, RECORD_MAX_ITEMS);
      return NULL;
    }
  for (gsize i = 0; i < count; i++)
    {
      g_autofree char *where = g_strdup_printf ("%s: item %" G_GSIZE_FORMAT, name, i + 1);
      g_autoptr (GVariant) child = g_variant_get_child_value (variant, i);
      JsonTree *item = type->wire == TYPE_WIRE_FILES
                           ? file_from_variant (child, where, handles, error)
                           : json_tree_new_string (g_variant_get_string (child, NULL));

      if (item == NULL)
        return NULL;
      json_tree_append (list, item);
    }
  return g_steal_pointer (&list);
}

JsonTree *
type_from_variant (const Type *type,
                   const char *name,
                   GVariant *variant,
                   const TypeFile *files,
                   guint n_files,
                   gboolean *used,
                   GError **error)
{
  const Handles handles = { files, n_files, used };
  g_autoptr (JsonTree) value = NULL;

  if (!g_variant_is_of_type (variant, G_VARIANT_TYPE (type_signature (type))))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE,
                    "%s: its D-Bus type is %s, not %s", name, g_variant_get_type_string (variant),
                    type_signature (type));
      return NULL;
    }

  switch (type->wire)
    {
    case TYPE_WIRE_STRING:
      value = json_tree_new_string (g_variant_get_string (variant, NULL));
      break;
    case TYPE_WIRE_BOOLEAN:
      value = json_tree_new_boolean (g_variant_get_boolean (variant));
      break;
    case TYPE_WIRE_FILE:
      value = file_from_variant (variant, name, &handles, error);
      break;
    case TYPE_WIRE_STRINGS:
    case TYPE_WIRE_FILES:
      value = list_from_variant (type, name, variant, &handles, error);
      break;
    default:
      g_assert_not_reached ();
    }

  if (value == NULL || !type_check (type, name, value, error))
    return NULL;
  return g_steal_pointer (&value);
}

static JsonTree *
list_from_text (const Type *type, const char *name, const char *text, GError **error)
{
  gboolean words = type->fault == fault_email;
  g_autoptr (JsonTree) list = json_tree_new_array ();
  g_auto (GStrv) items = g_strsplit (text, words ? " " : ";", -1);

  for (guint i = 0; text[0] != '\0' && items[i] != NULL; i++)
    {
      gsize len = strlen (items[i]);

      if (len == 0 || items[i][0] == ' ' || items[i][len - 1] == ' ')
        {
          us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                        "%s: item %u is empty or has a space at an end", name, i + 1);
          return NULL;
        }
      json_tree_append_string (list, items[i]);
    }
  return g_steal_pointer (&list);
}

JsonTree *
type_from_text (const Type *type, const char *name, const char *text, GError **error)
{
  g_autoptr (JsonTree) value = NULL;

  if (!g_utf8_validate (text, -1, NULL))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s: not UTF-8", name);
      return NULL;
    }

  switch (type->wire)
    {
    case TYPE_WIRE_STRING:
      value = json_tree_new_string (text);
      break;
    case TYPE_WIRE_BOOLEAN:
      if (strcmp (text, "yes") != 0 && strcmp (text, "no") != 0 && text[0] != '\0')
        us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s: it is yes or no",
                      name);
      else
        value = json_tree_new_boolean (strcmp (text, "yes") == 0);
      break;
    case TYPE_WIRE_STRINGS:
      value = list_from_text (type, name, text, error);
      break;
    case TYPE_WIRE_FILE:
    case TYPE_WIRE_FILES:
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE,
                    "%s: a file cannot be written here", name);
      break;
    default:
      g_assert_not_reached ();
    }

  if (value == NULL || !type_check (type, name, value, error))
    return NULL;
  return g_steal_pointer (&value);
}
