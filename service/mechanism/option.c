/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strict reading of values that came over the bus.  Nothing is rewritten and nothing is ignored. */
#include "service/mechanism/option.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/record/type.h"

#include <string.h>

#define OPTION_MAX 8

static gboolean
option_take (GVariant **taken,
             const OptionSpec *specs,
             gsize n_specs,
             const char *key,
             GVariant *value,
             GError **error)
{
  for (gsize i = 0; i < n_specs; i++)
    {
      if (strcmp (specs[i].name, key) != 0)
        continue;
      if (taken[i] != NULL)
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_DUPLICATE_ARGUMENT,
                             "\"%s\" is given twice", key);
      if (!g_variant_is_of_type (value, G_VARIANT_TYPE (specs[i].type)))
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE,
                             "\"%s\" must be of type %s", key, specs[i].type);
      taken[i] = g_variant_ref (value);
      return TRUE;
    }
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_OPTION,
                       "there is no option of that name");
}

gboolean
options_read (
    GVariant *dict, const OptionSpec *specs, gsize n_specs, GVariant **out, GError **error)
{
  GVariant *taken[OPTION_MAX] = { NULL };
  GVariantIter iter;
  const char *key = NULL;
  GVariant *value = NULL;
  gboolean good = TRUE;

  g_return_val_if_fail (n_specs <= OPTION_MAX, FALSE);
  g_variant_iter_init (&iter, dict);
  while (good && g_variant_iter_next (&iter, "{&sv}", &key, &value))
    {
      good = option_take (taken, specs, n_specs, key, value, error);
      g_variant_unref (value);
    }
  for (gsize i = 0; good && i < n_specs; i++)
    if (specs[i].required && taken[i] == NULL)
      good = us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                           "\"%s\" is required", specs[i].name);
  for (gsize i = 0; i < n_specs; i++)
    if (good)
      out[i] = taken[i];
    else
      g_clear_pointer (&taken[i], g_variant_unref);
  return good;
}

gboolean
line_check (const char *name, const char *value, gsize max, GError **error)
{
  g_autoptr (JsonTree) tree = json_tree_new_string (value);

  if (value[0] == '\0' || strlen (value) > max)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "\"%s\" must have 1 to %" G_GSIZE_FORMAT " bytes", name, max);
  return type_check (type_find ("line"), name, tree, error);
}

gboolean
word_check (const char *name, const char *value, GError **error)
{
  gsize len = strspn (value, "abcdefghijklmnopqrstuvwxyz0123456789-");

  if (value[len] != '\0' || len == 0 || len > 64 || !g_ascii_islower (value[0]))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "\"%s\" must be 1 to 64 lower-case letters, digits and hyphens, "
                         "a letter first",
                         name);
  return TRUE;
}
