/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds what undersign-launcher has left for the programs of a launch: credentials of their unit.
 * Clients strip the environment of the servers that they start, and a process's unit is what none
 * can strip.  What stands there is a claim like any other.
 */
#include "agentlib/mcp/launched.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

#define UNIT_START "undersign-launch-"
#define UNIT_END ".service"
#define UNIT_DIGITS 16

static gboolean
names_unit (const char *component)
{
  const char *digits = component + strlen (UNIT_START);

  return g_str_has_prefix (component, UNIT_START) &&
         strspn (digits, "0123456789abcdef") == UNIT_DIGITS &&
         strcmp (digits + UNIT_DIGITS, UNIT_END) == 0;
}

/* (transfer full) (nullable): NULL: it is no launch's. */
static char *
unit_of (const char *cgroups)
{
  g_auto (GStrv) components = g_strsplit_set (cgroups, "/\n", -1);

  for (char **component = components; *component != NULL; component++)
    if (names_unit (*component))
      return g_strdup (*component);
  return NULL;
}

/* Without a file there is no such claim; with one that can't be read nobody knows. */
static gboolean
complete (char **value, const char *folder, const char *unit, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (folder, unit, name, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) own = NULL;
  gsize len = 0;

  if (*value != NULL)
    return TRUE;
  if (!g_file_get_contents (path, &text, &len, &own))
    return g_error_matches (own, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
           us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "%s", own->message);
  if (len == 0 || !g_utf8_validate (text, (gssize) len, NULL))
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_VALUE, "%s holds no text",
                         path);
  *value = g_steal_pointer (&text);
  return TRUE;
}

gboolean
launched_complete (Options *options, const char *cgroups, const char *folder, GError **error)
{
  g_autofree char *text = NULL;
  g_autofree char *unit = NULL;

  if (g_file_get_contents (cgroups, &text, NULL, NULL))
    unit = unit_of (text);
  return unit == NULL || (complete (&options->run, folder, unit, "undersign.run", error) &&
                          complete (&options->part, folder, unit, "undersign.part", error));
}
