/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * org.undersign1.Agent: the actions that an agent may ask for, described so that it can ask rightly.
 * A description is no decision: what policy says of a request, the executor says.
 */
#include "service/broker/faces.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

static const char *
effect_word (Effect effect)
{
  switch (effect)
    {
    case EFFECT_REVERSIBLE:
      return "reversible";
    case EFFECT_READ:
      return "read";
    case EFFECT_IRREVERSIBLE:
    default:
      return "irreversible";
    }
}

static const char *
approval_word (const Policy *policy, const PolicyAgent *agent, const PolicyAction *action)
{
  gboolean asks = TRUE;
  gboolean allows = FALSE;

  policy_foresee (policy, agent, action, &asks, &allows);
  if (!allows)
    return "always";
  return asks ? "depends" : "never";
}

static void
add (GVariantBuilder *builder, const char *key, GVariant *value)
{
  g_variant_builder_add (builder, "{sv}", key, value);
}

static void
add_text (GVariantBuilder *builder, const char *key, const char *text)
{
  if (text != NULL)
    add (builder, key, g_variant_new_string (text));
}

static void
add_summary (GVariantBuilder *builder,
             const Policy *policy,
             const PolicyAgent *agent,
             const PolicyAction *action)
{
  add_text (builder, "summary", action->summary);
  add_text (builder, "effect", effect_word (action->effect));
  add_text (builder, "needs-approval", approval_word (policy, agent, action));
}

/* --- values --- */

/* As Submit() would take it; NULL for what has no form there. */
static GVariant *
value_of (const JsonTree *tree)
{
  gboolean boolean = FALSE;
  GVariantBuilder builder;

  if (tree == NULL)
    return NULL;
  if (json_tree_boolean (tree, &boolean))
    return g_variant_new_boolean (boolean);
  if (json_tree_string (tree) != NULL)
    return g_variant_new_string (json_tree_string (tree));
  if (json_tree_kind (tree) != JSON_TREE_ARRAY)
    return NULL;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_STRING_ARRAY);
  for (guint i = 0; i < json_tree_length (tree); i++)
    {
      const char *item = json_tree_string (json_tree_item (tree, i));

      if (item != NULL)
        g_variant_builder_add (&builder, "s", item);
    }
  return g_variant_builder_end (&builder);
}

/* A file's empty list goes as one of the type's own, not as an array of strings. */
static void
add_value (GVariantBuilder *builder, const char *key, const Type *type, const JsonTree *tree)
{
  GVariant *value = value_of (tree);

  if (value == NULL)
    return;
  if (type_wire (type) == TYPE_WIRE_FILES)
    {
      g_variant_unref (g_variant_ref_sink (value));
      value = g_variant_new_array (G_VARIANT_TYPE ("(sh)"), NULL, 0);
    }
  add (builder, key, value);
}

/* The type's schema, narrowed to the choices. */
static char *
schema_of (const PolicyArgument *argument)
{
  g_autoptr (JsonTree) schema = type_schema (argument->type);
  g_autoptr (GBytes) bytes = NULL;
  JsonTree *choices = NULL;

  if (argument->choices != NULL && json_tree_member (schema, "enum") == NULL)
    {
      choices = json_tree_add (schema, "enum", json_tree_new_array ());
      for (guint i = 0; argument->choices[i] != NULL; i++)
        json_tree_append_string (choices, argument->choices[i]);
    }
  bytes = json_tree_write (schema);
  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static GVariant *
describe_argument (const PolicyArgument *argument)
{
  GVariantBuilder builder;
  g_autofree char *schema = schema_of (argument);

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  add_text (&builder, "name", argument->name);
  add_text (&builder, "label", argument->label);
  add_text (&builder, "type", type_name (argument->type));
  add_text (&builder, "signature", type_signature (argument->type));
  add (&builder, "required", g_variant_new_boolean (argument->required));
  add_text (&builder, "schema", schema);
  if (argument->constant != NULL)
    add_value (&builder, "constant", argument->type, argument->constant);
  else if (!argument->required)
    add_value (&builder, "default", argument->type, argument->fallback);
  add_text (&builder, "pattern", argument->pattern);
  add_text (&builder, "minimum", argument->minimum);
  add_text (&builder, "maximum", argument->maximum);
  if (argument->max_items != 0)
    add (&builder, "max-items", g_variant_new_uint32 (argument->max_items));
  if (argument->choices != NULL)
    add (&builder, "choices", g_variant_new_strv ((const char *const *) argument->choices, -1));
  return g_variant_builder_end (&builder);
}

/* --- the members --- */

void
handle_list_actions (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) actions = NULL;
  const PolicyAgent *agent = catalog_agent (broker->catalog, call_uid (call), &error);
  const Policy *policy = catalog_policy (broker->catalog, NULL);
  GVariantBuilder builder;

  if (agent == NULL)
    {
      call_fail (call, error);
      return;
    }

  actions = policy_actions_of (policy, agent);
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{sa{sv}}"));
  for (guint i = 0; i < actions->len; i++)
    {
      const PolicyAction *action = actions->pdata[i];

      g_variant_builder_open (&builder, G_VARIANT_TYPE ("{sa{sv}}"));
      g_variant_builder_add (&builder, "s", action->id);
      g_variant_builder_open (&builder, G_VARIANT_TYPE_VARDICT);
      add_summary (&builder, policy, agent, action);
      g_variant_builder_close (&builder);
      g_variant_builder_close (&builder);
    }
  call_return (call, g_variant_new ("(@a{sa{sv}})", g_variant_builder_end (&builder)));
}

