/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the verb, reads its options and runs it.  Words are taken as bytes and must be UTF-8, whatever
 * the locale is: an agent often has none.
 */
#include "agentlib/cli/cli.h"

#include "agentlib/cli/output.h"

#include "config.h"
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/printed.h"

#include <string.h>

typedef enum
{
  OPTIONS_COMMON,
  OPTIONS_REQUEST,
  OPTIONS_WAIT,
} OptionSet;

typedef struct
{
  const char *name;
  guint least, most; /* how many arguments */
  OptionSet options;
  ExitStatus (*run) (Cli *cli, char **args);
  const char *arguments, *summary, *text;
} Verb;

static const Verb verbs[] = {
  { "actions", 0, 0, OPTIONS_COMMON, verb_actions, "", "List the actions you may ask for", NULL },
  { "describe", 1, 1, OPTIONS_COMMON, verb_describe, "ACTION", "Show what arguments an action takes",
    NULL },
  { "request", 1, G_MAXUINT, OPTIONS_REQUEST, verb_request, "ACTION [NAME=VALUE…] [NAME@=FILE…]",
    "Ask for an action",
    "Repeat NAME= or NAME@= for each item of a list.  A boolean is yes or no.\n"
    "A file is copied when the request is made; later changes to it do not matter.\n"
    "\n"
    "Examples:\n"
    "  " PROGRAM " request mail.send to=a@example.com to=b@example.com \\\n"
    "      subject='Report' body='See attachment.' attachment@=report.pdf --wait\n"
    "  " PROGRAM " request mail.send to=a@example.com subject=Hello \\\n"
    "      --run=ticket-4711 --claim='The leaver agreed.' --wait=600 --json\n" },
  { "status", 1, 1, OPTIONS_COMMON, verb_status, "REQUEST", "Show what became of a request", NULL },
  { "wait", 1, 1, OPTIONS_WAIT, verb_wait, "REQUEST", "Wait until a request has ended",
    "To stop waiting, by time-out or otherwise, changes nothing: the request stays.\n" },
  { "withdraw", 1, 1, OPTIONS_COMMON, verb_withdraw, "REQUEST", "Take a request back", NULL },
  { "list", 0, 0, OPTIONS_COMMON, verb_list, "", "List your requests, newest first", NULL },
  { "info", 0, 0, OPTIONS_COMMON, verb_info, "", "Show who you are to the service, and your limits",
    NULL },
};

static const char common_help[] = "  -j, --json                  Print one JSON object, errors too\n"
                                  "  -h, --help                  Show this help\n";

static const char request_help[] =
    "  --run=LABEL                 What the run is about, e.g. a ticket (else $UNDERSIGN_RUN)\n"
    "  --part=PART                 The part of the agent that asks (else $UNDERSIGN_PART)\n"
    "  --claim=TEXT                What you say about it; people see it as unverified\n"
    "  --idempotency-key=KEY       The same key gives the same request, for good\n"
    "  --supersedes=REQUEST        Close that request; its card shows what changed\n"
    "  --wait[=SECONDS]            Wait until the request has ended\n";

static const char wait_help[] = "  --timeout=SECONDS           Wait no longer than this\n";

static const char status_help[] =
    "\n"
    "Exit status:\n"
    "  0 executed   1 denied   2 pending   3 withdrawn or superseded   4 expired\n"
    "  5 it may have run: do not repeat it   6 refused by policy or a limit\n"
    "  125 the module failed, nothing happened   126 usage   127 service unreachable\n";

