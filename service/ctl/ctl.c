/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the verb, reads its options, runs it and turns what came of it into output and an exit
 * status.  No verb prints an error by itself.
 */
#include "config.h"

#include "service/ctl/ctl.h"

#include "dbus/error-bus.h"
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/error-json.h"
#include "service/base/printed.h"
#include "service/ctl/output.h"

#include <stdio.h>
#include <string.h>

static const CtlVerb *const groups[] = { setup_verbs,     status_verbs,    policy_verbs,  audit_verbs,
                                         execution_verbs, stats_verbs,   passkey_verbs,
                                         credential_verbs, agent_verbs };

/* Whether @verb is one of "policy", if that is @group. */
static gboolean
verb_is_of (const CtlVerb *verb, const char *group)
{
  const gsize len = strlen (group);

  return g_str_has_prefix (verb->name, group) && verb->name[len] == ' ';
}

static gboolean
group_exists (const char *group)
{
  for (gsize i = 0; i < G_N_ELEMENTS (groups); i++)
    for (const CtlVerb *verb = groups[i]; verb->name != NULL; verb++)
      if (verb_is_of (verb, group))
        return TRUE;
  return FALSE;
}

/* @group: its verbs alone; NULL for all there are. */
static void
print_help (const char *group)
{
  printf ("Usage: undersignctl %s%s [ARGUMENT…] [--json]\n\nVerbs:\n", group != NULL ? group : "",
          group != NULL ? " VERB" : "VERB");
  for (gsize i = 0; i < G_N_ELEMENTS (groups); i++)
    for (const CtlVerb *verb = groups[i]; verb->name != NULL; verb++)
      {
        g_autofree char *usage = g_strdup_printf ("%s %s", verb->name, verb->arguments);
        int more = (int) (strlen (usage) - (gsize) g_utf8_strlen (usage, -1));

        if (group == NULL || verb_is_of (verb, group))
          printf ("  %-*s %s\n", 32 + more, usage, verb->summary);
      }
  printf ("\nOptions:\n"
          "  -h, --help                       Show this help\n"
          "      --json                       Print JSON, errors too\n"
          "      --version                    Show the version\n"
          "\nundersignctl VERB --help says more; undersignctl(8) says all.\n");
}

/* The verb that the first one or two words name; @out_words says how many. */
static const CtlVerb *
verb_find (int argc, char **argv, int *out_words)
{
  g_autofree char *two = argc > 2 ? g_strdup_printf ("%s %s", argv[1], argv[2]) : NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (groups); i++)
    for (const CtlVerb *verb = groups[i]; verb->name != NULL; verb++)
      {
        *out_words = strchr (verb->name, ' ') != NULL ? 2 : 1;
        if (g_strcmp0 (verb->name, *out_words == 2 ? two : argv[1]) == 0)
          return verb;
      }
  return NULL;
}

static gboolean
read_options (const CtlVerb *verb, gboolean *out_json, char ***arguments, GError **error)
{
  g_autofree char *usage = g_strdup_printf ("%s", verb->arguments);
  g_autoptr (GOptionContext) context = g_option_context_new (usage);
  g_autoptr (GError) reason = NULL;
  const GOptionEntry common[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, out_json, "Print JSON, errors too", NULL },
    G_OPTION_ENTRY_NULL,
  };
  guint n = 0;

  g_option_context_set_summary (context, verb->summary);
  g_option_context_add_main_entries (context, common, NULL);
  if (verb->options != NULL)
    g_option_context_add_main_entries (context, verb->options, NULL);
  if (!g_option_context_parse_strv (context, arguments, &reason))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT,
                         g_error_matches (reason, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION)
                             ? US_REASON_UNKNOWN_OPTION
                             : US_REASON_BAD_VALUE,
                         "%s", reason->message);
  n = g_strv_length (*arguments) - 1;
  for (guint i = 1; i <= n; i++)
    if (!g_utf8_validate ((*arguments)[i], -1, NULL))
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                           "argument %u is not valid UTF-8", i);
  if (n < verb->min)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                         "an argument is missing: undersignctl %s %s", verb->name,
                         verb->arguments);
  if (n > verb->max)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                         "\"%s\" is one argument too many", (*arguments)[verb->max + 1]);
  return TRUE;
}

