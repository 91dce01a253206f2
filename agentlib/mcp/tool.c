/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tools/list says of one tool.  The annotations follow from the effect alone and are always
 * all four there; an effect that is not known is the worst.  They are hints for clients: what may
 * run is never decided by them.
 */
#include "agentlib/mcp/tool.h"

#include "agentlib/mcp/schema.h"
#include "agentlib/mcp/text.h"

#include <string.h>

typedef struct
{
  gboolean read_only, destructive, idempotent, open_world;
} Hints;

static Hints
hints_of (const char *effect)
{
  if (strcmp (effect, "read") == 0)
    return (Hints){ TRUE, FALSE, TRUE, TRUE };
  if (strcmp (effect, "reversible") == 0)
    return (Hints){ FALSE, FALSE, FALSE, TRUE };
  return (Hints){ FALSE, TRUE, FALSE, TRUE };
}

/* @input is (transfer full). */
static JsonTree *
describe (Revision revision,
          const char *name,
          const char *title,
          const char *text,
          Hints hints,
          JsonTree *input)
{
  JsonTree *tool = json_tree_new_object ();
  JsonTree *annotations;

  json_tree_add_string (tool, "name", name);
  if (revision >= REVISION_2025_06_18)
    json_tree_add_string (tool, "title", title);
  json_tree_add_string (tool, "description", text);
  json_tree_add (tool, "inputSchema", input);
  if (revision >= REVISION_2025_06_18)
    json_tree_add (tool, "outputSchema", schema_output ());
  if (revision >= REVISION_2025_03_26)
    {
      annotations = json_tree_add (tool, "annotations", json_tree_new_object ());
      json_tree_add_string (annotations, "title", title);
      json_tree_add_boolean (annotations, "readOnlyHint", hints.read_only);
      json_tree_add_boolean (annotations, "destructiveHint", hints.destructive);
      json_tree_add_boolean (annotations, "idempotentHint", hints.idempotent);
      json_tree_add_boolean (annotations, "openWorldHint", hints.open_world);
    }
  return tool;
}

static char *
text_of (const Tool *tool)
{
  const char *summary = tool->summary;
  const char *stop = g_str_has_suffix (summary, ".") ? "" : ".";

  if (strcmp (tool->approval, "never") == 0)
    return g_strdup_printf ("%s%s", summary, stop);
  return g_strdup_printf ("%s%s %s: while the result's state is pending, nothing has been "
                          "executed; then ask " TOOL_STATUS " later, and do not repeat the call.",
                          summary, stop,
                          strcmp (tool->approval, "depends") == 0
                              ? "Depending on the arguments a person must approve it"
                              : "A person must approve each call");
}

/* Of which arguments one is needed: no schema that every client takes can say that. */
static char *
one_of_text (GVariant *description)
{
  g_autoptr (GVariant) groups =
      g_variant_lookup_value (description, "one-of", G_VARIANT_TYPE ("aas"));
  GString *text = g_string_new (NULL);

  for (gsize i = 0; groups != NULL && i < g_variant_n_children (groups); i++)
    {
      g_autoptr (GVariant) group = g_variant_get_child_value (groups, i);
      gsize count = 0;
      g_autofree const char **names = g_variant_get_strv (group, &count);
      g_autofree char *list = g_strjoinv (", ", (char **) names);

      if (count == 1)
        g_string_append_printf (text, " %s must not be empty.", list);
      else if (count > 1)
        g_string_append_printf (text, " At least one of %s must be given and not be empty.", list);
    }
  return g_string_free (text, FALSE);
}

JsonTree *
tool_describe (const Tool *tool, GVariant *description, Revision revision)
{
  g_autofree char *approval = text_of (tool);
  g_autofree char *one_of = one_of_text (description);
  g_autofree char *text = g_strconcat (approval, one_of, NULL);
  JsonTree *tree = describe (revision, tool->name, tool->summary, text, hints_of (tool->effect),
                             schema_input (description));
  JsonTree *part;

  if (revision == REVISION_2025_11_25)
    {
      part = json_tree_add (tree, "execution", json_tree_new_object ());
      json_tree_add_string (part, "taskSupport", "optional");
    }
  if (revision >= REVISION_2025_06_18)
    {
      part = json_tree_add (tree, "_meta", json_tree_new_object ());
      json_tree_add_string (part, META_OWN "action", tool->action);
      json_tree_add_string (part, META_OWN "effect", tool->effect);
      json_tree_add_string (part, META_OWN "needs-approval", tool->approval);
    }
  return tree;
}

JsonTree *
tool_describe_status (Revision revision, int hold_ms)
{
  JsonTree *wait = json_tree_new_object ();

  json_tree_add_string (wait, "type", "integer");
  json_tree_add_string (wait, "description", "wait this many milliseconds for it to end");
  json_tree_add (wait, "minimum", tree_new_integer (0));
  json_tree_add (wait, "maximum", tree_new_integer (hold_ms));
  return describe (
      revision, TOOL_STATUS, "Ask what became of a request",
      "Tells what became of a request: whether a person approved it, and whether it was "
      "executed.  It changes nothing.",
      (Hints){ TRUE, FALSE, TRUE, FALSE }, schema_request ("wait_ms", wait));
}

JsonTree *
tool_describe_cancel (Revision revision)
{
  return describe (revision, TOOL_CANCEL, "Take a request back",
                   "Takes a request back that is not wanted any more.  It is too late once it is "
                   "being executed, and the result then says so.",
                   (Hints){ FALSE, FALSE, TRUE, FALSE }, schema_request (NULL, NULL));
}
