/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one decoder of what an agent sent.  Everything of an action's arguments is settled here: each
 * has exactly one value afterwards, and nothing later fills in, drops or reinterprets one.
 */
#include "service/policy/policy.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/policy/constraint.h"
#include "service/policy/fault.h"

#include <string.h>

typedef struct
{
  const PolicyAction *action;
  const TypeFile *files;
  guint n_files;
  gboolean *used;    /* by handle */
  JsonTree **values; /* by argument; NULL: not given */
} Binding;

static gboolean
find_argument (const PolicyAction *action, const char *name, guint *out_index)
{
  for (guint i = 0; i < action->arguments->len; i++)
    {
      const PolicyArgument *argument = g_ptr_array_index (action->arguments, i);

      if (strcmp (argument->name, name) == 0)
        {
          *out_index = i;
          return TRUE;
        }
    }
  return FALSE;
}

static gboolean
refuse (GError **error, const char *reason, const char *name, const char *text)
{
  g_autofree char *quoted = quote_text (name);

  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, reason, "argument %s %s", quoted, text);
}

static gboolean
bind_one (Binding *binding, const char *name, GVariant *value, GError **error)
{
  const PolicyArgument *argument;
  guint i;

  if (!find_argument (binding->action, name, &i))
    return refuse (error, US_REASON_UNKNOWN_ARGUMENT, name, "is not one of this action");
  argument = g_ptr_array_index (binding->action->arguments, i);
  if (binding->values[i] != NULL)
    return refuse (error, US_REASON_DUPLICATE_ARGUMENT, name, "is given twice");
  if (argument->constant != NULL)
    return refuse (error, US_REASON_CONSTANT_ARGUMENT, name, "is fixed by policy");

  binding->values[i] = type_from_variant (argument->type, name, value, binding->files,
                                          binding->n_files, binding->used, error);
  if (binding->values[i] == NULL)
    return FALSE;
  /* false is an answer; an empty text or list is none */
  if (argument->required && type_wire (argument->type) != TYPE_WIRE_BOOLEAN &&
      type_is_empty (argument->type, binding->values[i]))
    return refuse (error, US_REASON_MISSING_ARGUMENT, name, "is required and empty");
  return constraint_check (argument, binding->values[i], error);
}

static gboolean
bind_given (Binding *binding, GVariant *arguments, GError **error)
{
  gsize n = g_variant_n_children (arguments);

  if (n > RECORD_MAX_ARGUMENTS)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "more than %d arguments", RECORD_MAX_ARGUMENTS);
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) pair = g_variant_get_child_value (arguments, i);
      g_autoptr (GVariant) name = g_variant_get_child_value (pair, 0);
      g_autoptr (GVariant) boxed = g_variant_get_child_value (pair, 1);
      g_autoptr (GVariant) value = g_variant_get_variant (boxed);

      if (!bind_one (binding, g_variant_get_string (name, NULL), value, error))
        return FALSE;
    }
  return TRUE;
}

/* one_is_given: @names are arguments of this action, each with its value by now. */
static gboolean
one_is_given (Binding *binding, char **names, GError **error)
{
  g_autofree char *text = g_strjoinv (", ", names);
  guint index = 0;

  for (guint i = 0; names[i] != NULL; i++)
    if (find_argument (binding->action, names[i], &index) &&
        !type_is_empty (
            ((const PolicyArgument *) g_ptr_array_index (binding->action->arguments, index))->type,
            binding->values[index]))
      return TRUE;
  if (names[1] == NULL)
    return refuse (error, US_REASON_MISSING_ARGUMENT, names[0], "is required");
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                       "one of the arguments %s is required", text);
}

/* What was not given: the constant, the default or the type's empty value. */
static gboolean
fill_in (Binding *binding, GError **error)
{
  for (guint i = 0; i < binding->action->arguments->len; i++)
    {
      const PolicyArgument *argument = g_ptr_array_index (binding->action->arguments, i);
      const JsonTree *preset = argument->constant != NULL ? argument->constant : argument->fallback;

      if (binding->values[i] != NULL)
        continue;
      if (argument->required || preset == NULL)
        return refuse (error, US_REASON_MISSING_ARGUMENT, argument->name, "is required");
      binding->values[i] = json_tree_copy (preset);
    }
  for (guint i = 0; i < binding->action->one_of->len; i++)
    if (!one_is_given (binding, g_ptr_array_index (binding->action->one_of, i), error))
      return FALSE;
  for (guint i = 0; i < binding->n_files; i++)
    if (!binding->used[i])
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_HANDLE,
                           "no argument uses file %u", i);
  return TRUE;
}

GPtrArray *
policy_bind_arguments (const PolicyAction *action,
                       GVariant *arguments,
                       const TypeFile *files,
                       guint n_files,
                       GError **error)
{
  g_autoptr (GPtrArray) values = NULL;
  g_autofree gboolean *used = g_new0 (gboolean, n_files + 1);
  guint n = action->arguments->len;
  Binding binding = { .action = action, .files = files, .n_files = n_files, .used = used };

  if (!g_variant_is_of_type (arguments, G_VARIANT_TYPE ("a(sv)")) &&
      !g_variant_is_of_type (arguments, G_VARIANT_TYPE_VARDICT))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE,
                    "the arguments are not a list of names and values");
      return NULL;
    }

  values = g_ptr_array_new_with_free_func ((GDestroyNotify) json_tree_free);
  g_ptr_array_set_size (values, (int) n);
  binding.values = (JsonTree **) values->pdata;
  if (!bind_given (&binding, arguments, error) || !fill_in (&binding, error))
    return NULL;
  return g_steal_pointer (&values);
}
