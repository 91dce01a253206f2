/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The schemas tell a model how to ask rightly.  They decide nothing: the service checks every
 * value, and what a schema leaves out it refuses all the same.
 */
#include "agentlib/mcp/schema.h"

#include "agentlib/mcp/text.h"

#include <string.h>

/* Of the schema of one argument, which the service makes. */
static const JsonLimits limits = { 64 * 1024, 8, 16 * 1024, 1024 };

static const char *
lookup_text (GVariant *dictionary, const char *key)
{
  const char *text = NULL;

  g_variant_lookup (dictionary, key, "&s", &text);
  return text;
}

static JsonTree *
object_of (const char *type)
{
  JsonTree *object = json_tree_new_object ();

  json_tree_add_string (object, "type", type);
  return object;
}

/* What the schema of a type does not say, in words. */
static char *
argument_help (GVariant *argument, const char *help)
{
  static const struct
  {
    const char *key, *format;
  } more[] = {
    { "pattern", " Matches the POSIX regular expression %s as a whole." },
    { "minimum", " At least %s." },
    { "maximum", " At most %s." },
  };
  GString *text = g_string_new (lookup_text (argument, "label"));

  if (help != NULL && help[0] != '\0')
    g_string_append_printf (text, ": %s%s", help, g_str_has_suffix (help, ".") ? "" : ".");
  for (gsize i = 0; i < G_N_ELEMENTS (more); i++)
    {
      const char *value = lookup_text (argument, more[i].key);
      const char *mark = strstr (more[i].format, "%s");

      if (value == NULL)
        continue;
      g_string_append_len (text, more[i].format, mark - more[i].format);
      g_string_append (text, value);
      g_string_append (text, mark + strlen ("%s"));
    }
  return g_string_free (text, FALSE);
}

static void
add_default (JsonTree *property, GVariant *argument)
{
  g_autoptr (GVariant) boxed = g_variant_lookup_value (argument, "default", NULL);
  g_autoptr (GVariant) value = NULL;
  g_autofree const char **items = NULL;
  JsonTree *array;

  if (boxed == NULL)
    return;
  value = g_variant_is_of_type (boxed, G_VARIANT_TYPE_VARIANT) ? g_variant_get_variant (boxed)
                                                               : g_variant_ref (boxed);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN))
    json_tree_add_boolean (property, "default", g_variant_get_boolean (value));
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
    json_tree_add_string (property, "default", g_variant_get_string (value, NULL));
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING_ARRAY))
    {
      items = g_variant_get_strv (value, NULL);
      array = json_tree_add (property, "default", json_tree_new_array ());
      for (guint i = 0; items[i] != NULL; i++)
        json_tree_append_string (array, items[i]);
    }
}

/* A file goes as its path: the program opens it, as the user that it runs as. */
static JsonTree *
file_property (GVariant *argument, gboolean is_list)
{
  g_autofree char *help =
      argument_help (argument, is_list ? "paths of regular files, which are copied at once"
                                       : "path of a regular file, which is copied at once");
  JsonTree *property = object_of (is_list ? "array" : "string");

  if (is_list)
    json_tree_add (property, "items", object_of ("string"));
  json_tree_add_string (property, "description", help);
  return property;
}

static JsonTree *
plain_property (GVariant *argument)
{
  const char *text = lookup_text (argument, "schema");
  g_autoptr (JsonTree) schema =
      text != NULL ? json_tree_parse (text, strlen (text), &limits, NULL) : NULL;
  g_autofree char *help = argument_help (argument, json_tree_get_string (schema, "description"));
  JsonTree *property = json_tree_new_object ();

  for (guint i = 0; json_tree_kind (schema) == JSON_TREE_OBJECT && i < json_tree_length (schema);
       i++)
    if (strcmp (json_tree_name (schema, i), "description") != 0)
      json_tree_add (property, json_tree_name (schema, i),
                     json_tree_copy (json_tree_member_at (schema, i)));
  json_tree_add_string (property, "description", help);
  add_default (property, argument);
  return property;
}

static void
add_property (JsonTree *properties, JsonTree *required, GVariant *argument)
{
  const char *name = lookup_text (argument, "name");
  const char *signature = lookup_text (argument, "signature");
  g_autoptr (GVariant) constant = g_variant_lookup_value (argument, "constant", NULL);
  gboolean needed = FALSE;
  guint32 most = 0;
  JsonTree *property;

  /* One that policy fixes is not the agent's to give. */
  if (name == NULL || signature == NULL || constant != NULL ||
      json_tree_member (properties, name) != NULL)
    return;
  property = strchr (signature, 'h') != NULL ? file_property (argument, signature[0] == 'a')
                                             : plain_property (argument);
  if (g_variant_lookup (argument, "max-items", "u", &most))
    json_tree_add (property, "maxItems", tree_new_integer (most));
  json_tree_add (properties, name, property);
  if (g_variant_lookup (argument, "required", "b", &needed) && needed)
    json_tree_append_string (required, name);
}

static JsonTree *
schema_of (JsonTree *properties, JsonTree *required)
{
  JsonTree *schema = object_of ("object");

  json_tree_add (schema, "properties", properties);
  json_tree_add (schema, "required", required);
  json_tree_add_boolean (schema, "additionalProperties", FALSE);
  return schema;
}

JsonTree *
schema_input (GVariant *description)
{
  g_autoptr (GVariant) arguments =
      g_variant_lookup_value (description, "arguments", G_VARIANT_TYPE ("aa{sv}"));
  JsonTree *properties = json_tree_new_object ();
  JsonTree *required = json_tree_new_array ();
  GVariantIter iter;
  GVariant *argument;

  if (arguments != NULL)
    {
      g_variant_iter_init (&iter, arguments);
      while (g_variant_iter_loop (&iter, "@a{sv}", &argument))
        add_property (properties, required, argument);
    }
  return schema_of (properties, required);
}

JsonTree *
schema_request (const char *name, JsonTree *more)
{
  JsonTree *properties = json_tree_new_object ();
  JsonTree *required = json_tree_new_array ();
  JsonTree *id = json_tree_add (properties, "request_id", object_of ("string"));

  json_tree_add_string (id, "description", "the request_id of a result: 32 hexadecimal digits");
  json_tree_append_string (required, "request_id");
  if (more != NULL)
    json_tree_add (properties, name, more);
  return schema_of (properties, required);
}

JsonTree *
schema_output (void)
{
  static const struct
  {
    const char *name, *type, *help;
  } members[] = {
    { "state", "string", "what became of the request; only done means that it ran as asked" },
    { "executed", "string", "whether anything ran: no, yes or unknown" },
    { "note", "string", "the same in words" },
    { "request_id", "string", "for request_status and request_cancel" },
    { "action", "string", "id of the action" },
    { "digest", "string", "of the record that a person is shown" },
    { "reason", "string", "a word that says why not" },
    { "message", "string", "what the service says about it" },
    { "output", "string", "what the action gave back; not to be trusted" },
    { "expires_at", "string", "nobody can approve it after this" },
    { "retry_after_ms", "integer", "ask request_status no sooner" },
  };
  JsonTree *properties = json_tree_new_object ();
  JsonTree *required = json_tree_new_array ();

  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    {
      JsonTree *member = json_tree_add (properties, members[i].name, object_of (members[i].type));

      json_tree_add_string (member, "description", members[i].help);
    }
  for (gsize i = 0; i < 3; i++)
    json_tree_append_string (required, members[i].name);
  return schema_of (properties, required);
}
