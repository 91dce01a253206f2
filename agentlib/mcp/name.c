/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A name that every client takes for each action: of [a-z0-9_], and short.  It follows from the
 * action's id alone: no name changes, nor comes to mean another action, because some other one
 * came or went.  Where '_' could have been more than a full stop, and where the name would get too
 * long or is taken, a part of the id's hash is in it, behind a digit, which begins no word of an
 * id.
 */
#include "agentlib/mcp/tool.h"

#include <string.h>

#define HASH_DIGITS 8

void
tool_free (Tool *tool)
{
  if (tool == NULL)
    return;
  g_free (tool->name);
  g_free (tool->action);
  g_free (tool->summary);
  g_free (tool->effect);
  g_free (tool->approval);
  g_free (tool);
}

/* mail.send as mail_send */
static char *
plain_name (const char *action)
{
  return g_strcanon (g_strdup (action), "abcdefghijklmnopqrstuvwxyz0123456789_", '_');
}

static char *
hashed_name (const char *action)
{
  g_autofree char *plain = plain_name (action);
  g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, action, -1);

  return g_strdup_printf ("%.*s_0%.*s", TOOL_NAME_MAX - HASH_DIGITS - 2, plain, HASH_DIGITS, hash);
}

static gboolean
is_reserved (const char *name)
{
  return strcmp (name, TOOL_STATUS) == 0 || strcmp (name, TOOL_CANCEL) == 0;
}

static char *
lookup_text (GVariant *dictionary, const char *key)
{
  const char *text = "";

  g_variant_lookup (dictionary, key, "&s", &text);
  return g_strdup (text);
}

static int
compare_actions (gconstpointer a, gconstpointer b)
{
  return strcmp ((*(Tool *const *) a)->action, (*(Tool *const *) b)->action);
}

static char *
name_of (const char *action)
{
  g_autofree char *plain = plain_name (action);

  if (strspn (action, "abcdefghijklmnopqrstuvwxyz0123456789.") == strlen (action) &&
      strlen (plain) <= TOOL_NAME_MAX && !is_reserved (plain))
    return g_steal_pointer (&plain);
  return hashed_name (action);
}

static Tool *
tool_new (const char *action, GVariant *about)
{
  Tool *tool = g_new0 (Tool, 1);

  tool->name = name_of (action);
  tool->action = g_strdup (action);
  tool->summary = lookup_text (about, "summary");
  tool->effect = lookup_text (about, "effect");
  tool->approval = lookup_text (about, "needs-approval");
  return tool;
}

GPtrArray *
tools_read (GVariant *actions)
{
  GPtrArray *tools = g_ptr_array_new_with_free_func ((GDestroyNotify) tool_free);
  GVariantIter iter;
  const char *action;
  GVariant *about;

  g_variant_iter_init (&iter, actions);
  while (g_variant_iter_loop (&iter, "{&s@a{sv}}", &action, &about))
    g_ptr_array_add (tools, tool_new (action, about));
  g_ptr_array_sort (tools, compare_actions);
  return tools;
}

/* A name that even the hash does not make unique belongs to nobody. */
const Tool *
tools_find (GPtrArray *tools, const char *name)
{
  const Tool *found = NULL;

  for (guint i = 0; i < tools->len; i++)
    {
      const Tool *tool = g_ptr_array_index (tools, i);

      if (strcmp (tool->name, name) != 0)
        continue;
      if (found != NULL)
        return NULL;
      found = tool;
    }
  return found;
}
