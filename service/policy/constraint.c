/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks a value against the constraints of its argument.  Called for what an agent sends and for
 * what a policy file presets; it never changes a value.  What cannot be compared is refused.
 */
#include "service/policy/constraint.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

gboolean
type_is_ordered (const Type *type)
{
  static const char *const ordered[] = { "integer", "decimal",  "money",
                                         "size",    "duration", "timestamp" };

  for (guint i = 0; i < G_N_ELEMENTS (ordered); i++)
    if (strcmp (type_name (type), ordered[i]) == 0)
      return TRUE;
  return FALSE;
}

gboolean
type_is_list (const Type *type)
{
  return type_wire (type) == TYPE_WIRE_STRINGS || type_wire (type) == TYPE_WIRE_FILES;
}

gboolean
type_is_file (const Type *type)
{
  return type_wire (type) == TYPE_WIRE_FILE || type_wire (type) == TYPE_WIRE_FILES;
}

static gboolean refuse (GError **error, const PolicyArgument *argument, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
refuse (GError **error, const PolicyArgument *argument, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "argument %s: %s",
                       argument->name, text);
}

/* One string: the value itself or an item of a list. */
static gboolean
check_text (const PolicyArgument *argument, const char *text, GError **error)
{
  int order;

  if (text == NULL)
    return refuse (error, argument, "a value of the wrong kind");
  if (argument->choices != NULL && !g_strv_contains ((const char *const *) argument->choices, text))
    return refuse (error, argument, "not one of its choices");
  if (argument->pattern != NULL && !pattern_matches (argument->compiled, text))
    return refuse (error, argument, "does not match the pattern %s", argument->pattern);
  if (argument->minimum != NULL &&
      (!type_compare (argument->type, text, argument->minimum, &order) || order < 0))
    return refuse (error, argument, "less than %s, or not comparable with it", argument->minimum);
  if (argument->maximum != NULL &&
      (!type_compare (argument->type, text, argument->maximum, &order) || order > 0))
    return refuse (error, argument, "more than %s, or not comparable with it", argument->maximum);
  return TRUE;
}

gboolean
constraint_check (const PolicyArgument *argument, const JsonTree *value, GError **error)
{
  switch (type_wire (argument->type))
    {
    case TYPE_WIRE_BOOLEAN:
    case TYPE_WIRE_FILE:
      return TRUE;
    case TYPE_WIRE_STRING:
      return type_is_empty (argument->type, value) ||
             check_text (argument, json_tree_string (value), error);
    case TYPE_WIRE_STRINGS:
    case TYPE_WIRE_FILES:
      break;
    default:
      return refuse (error, argument, "a type that is not known here");
    }

  if (argument->max_items != 0 && json_tree_length (value) > argument->max_items)
    return refuse (error, argument, "more than %u items", argument->max_items);
  for (guint i = 0; !type_is_file (argument->type) && i < json_tree_length (value); i++)
    if (!check_text (argument, json_tree_string (json_tree_item (value, i)), error))
      return FALSE;
  return TRUE;
}
