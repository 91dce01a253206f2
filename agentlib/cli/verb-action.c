/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verbs that tell what can be asked for: actions, describe, info. */
#include "agentlib/cli/cli.h"

#include "agentlib/cli/output.h"

/* Text of a dictionary's key, "" where there is none.  Borrowed from @dictionary. */
static const char *
lookup_text (GVariant *dictionary, const char *key)
{
  const char *text = "";

  g_variant_lookup (dictionary, key, "&s", &text);
  return text;
}

ExitStatus
verb_actions (Cli *cli, char **args)
{
  GError *error = NULL;
  g_autoptr (GVariant) actions = us_client_list_actions (cli->client, NULL, &error);
  JsonBuilder *builder;
  GVariantIter iter;
  const char *id;
  GVariant *action;

  if (actions == NULL)
    return cli_fail (cli, error, NULL);
  if (cli->json)
    {
      builder = output_object ();
      output_add_variant (builder, "actions", actions);
      output_finish (builder);
      return EXIT_EXECUTED;
    }
  g_variant_iter_init (&iter, actions);
  while (g_variant_iter_loop (&iter, "{&s@a{sv}}", &id, &action))
    {
      output_line ("action", id);
      output_line ("  summary", lookup_text (action, "summary"));
      output_line ("  effect", lookup_text (action, "effect"));
      output_line ("  approval", lookup_text (action, "needs-approval"));
    }
  return EXIT_EXECUTED;
}

/* The words of a list, with commas.  (transfer full) (nullable) */
static char *
lookup_list (GVariant *dictionary, const char *key)
{
  g_autofree const char **words = NULL;

  if (!g_variant_lookup (dictionary, key, "^a&s", &words))
    return NULL;
  return g_strjoinv (", ", (char **) words);
}

/* How the argument is written on the command line. */
static char *
argument_usage (GVariant *argument)
{
  const char *name = lookup_text (argument, "name");
  const char *signature = lookup_text (argument, "signature");
  gboolean is_file = signature[0] == '(' || g_str_has_prefix (signature, "a(");

  return g_strdup_printf ("%s%s%s%s", name, is_file ? "@=FILE" : "=",
                          g_str_equal (signature, "b") ? "yes|no" : is_file ? "" : "VALUE",
                          signature[0] == 'a' ? " …" : "");
}

static void
print_value (GVariant *argument, const char *key)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (argument, key, NULL);
  g_autoptr (GVariant) inner = NULL;
  g_autofree char *label = g_strconcat ("  ", key, NULL);
  g_autofree char *text = NULL;

  if (value == NULL)
    return;
  inner = g_variant_is_of_type (value, G_VARIANT_TYPE_VARIANT) ? g_variant_get_variant (value)
                                                               : g_variant_ref (value);
  if (g_variant_is_of_type (inner, G_VARIANT_TYPE_STRING))
    output_line (label, g_variant_get_string (inner, NULL));
  else if (g_variant_is_of_type (inner, G_VARIANT_TYPE_BOOLEAN))
    output_line (label, g_variant_get_boolean (inner) ? "yes" : "no");
  else if (g_variant_is_of_type (inner, G_VARIANT_TYPE_STRING_ARRAY))
    output_line (label, text = lookup_list (argument, key));
  else
    output_line (label, text = g_variant_print (inner, FALSE));
}

static void
print_argument (GVariant *argument)
{
  static const char *const keys[] = { "pattern", "minimum", "maximum", "max-items",
                                      "choices", "default", "constant" };
  g_autofree char *usage = argument_usage (argument);
  gboolean required = FALSE;

  output_line ("argument", usage);
  output_line ("  label", lookup_text (argument, "label"));
  output_line ("  type", lookup_text (argument, "type"));
  if (g_variant_lookup (argument, "required", "b", &required) && required)
    output_line ("  required", "yes");
  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    print_value (argument, keys[i]);
}

/* Each list of arguments of which one is needed. */
static void
print_one_of (GVariant *action)
{
  g_autoptr (GVariant) groups = g_variant_lookup_value (action, "one-of", G_VARIANT_TYPE ("aas"));

  for (gsize i = 0; groups != NULL && i < g_variant_n_children (groups); i++)
    {
      g_autoptr (GVariant) group = g_variant_get_child_value (groups, i);
      g_autofree const char **names = g_variant_get_strv (group, NULL);
      g_autofree char *text = g_strjoinv (", ", (char **) names);

      output_line ("one of", text);
    }
}

ExitStatus
verb_describe (Cli *cli, char **args)
{
  GError *error = NULL;
  g_autoptr (GVariant) action = us_client_describe_action (cli->client, args[0], NULL, &error);
  g_autoptr (GVariant) arguments = NULL;
  JsonBuilder *builder;
  GVariantIter iter;
  GVariant *argument;

  if (action == NULL)
    return cli_fail (cli, error, NULL);
  if (cli->json)
    {
      builder = output_object ();
      output_add_variant (builder, "action", action);
      output_finish (builder);
      return EXIT_EXECUTED;
    }
  output_line ("action", lookup_text (action, "id"));
  output_line ("summary", lookup_text (action, "summary"));
  output_line ("effect", lookup_text (action, "effect"));
  output_line ("approval", lookup_text (action, "needs-approval"));
  print_one_of (action);
  arguments = g_variant_lookup_value (action, "arguments", G_VARIANT_TYPE ("aa{sv}"));
  if (arguments == NULL)
    return EXIT_EXECUTED;
  g_variant_iter_init (&iter, arguments);
  while (g_variant_iter_loop (&iter, "@a{sv}", &argument))
    print_argument (argument);
  return EXIT_EXECUTED;
}

ExitStatus
verb_info (Cli *cli, char **args)
{
  static const char *const keys[] = { "agent",       "summary",     "owner",
                                      "pending",     "pending-max", "submits-per-minute",
                                      "file-max",    "request-files-max", "spool-max",
                                      "paused-until", "version" };
  GError *error = NULL;
  g_autoptr (GVariant) info = us_client_get_info (cli->client, NULL, &error);
  g_autofree char *parts = NULL;
  JsonBuilder *builder;

  if (info == NULL)
    return cli_fail (cli, error, NULL);
  if (cli->json)
    {
      builder = output_object ();
      output_add_variant (builder, "info", info);
      output_finish (builder);
      return EXIT_EXECUTED;
    }
  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (GVariant) value = g_variant_lookup_value (info, keys[i], NULL);
      g_autofree char *text = NULL;

      if (value != NULL && g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
        output_line (keys[i], g_variant_get_string (value, NULL));
      else if (value != NULL)
        output_line (keys[i], text = g_variant_print (value, FALSE));
    }
  output_line ("parts", parts = lookup_list (info, "parts"));
  return EXIT_EXECUTED;
}
