/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one reader of option dictionaries.  GLib's lookups take a wrong type for absent and disagree
 * on which of two equal keys counts; they must never be used on what came over the bus.
 */
#include "service/broker/options.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/policy/fault.h"

#include <string.h>

static const Option *
option_find (const Option *options, const char *name)
{
  for (; options->name != NULL; options++)
    if (strcmp (options->name, name) == 0)
      return options;
  return NULL;
}

static gboolean
option_take (const Option *options, const char *name, GVariant *value, GError **error)
{
  const Option *option = option_find (options, name);
  g_autofree char *quoted = NULL;

  if (option == NULL)
    {
      quoted = quote_text (name);
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_OPTION,
                           "there is no option %s", quoted);
    }
  if (*option->out_value != NULL)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_DUPLICATE_ARGUMENT,
                         "option '%s' is given twice", option->name);
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE (option->type)))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE,
                         "option '%s' is of type %s, not %s", option->name,
                         g_variant_get_type_string (value), option->type);

  *option->out_value = g_variant_ref (value);
  return TRUE;
}

gboolean
options_read (GVariant *dictionary, const Option *options, GError **error)
{
  gsize n = g_variant_n_children (dictionary);

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) value = NULL;
      const char *name = NULL;

      g_variant_get_child (dictionary, i, "{&sv}", &name, &value);
      if (!option_take (options, name, value, error))
        return FALSE;
    }

  for (; options->name != NULL; options++)
    if (options->required && *options->out_value == NULL)
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                           "option '%s' is missing", options->name);
  return TRUE;
}
