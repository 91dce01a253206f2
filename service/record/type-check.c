/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a value is of its type and in canonical form.  Every value of a record passes here, when
 * it is made and again whenever it is read.  This never changes a value: it names the canonical
 * spelling and refuses.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/record/type-private.h"

#include <string.h>

#define NAMED_MAX 400 /* bytes of a canonical spelling that an error still quotes */

static gboolean
refuse_shape (const char *where, const char *what, GError **error)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE, "%s: it must be %s",
                       where, what);
}

gboolean
type_check_string (const Type *type, const char *where, const char *value, GError **error)
{
  g_autofree char *fault = NULL;
  g_autofree char *canonical = NULL;
  g_autofree char *canonical_fault = NULL;

  if (strlen (value) > RECORD_MAX_STRING)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "%s: longer than %d bytes", where, RECORD_MAX_STRING);
  if (!g_utf8_validate (value, -1, NULL))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s: not UTF-8",
                         where);
  if (value[0] == '\0')
    return TRUE;

  fault = type->fault (value);
  if (fault == NULL)
    return TRUE;

  if (type->respell != NULL)
    canonical = type->respell (value);
  if (canonical == NULL || canonical[0] == '\0' || strcmp (canonical, value) == 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s: %s", where,
                         fault);
  canonical_fault = type->fault (canonical);
  if (canonical_fault != NULL)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s: %s", where,
                         fault);
  if (strlen (canonical) > NAMED_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_NOT_CANONICAL, "%s: %s", where,
                         fault);
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_NOT_CANONICAL,
                       "%s: the canonical spelling is \"%s\"", where, canonical);
}

static gboolean
check_count (const char *name, guint count, guint max, GError **error)
{
  if (count > max)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "%s: more than %u items", name, max);
  return TRUE;
}

/* Adds @key (transfer full) to @seen, or refuses the item as a repetition. */
static gboolean
check_once (GHashTable *seen, char *key, const char *where, const char *what, GError **error)
{
  if (!g_hash_table_add (seen, key))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "%s: %s is there twice", where, what);
  return TRUE;
}

static gboolean
check_strings (const Type *type, const char *name, const JsonTree *value, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  if (json_tree_kind (value) != JSON_TREE_ARRAY)
    return refuse_shape (name, "an array of strings", error);
  if (!check_count (name, json_tree_length (value), RECORD_MAX_ITEMS, error))
    return FALSE;

  for (guint i = 0; i < json_tree_length (value); i++)
    {
      g_autofree char *where = g_strdup_printf ("%s: item %u", name, i + 1);
      const char *item = json_tree_string (json_tree_item (value, i));

      if (item == NULL)
        return refuse_shape (where, "a string", error);
      if (item[0] == '\0' && type->fault != fault_argv_item)
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                             "%s: it is empty", where);
      if (!type_check_string (type, where, item, error))
        return FALSE;
      if (type->fault == fault_email &&
          !check_once (seen, g_ascii_strdown (item, -1), where, "the address", error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_sha256 (const char *text)
{
  return strlen (text) == 64 && strspn (text, "0123456789abcdef") == 64;
}

static gboolean
check_file (const Type *type, const char *where, const JsonTree *value, GError **error)
{
  const char *name = json_tree_get_string (value, "name");
  const char *size = json_tree_get_string (value, "size");
  const char *sha256 = json_tree_get_string (value, "sha256");
  g_autofree char *size_fault = NULL;

  if (json_tree_kind (value) != JSON_TREE_OBJECT || json_tree_length (value) != 3 || name == NULL ||
      size == NULL || sha256 == NULL)
    return refuse_shape (where, "a file: name, size and sha256", error);
  if (name[0] == '\0')
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "%s: the file has no name", where);
  if (!type_check_string (type, where, name, error))
    return FALSE;

  size_fault = size[0] != '\0' ? fault_size (size) : g_strdup ("the file has no size");
  if (size_fault != NULL)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s: %s", where,
                         size_fault);
  if (g_ascii_strtoull (size, NULL, 10) > RECORD_MAX_FILE)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "%s: the file is larger than %d bytes", where, RECORD_MAX_FILE);
  if (!is_sha256 (sha256))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "%s: its sha256 is not 64 lower-case hexadecimal digits", where);
  return TRUE;
}

static gboolean
check_files (const Type *type, const char *name, const JsonTree *value, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  if (json_tree_kind (value) != JSON_TREE_ARRAY)
    return refuse_shape (name, "an array of files", error);
  if (!check_count (name, json_tree_length (value), RECORD_MAX_FILES, error))
    return FALSE;

  for (guint i = 0; i < json_tree_length (value); i++)
    {
      g_autofree char *where = g_strdup_printf ("%s: item %u", name, i + 1);
      const JsonTree *item = json_tree_item (value, i);

      if (!check_file (type, where, item, error) ||
          !check_once (seen, g_strdup (json_tree_get_string (item, "name")), where, "the file name",
                       error))
        return FALSE;
    }
  return TRUE;
}

gboolean
type_check (const Type *type, const char *name, const JsonTree *value, GError **error)
{
  gboolean truth;

  switch (type->wire)
    {
    case TYPE_WIRE_STRING:
      if (json_tree_string (value) == NULL)
        return refuse_shape (name, "a string", error);
      return type_check_string (type, name, json_tree_string (value), error);
    case TYPE_WIRE_BOOLEAN:
      if (!json_tree_boolean (value, &truth))
        return refuse_shape (name, "a boolean", error);
      return TRUE;
    case TYPE_WIRE_STRINGS:
      return check_strings (type, name, value, error);
    case TYPE_WIRE_FILE:
      return check_file (type, name, value, error);
    case TYPE_WIRE_FILES:
      return check_files (type, name, value, error);
    default:
      return refuse_shape (name, "of a type that there is", error);
    }
}