static int
exit_status (const Ctl *ctl, const GError *error)
{
  if (ctl->bad_word)
    return CTL_EXIT_USAGE;
  if (error == NULL)
    return CTL_EXIT_REFUSED;
  if (g_error_matches (error, US_ERROR, US_ERROR_UNAVAILABLE))
    return CTL_EXIT_UNREACHABLE;
  return CTL_EXIT_REFUSED;
}

gboolean
ctl_bad_word (Ctl *ctl, GError **error, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  ctl->bad_word = TRUE;
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s", text);
}

/* The program's name and the verb's words become one, so that --help shows them. */
static char **
verb_arguments (const CtlVerb *verb, int argc, char **argv, int words)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree char *name = g_strdup_printf ("undersignctl %s", verb->name);

  g_strv_builder_add (builder, name);
  for (int i = 1 + words; i < argc; i++)
    g_strv_builder_add (builder, argv[i]);
  return g_strv_builder_end (builder);
}

static void
refuse_usage (gboolean json, const GError *error)
{
  output_error (json, error);
  if (!json)
    usage_try (g_get_prgname ());
}

static int
run_verb (const CtlConfig *config, const CtlVerb *verb, int argc, char **argv, int words)
{
  Ctl ctl = { .config = config, .json = error_wants_json (argc, argv) };
  g_auto (GStrv) arguments = verb_arguments (verb, argc, argv, words);
  g_autoptr (GError) error = NULL;
  int status = CTL_EXIT_USAGE;

  g_set_prgname (arguments[0]);
  if (!read_options (verb, &ctl.json, &arguments, &error))
    {
      refuse_usage (ctl.json, error);
      return CTL_EXIT_USAGE;
    }
  if (verb->run (&ctl, arguments + 1, &error))
    status = CTL_EXIT_DONE;
  else
    {
      status = exit_status (&ctl, error);
      if (error != NULL && status == CTL_EXIT_USAGE)
        refuse_usage (ctl.json, error);
      else if (error != NULL)
        output_error (ctl.json, error);
    }
  g_clear_object (&ctl.bus);
  g_free (ctl.owner);
  return status;
}

static gboolean
is_help (const char *word)
{
  return strcmp (word, "--help") == 0 || strcmp (word, "-h") == 0;
}

/* No verb is named: what is wrong with that. */
static int
refuse_words (int argc, char **argv)
{
  const gboolean json = error_wants_json (argc, argv);
  const gboolean is_group = argc > 1 && group_exists (argv[1]);
  const char *word = is_group && argc > 2 ? argv[2] : NULL;
  g_autofree char *name = g_strconcat ("undersignctl", is_group ? " " : NULL, argv[1], NULL);
  g_autoptr (GError) error = NULL;

  g_set_prgname (name);
  if (argc < 2)
    us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                  "a verb is missing");
  else if (!is_group)
    us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                  "there is no verb \"%s\"", argv[1]);
  else if (word == NULL || strcmp (word, "--json") == 0)
    us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                  "a verb is missing behind \"%s\"", argv[1]);
  else
    us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                  "there is no verb \"%s %s\"", argv[1], word);
  refuse_usage (json, error);
  return CTL_EXIT_USAGE;
}

int
ctl_run (const CtlConfig *config, int argc, char **argv)
{
  const CtlVerb *verb = NULL;
  int words = 0;

  us_error_register_bus ();
  printed_watch ("undersignctl", CTL_EXIT_REFUSED);
  if (argc > 1 && is_help (argv[1]))
    {
      print_help (NULL);
      return CTL_EXIT_DONE;
    }
  if (argc > 2 && is_help (argv[2]) && group_exists (argv[1]))
    {
      print_help (argv[1]);
      return CTL_EXIT_DONE;
    }
  if (argc > 1 && strcmp (argv[1], "--version") == 0)
    {
      printf ("undersignctl %s\n", UNDERSIGN_VERSION);
      return CTL_EXIT_DONE;
    }
  verb = argc > 1 ? verb_find (argc, argv, &words) : NULL;
  return verb != NULL ? run_verb (config, verb, argc, argv, words) : refuse_words (argc, argv);
}
