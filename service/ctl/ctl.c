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
#include "service/ctl/output.h"

#include <stdio.h>
#include <string.h>

static const CtlVerb *const groups[] = { status_verbs,    policy_verbs,  audit_verbs,
                                         execution_verbs, stats_verbs,   passkey_verbs,
                                         credential_verbs };

static void
print_help (FILE *out)
{
  fprintf (out, "Usage: undersignctl VERB [ARGUMENT…] [--json]\n\n");
  for (gsize i = 0; i < G_N_ELEMENTS (groups); i++)
    for (const CtlVerb *verb = groups[i]; verb->name != NULL; verb++)
      {
        g_autofree char *usage = g_strdup_printf ("%s %s", verb->name, verb->arguments);

        fprintf (out, "  %-32s %s\n", usage, verb->summary);
      }
  fprintf (out, "\nundersignctl VERB --help says more; undersignctl(8) says all.\n");
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

/* Before options are read: an error in them is to be JSON, too. */
static gboolean
wants_json (int argc, char **argv)
{
  for (int i = 1; i < argc && strcmp (argv[i], "--") != 0; i++)
    if (strcmp (argv[i], "--json") == 0)
      return TRUE;
  return FALSE;
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
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_OPTION, "%s",
                         reason->message);
  n = g_strv_length (*arguments) - 1;
  for (guint i = 1; i <= n; i++)
    if (!g_utf8_validate ((*arguments)[i], -1, NULL))
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                           "an argument is not UTF-8");
  if (n < verb->min || n > verb->max)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                         "usage: undersignctl %s %s", verb->name, verb->arguments);
  return TRUE;
}

static int
exit_status (const GError *error)
{
  if (error == NULL)
    return CTL_EXIT_REFUSED;
  if (g_error_matches (error, US_ERROR, US_ERROR_UNAVAILABLE))
    return CTL_EXIT_UNREACHABLE;
  return CTL_EXIT_REFUSED;
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

static int
run_verb (const CtlConfig *config, const CtlVerb *verb, int argc, char **argv, int words)
{
  Ctl ctl = { .config = config, .json = wants_json (argc, argv) };
  g_auto (GStrv) arguments = verb_arguments (verb, argc, argv, words);
  g_autoptr (GError) error = NULL;
  int status = CTL_EXIT_USAGE;

  g_set_prgname (arguments[0]);
  if (!read_options (verb, &ctl.json, &arguments, &error))
    {
      output_error (ctl.json, error);
      return CTL_EXIT_USAGE;
    }
  if (verb->run (&ctl, arguments + 1, &error))
    status = CTL_EXIT_DONE;
  else
    {
      status = exit_status (error);
      if (error != NULL)
        output_error (ctl.json, error);
    }
  if (fflush (stdout) != 0)
    status = status == CTL_EXIT_DONE ? CTL_EXIT_REFUSED : status;
  g_clear_object (&ctl.bus);
  g_free (ctl.owner);
  return status;
}

int
ctl_run (const CtlConfig *config, int argc, char **argv)
{
  const CtlVerb *verb = NULL;
  int words = 0;

  us_error_register_bus ();
  if (argc > 1 && (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0))
    {
      print_help (stdout);
      return CTL_EXIT_DONE;
    }
  if (argc > 1 && strcmp (argv[1], "--version") == 0)
    {
      printf ("undersignctl %s\n", UNDERSIGN_VERSION);
      return CTL_EXIT_DONE;
    }
  verb = argc > 1 ? verb_find (argc, argv, &words) : NULL;
  if (verb == NULL)
    {
      g_autoptr (GError) error = NULL;

      if (argc > 1)
        us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                      "there is no verb \"%s%s%s\"", argv[1], argc > 2 ? " " : "",
                      argc > 2 ? argv[2] : "");
      else
        us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                      "a verb is needed");
      output_error (wants_json (argc, argv), error);
      if (!wants_json (argc, argv))
        print_help (stderr);
      return CTL_EXIT_USAGE;
    }
  return run_verb (config, verb, argc, argv, words);
}
