/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a client's configuration.  It looks at nothing but its arguments, no file and no
 * environment; what it says of users is what must be so, and whether it is, the service sees by the
 * bus.
 */
#include "agentlib/mcp/print-config.h"

#include "agentlib/mcp/text.h"
#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

#define SERVER "undersign"
#define COMMAND UNDERSIGN_BIN_DIR "/" PROGRAM

static const ConfigClient *
find_client (const char *name, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (const ConfigClient *client = config_clients; client->name != NULL; client++)
    {
      if (strcmp (client->name, name) == 0 || g_strcmp0 (client->alias, name) == 0)
        return client;
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", client->name);
      if (client->alias != NULL)
        g_string_append_printf (names, " (or %s)", client->alias);
    }
  if (name[0] == '\0')
    us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                  "--print-config= wants a client: %s", names->str);
  else
    us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                  "--print-config knows no client \"%s\", but %s", name, names->str);
  return NULL;
}

/* The same text is a string of JSON and of TOML. */
static char *
quoted (const char *text)
{
  g_autoptr (JsonTree) tree = json_tree_new_string (text);

  return tree_text (tree);
}

static char *
seconds_text (int milliseconds)
{
  return milliseconds % 1000 == 0
             ? g_strdup_printf ("%d", milliseconds / 1000)
             : g_strdup_printf ("%d.%03d", milliseconds / 1000, milliseconds % 1000);
}

static int
hold_of (const ConfigClient *client, const Options *options)
{
  return options->hold_is_set ? options->hold_ms : (int) client->hold * 1000;
}

/* ["--hold=4"], which is an array in both. */
static char *
arguments_text (const ConfigClient *client, const Options *options)
{
  g_autofree char *hold = seconds_text (hold_of (client, options));

  return g_strdup_printf ("[\"--hold=%s\"]", hold);
}

/* Clients pass on none but what stands here.  @assign: what is between a name and its value */
static char *
environment_text (const Options *options, const char *quote, const char *assign)
{
  const struct
  {
    const char *name, *value;
  } variables[] = {
    { "UNDERSIGN_RUN", options->run },
    { "UNDERSIGN_PART", options->part },
    { "UNDERSIGN_CALL", options->call },
  };
  GString *text = g_string_new ("{");

  for (gsize i = 0; i < G_N_ELEMENTS (variables); i++)
    {
      g_autofree char *value = variables[i].value != NULL ? quoted (variables[i].value) : NULL;

      if (value != NULL)
        g_string_append_printf (text, "%s %s%s%s%s%s", text->len > 1 ? "," : "", quote,
                                variables[i].name, quote, assign, value);
    }
  g_string_append (text, text->len > 1 ? " }" : "}");
  return g_string_free (text, FALSE);
}

/* Of the environment of the client, where `undersign launch` names the run; but what is given. */
static char *
passed_text (const Options *options)
{
  g_autoptr (GString) names = g_string_new (NULL);

  if (options->run == NULL)
    g_string_append (names, "\"UNDERSIGN_RUN\"");
  if (options->part == NULL)
    g_string_append_printf (names, "%s\"UNDERSIGN_PART\"", names->len > 0 ? ", " : "");
  return g_strdup_printf ("[%s]", names->str);
}

static char *
toml_text (const ConfigClient *client, const Options *options)
{
  g_autofree char *arguments = arguments_text (client, options);
  g_autofree char *environment = environment_text (options, "", " = ");
  g_autofree char *passed = passed_text (options);
  GString *text = g_string_new ("[mcp_servers." SERVER "]\ncommand = \"" COMMAND "\"\n");

  g_string_append_printf (text, "args = %s\nenv = %s\nenv_vars = %s\n", arguments, environment,
                          passed);
  if (client->time_out > 0)
    g_string_append_printf (text, "tool_timeout_sec = %u\n", client->time_out);
  if (client->member != NULL)
    g_string_append_printf (text, "%s = \"%s\"\n", client->member, client->value);
  return g_string_free (text, FALSE);
}

static char *
json_text (const ConfigClient *client, const Options *options)
{
  g_autofree char *arguments = arguments_text (client, options);
  g_autofree char *environment = environment_text (options, "\"", ": ");
  GString *text = g_string_new ("{\n");

  g_string_append_printf (text, "  \"%s\": {\n    \"" SERVER "\": {\n",
                          client->form == CONFIG_SERVERS ? "servers" : "mcpServers");
  if (client->form == CONFIG_SERVERS)
    g_string_append (text, "      \"type\": \"stdio\",\n");
  g_string_append_printf (text,
                          "      \"command\": \"" COMMAND "\",\n"
                          "      \"args\": %s,\n"
                          "      \"env\": %s",
                          arguments, environment);
  if (client->time_out > 0)
    g_string_append_printf (text, ",\n      \"timeout\": %u", client->time_out * 1000);
  if (client->member != NULL)
    g_string_append_printf (text, ",\n      \"%s\": %s", client->member, client->value);
  g_string_append (text, "\n    }\n  }\n}\n");
  return g_string_free (text, FALSE);
}

/* --- what is said beside it --- */

static void
note (GString *text, const char *about, const char *what)
{
  if (what != NULL)
    g_string_append_printf (text, "  %-12s %s.\n", about, what);
}

static char *
notes_text (const ConfigClient *client, const Options *options, const char *user)
{
  GString *text = g_string_new (NULL);
  g_autofree char *who =
      g_strdup_printf ("the agent's, as whom the client must run; any other is refused. This was "
                       "printed by %s",
                       user);

  g_string_append_printf (text, "%s:\n", client->title);
  if (client->is_graphical)
    {
      g_string_append (
          text, "  NO BOUNDARY: it starts its servers, and runs its own tools, as the person who "
                "uses it.\n"
                "  The service refuses a person's user as an agent, and no configuration changes "
                "that.\n");
      note (text, "Instead:", client->instead);
    }
  note (text, "User:", who);
  if (client->command != NULL)
    g_string_append_printf (
        text,
        "  Start:       undersign launch NAME -- %s\n"
        "               by the owner of the agent NAME, whose run it is then.\n",
        client->command);
  note (text, "File:", client->file);
  note (text, "Questions:", client->allow);
  if (client->member != NULL)
    note (text, "Questions:",
          "what it asks itself decides nothing; the last member keeps it from "
          "asking");
  note (text, "Time-out:", client->limit);
  note (text, "Afterwards:", client->wake);
  if (client->time_out > 0 && hold_of (client, options) >= (int) client->time_out * 1000)
    note (text, "Hold:", "it is longer than the client waits, which will give the call up");
  return g_string_free (text, FALSE);
}

gboolean
config_text (const char *client,
             const Options *options,
             const char *user,
             char **out_config,
             char **out_notes,
             GError **error)
{
  const ConfigClient *known = find_client (client, error);

  if (known == NULL)
    return FALSE;
  *out_config =
      known->form == CONFIG_TOML ? toml_text (known, options) : json_text (known, options);
  *out_notes = notes_text (known, options, user);
  return TRUE;
}