/* One of the agent's actions, so that others can't be told from those that do not exist. */
static const PolicyAction *
find_action (const Policy *policy, const PolicyAgent *agent, const char *id)
{
  g_autoptr (GPtrArray) actions = policy_actions_of (policy, agent);

  for (guint i = 0; i < actions->len; i++)
    {
      const PolicyAction *action = actions->pdata[i];

      if (strcmp (action->id, id) == 0)
        return action;
    }
  return NULL;
}

/* Whether policy gives one of @names a value itself, which is not empty then. */
static gboolean
one_is_constant (const PolicyAction *action, char **names)
{
  const char *const *list = (const char *const *) names;

  for (guint i = 0; i < action->arguments->len; i++)
    {
      const PolicyArgument *argument = action->arguments->pdata[i];

      if (argument->constant != NULL && g_strv_contains (list, argument->name))
        return TRUE;
    }
  return FALSE;
}

static void
add_one_of (GVariantBuilder *builder, const PolicyAction *action)
{
  GVariantBuilder groups;
  guint count = 0;

  g_variant_builder_init (&groups, G_VARIANT_TYPE ("aas"));
  for (guint i = 0; i < action->one_of->len; i++)
    {
      char **names = action->one_of->pdata[i];

      if (one_is_constant (action, names))
        continue;
      g_variant_builder_add (&groups, "^as", names);
      count++;
    }
  if (count > 0)
    add (builder, "one-of", g_variant_builder_end (&groups));
  else
    g_variant_builder_clear (&groups);
}

static GVariant *
describe (const Policy *policy, const PolicyAgent *agent, const PolicyAction *action)
{
  GVariantBuilder builder;
  GVariantBuilder arguments;

  g_variant_builder_init (&arguments, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < action->arguments->len; i++)
    g_variant_builder_add_value (&arguments, describe_argument (action->arguments->pdata[i]));

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  add_text (&builder, "id", action->id);
  add_summary (&builder, policy, agent, action);
  add (&builder, "arguments", g_variant_builder_end (&arguments));
  add_one_of (&builder, action);
  return g_variant_builder_end (&builder);
}

void
handle_describe_action (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GError) error = NULL;
  const PolicyAgent *agent = catalog_agent (broker->catalog, call_uid (call), &error);
  const Policy *policy = catalog_policy (broker->catalog, NULL);
  const PolicyAction *action = NULL;
  const char *id = NULL;

  g_variant_get_child (call_body (call), 0, "&s", &id);
  if (agent != NULL)
    {
      action = find_action (policy, agent, id);
      if (action == NULL)
        us_error_set (&error, US_ERROR_UNKNOWN_ACTION, US_REASON_UNKNOWN_ACTION,
                      "there is no such action for this agent");
    }
  if (action == NULL)
    call_fail (call, error);
  else
    call_return (call, g_variant_new ("(@a{sv})", describe (policy, agent, action)));
}