static void
help_program (void)
{
  g_autoptr (GString) text = g_string_new ("Usage: " PROGRAM " VERB [ARGUMENT…] [OPTION…]\n"
                                           "\n"
                                           "Ask for an action that a person approves.\n"
                                           "\n"
                                           "Verbs:\n");

  for (gsize i = 0; i < G_N_ELEMENTS (verbs); i++)
    g_string_append_printf (text, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
  g_string_append_printf (text,
                          "\nOptions:\n%s      --version               Show the version\n"
                          "\n" PROGRAM " VERB --help says more; " PROGRAM "(1) says all.\n",
                          common_help);
  output_text (text->str);
}

static void
help_verb (const Verb *verb)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (text, "Usage: " PROGRAM " %s%s%s [OPTION…]\n\n%s.\n", verb->name,
                          verb->arguments[0] != '\0' ? " " : "", verb->arguments, verb->summary);
  if (verb->text != NULL)
    g_string_append_printf (text, "\n%s", verb->text);
  g_string_append_printf (text, "\nOptions:\n%s%s%s",
                          verb->options == OPTIONS_REQUEST ? request_help : "",
                          verb->options == OPTIONS_WAIT ? wait_help : "", common_help);
  if (verb->options != OPTIONS_COMMON || verb->run == verb_status)
    g_string_append (text, status_help);
  output_text (text->str);
}

/* --wait without a value waits without a limit. */
static gboolean
on_wait (const char *option, const char *value, gpointer data, GError **error)
{
  Cli *cli = data;
  guint64 seconds;

  if (value == NULL)
    cli->wait_ms = -1;
  else if (g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT / 1000, &seconds, NULL))
    cli->wait_ms = (int) seconds * 1000;
  else
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "%s takes whole seconds, not \"%s\"", option, value);
      return FALSE;
    }
  return TRUE;
}

static gboolean
parse_options (Cli *cli, const Verb *verb, char ***words, char ***out_args, GError **error)
{
  const GOptionEntry common[] = {
    { "json", 'j', 0, G_OPTION_ARG_NONE, &cli->json, NULL, NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &cli->help, NULL, NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, out_args, NULL, NULL },
    G_OPTION_ENTRY_NULL,
  };
  const GOptionEntry request[] = {
    { "run", 0, 0, G_OPTION_ARG_FILENAME, &cli->run, NULL, NULL },
    { "part", 0, 0, G_OPTION_ARG_FILENAME, &cli->part, NULL, NULL },
    { "claim", 0, 0, G_OPTION_ARG_FILENAME, &cli->claim, NULL, NULL },
    { "idempotency-key", 0, 0, G_OPTION_ARG_FILENAME, &cli->idempotency_key, NULL, NULL },
    { "supersedes", 0, 0, G_OPTION_ARG_FILENAME, &cli->supersedes, NULL, NULL },
    { "wait", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, on_wait, NULL, NULL },
    G_OPTION_ENTRY_NULL,
  };
  const GOptionEntry wait[] = {
    { "timeout", 0, 0, G_OPTION_ARG_CALLBACK, on_wait, NULL, NULL },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  GOptionGroup *group = g_option_group_new (NULL, NULL, NULL, cli, NULL);
  g_autoptr (GError) own = NULL;

  g_option_context_set_help_enabled (context, FALSE);
  g_option_group_add_entries (group, common);
  if (verb->options == OPTIONS_REQUEST)
    g_option_group_add_entries (group, request);
  if (verb->options == OPTIONS_WAIT)
    g_option_group_add_entries (group, wait);
  g_option_context_set_main_group (context, group);
  if (!g_option_context_parse_strv (context, words, &own))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT,
                         g_error_matches (own, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION)
                             ? US_REASON_UNKNOWN_OPTION
                             : US_REASON_BAD_VALUE,
                         "%s", own->message);
  return TRUE;
}

static gboolean
check_words (char **words, GError **error)
{
  for (guint i = 0; words != NULL && words[i] != NULL; i++)
    if (!g_utf8_validate (words[i], -1, NULL))
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                           "argument %u is not valid UTF-8", i + 1);
  return TRUE;
}

/* What no option says; empty is as if absent. */
static gboolean
complete (char **value, const char *variable, GError **error)
{
  const char *there = g_getenv (variable);

  if (*value != NULL || there == NULL || there[0] == '\0')
    return TRUE;
  if (!g_utf8_validate (there, -1, NULL))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "%s is not valid UTF-8", variable);
  *value = g_strdup (there);
  return TRUE;
}

