/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line and the environment.  Clients pass on little of the environment and some can
 * give no words, so that either is enough.
 */
#include "agentlib/mcp/options.h"

#include "config.h"
#include "dbus/error.h"
#include "dbus/reason.h"

#include <math.h>
#include <string.h>

static const char help_text[] =
    "Usage: " PROGRAM " [OPTION…]\n"
    "\n"
    "An MCP server on standard input and output: its tools are the actions that its user\n"
    "may ask for.  A person approves them elsewhere.\n"
    "\n"
    "Options:\n"
    "  --hold=SECONDS   How long a call waits before it is answered as pending (4)\n"
    "  --run=LABEL      What the run is about, e.g. a ticket     (else $UNDERSIGN_RUN)\n"
    "  --part=PART      The part of the agent that asks          (else $UNDERSIGN_PART)\n"
    "  --call=ID        The framework's id of the call           (else $UNDERSIGN_CALL)\n"
    "  --print-config=CLIENT\n"
    "                   Print a client's configuration, with the options above in it;\n"
    "                   claude (or claude-code), codex, gemini, vscode, cursor,\n"
    "                   claude-desktop, or json for any other\n"
    "  -h, --help       Show this help\n"
    "      --version    Show the version\n"
    "\n"
    "See " PROGRAM "(1).\n";

void
options_clear (Options *options)
{
  g_clear_pointer (&options->part, g_free);
  g_clear_pointer (&options->run, g_free);
  g_clear_pointer (&options->call, g_free);
  g_clear_pointer (&options->client, g_free);
}

static gboolean
bad_value (GError **error, const char *what, const char *text)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s %s", what, text);
}

static gboolean
on_hold (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;
  char *end = NULL;
  double seconds = g_ascii_strtod (value, &end);

  if (!g_ascii_isdigit (value[0]) || *end != '\0' || !isfinite (seconds) ||
      seconds * 1000 > HOLD_MAX_MS)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--hold takes seconds up to %d, not \"%s\"", HOLD_MAX_MS / 1000, value);
      return FALSE;
    }
  options->hold_ms = (int) (seconds * 1000);
  options->hold_is_set = TRUE;
  return TRUE;
}

/* Without a name, which print_config() refuses by the names that there are. */
static gboolean
on_print_config (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  g_free (options->client);
  options->client = g_strdup (value != NULL ? value : "");
  return TRUE;
}

static gboolean
check_text (const char *value, const char *option, GError **error)
{
  return value == NULL || g_utf8_validate (value, -1, NULL) ||
         bad_value (error, option, "is not valid UTF-8");
}

/* From the environment where there was no such word; empty is as if absent. */
static gboolean
complete (char **value, const char *option, const char *variable, GError **error)
{
  const char *there = g_getenv (variable);

  if (*value == NULL && there != NULL && there[0] != '\0')
    *value = g_strdup (there);
  return check_text (*value, option, error);
}

static gboolean
parse (char ***words, Options *options, gboolean *out_help, gboolean *out_version, GError **error)
{
  const GOptionEntry entries[] = {
    { "hold", 0, 0, G_OPTION_ARG_CALLBACK, on_hold, NULL, NULL },
    { "run", 0, 0, G_OPTION_ARG_FILENAME, &options->run, NULL, NULL },
    { "part", 0, 0, G_OPTION_ARG_FILENAME, &options->part, NULL, NULL },
    { "call", 0, 0, G_OPTION_ARG_FILENAME, &options->call, NULL, NULL },
    { "print-config", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, on_print_config, NULL,
      NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, out_help, NULL, NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, out_version, NULL, NULL },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  GOptionGroup *group = g_option_group_new (NULL, NULL, NULL, options, NULL);
  g_autoptr (GError) own = NULL;

  g_option_context_set_help_enabled (context, FALSE);
  g_option_group_add_entries (group, entries);
  g_option_context_set_main_group (context, group);
  if (!g_option_context_parse_strv (context, words, &own))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT,
                         g_error_matches (own, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION)
                             ? US_REASON_UNKNOWN_OPTION
                             : US_REASON_BAD_VALUE,
                         "%s", own->message);
  if ((*words)[0] != NULL && (*words)[1] != NULL)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                         "\"%s\" is one argument too many", (*words)[1]);
  return TRUE;
}

gboolean
options_read (int argc, char **argv, Options *out_options, char **out_text, GError **error)
{
  g_auto (Options) options = { .hold_ms = HOLD_DEFAULT_MS };
  g_auto (GStrv) words = g_strdupv (argv);
  gboolean help = FALSE, version = FALSE;

  if (!parse (&words, &options, &help, &version, error) ||
      !complete (&options.part, "--part", "UNDERSIGN_PART", error) ||
      !complete (&options.run, "--run", "UNDERSIGN_RUN", error) ||
      !complete (&options.call, "--call", "UNDERSIGN_CALL", error) ||
      !check_text (options.client, "--print-config", error))
    return FALSE;
  if (help || version)
    *out_text = g_strdup (help ? help_text : PROGRAM " " UNDERSIGN_VERSION "\n");
  *out_options = options;
  options = (Options){ 0 };
  return TRUE;
}