static gboolean
check_count (const Verb *verb, char **args, GError **error)
{
  guint count = args != NULL ? g_strv_length (args) : 0;

  if (count >= verb->least && count <= verb->most)
    return TRUE;
  if (count > verb->most)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                         "\"%s\" is one argument too many", args[verb->most]);
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                       "an argument is missing: " PROGRAM " %s %s", verb->name, verb->arguments);
}

ExitStatus
cli_fail (const Cli *cli, GError *error, const char *request)
{
  g_autoptr (GError) own = error;
  g_autoptr (GError) known = NULL;
  ExitStatus status;

  if (own->domain == G_FILE_ERROR)
    us_error_set (&known, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s", own->message);
  else if (own->domain != US_ERROR)
    us_error_set (&known, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "%s", own->message);
  status = exit_for_error (known != NULL ? known : own);
  output_error (cli->json, known != NULL ? known : own, request);
  return status;
}

/* Of a wrong command line, before anything was asked. */
static ExitStatus
refuse_usage (const Cli *cli, const Verb *verb, GError *error)
{
  g_autofree char *name = g_strconcat (PROGRAM, verb != NULL ? " " : NULL,
                                       verb != NULL ? verb->name : NULL, NULL);

  cli_fail (cli, error, NULL);
  if (!cli->json)
    usage_try (name);
  return EXIT_USAGE;
}

static void
cli_clear (Cli *cli)
{
  g_free (cli->run);
  g_free (cli->part);
  g_free (cli->claim);
  g_free (cli->idempotency_key);
  g_free (cli->supersedes);
}

static ExitStatus
run_verb (Cli *cli, const Verb *verb, char **argv)
{
  g_auto (GStrv) words = g_strdupv (argv);
  g_auto (GStrv) args = NULL;
  GError *error = NULL;

  /* Known before the options are read, so that an error in them has the right form. */
  cli->json = g_strv_contains ((const char *const *) argv, "--json") ||
              g_strv_contains ((const char *const *) argv, "-j");
  if (verb->options == OPTIONS_WAIT)
    cli->wait_ms = -1;
  if (!check_words (words, &error) || !parse_options (cli, verb, &words, &args, &error))
    return refuse_usage (cli, verb, error);
  if (cli->help)
    {
      help_verb (verb);
      return EXIT_EXECUTED;
    }
  if (!check_count (verb, args, &error) ||
      (verb->options == OPTIONS_REQUEST && (!complete (&cli->run, "UNDERSIGN_RUN", &error) ||
                                            !complete (&cli->part, "UNDERSIGN_PART", &error))))
    return refuse_usage (cli, verb, error);
  return verb->run (cli, args);
}

ExitStatus
cli_run (UsClient *client, int argc, char **argv)
{
  Cli cli = { .client = client };
  const char *name = argc > 1 ? argv[1] : NULL;
  ExitStatus status = EXIT_USAGE;
  GError *error = NULL;

  /* of what nobody could read, an agent must not think that it was denied and may be asked again */
  printed_watch (PROGRAM, EXIT_UNKNOWN);
  if (name == NULL)
    {
      us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                    "a verb is missing");
      return refuse_usage (&cli, NULL, error);
    }
  if (strcmp (name, "--help") == 0 || strcmp (name, "-h") == 0)
    {
      help_program ();
      return EXIT_EXECUTED;
    }
  if (strcmp (name, "--version") == 0)
    {
      output_text (PROGRAM " " UNDERSIGN_VERSION "\n");
      return EXIT_EXECUTED;
    }
  for (gsize i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (strcmp (verbs[i].name, name) == 0)
      {
        status = run_verb (&cli, &verbs[i], argv + 1);
        cli_clear (&cli);
        return status;
      }
  cli.json = g_strv_contains ((const char *const *) argv, "--json");
  if (name[0] == '-')
    us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_OPTION,
                  "%s: options follow a verb", name);
  else
    us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                  "there is no verb \"%s\"", name);
  return refuse_usage (&cli, NULL, error);
}
