/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The frame of undersign(1): tables of verbs, options and messages.  main.c calls program_run(). No
 * verb is reached but through a table here, and every failure ends in a status other than 0.
 */
#include "module/card/tty/program.h"

#include "config.h"
#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/tty/text.h"
#include "service/base/error-json.h"
#include "service/base/printed.h"
#include "service/record/rows.h"

#include <locale.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const VerbEntry verbs[] = {
  { "pending", verb_pending, "list the requests that wait for you" },
  { "show", verb_show, "print a card, to read only" },
  { "approve", verb_approve, "read a card and answer it" },
  { "deny", verb_deny, "deny a request" },
  { "watch", verb_watch, "tell when cards come and go" },
  { "receipt", verb_receipt, "print or verify the receipt of a request" },
  { "launch", verb_launch, "start a command as an agent of yours" },
  { "passkey", verb_passkey, "enrol, list and revoke your passkeys" },
  { NULL, NULL, NULL },
};

void
say (const char *format, ...)
{
  g_autofree char *text = NULL, *safe = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  safe = text_safe (text, g_get_charset (NULL));
  fprintf (stdout, "%s\n", safe);
  fflush (stdout);
}

void
say_json (JsonTree *tree)
{
  g_autoptr (GBytes) bytes = NULL;
  const char *text = NULL;
  gsize len = 0;

  json_tree_add_string (tree, "version", OUTPUT_VERSION);
  bytes = json_tree_write (tree);
  text = g_bytes_get_data (bytes, &len);
  fwrite (text, 1, len, stdout);
  fputc ('\n', stdout);
}

/* Of launch these may be the words of the command. */
static gboolean
wants_json (int argc, char **argv)
{
  return argc > 1 && strcmp (argv[1], "launch") != 0 && error_wants_json (argc, argv);
}

/* One line, whatever was read: of several, as an invalid policy has, the first. */
static void
complain (const char *message)
{
  g_auto (GStrv) lines = g_strsplit (message, "\n", -1);
  const guint more = g_strv_length (lines) - 1;
  g_autofree char *first = text_safe (lines[0], g_get_charset (NULL));
  g_autofree char *rest = more > 0 ? g_strdup_printf (" (and %u more)", more) : NULL;

  fprintf (stderr, "undersign: %s%s\n", first, rest != NULL ? rest : "");
}

static void
complain_json (const GError *error)
{
  g_autofree char *safe = escape_line (error->message);
  g_autoptr (GError) shown = g_error_new_literal (error->domain, error->code, safe);
  g_autoptr (JsonTree) tree = error_to_tree (shown);

  say_json (tree);
}

/* --- the command line --- */

/* Of what --help is told of where the command line is wrong. */
static void
name_verb (const char *verb)
{
  g_autofree char *name = g_strconcat ("undersign", verb[0] != '\0' ? " " : NULL, verb, NULL);

  g_set_prgname (name);
}

gboolean
program_parse (const char *verb,
               const char *usage,
               const char *description,
               const GOptionEntry *entries,
               guint arguments,
               int *argc,
               char ***argv,
               GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (usage);
  g_autoptr (GError) local = NULL;

  name_verb (verb);
  g_option_context_set_summary (context, description);
  if (entries != NULL)
    g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, &local))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT,
                         g_error_matches (local, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION)
                             ? US_REASON_UNKNOWN_OPTION
                             : US_REASON_BAD_VALUE,
                         "%s", local->message);
  /* "--" stays where it stood between options and arguments */
  if (*argc > 1 && strcmp ((*argv)[1], "--") == 0)
    {
      (*argv)[1] = (*argv)[0];
      (*argv)++;
      (*argc)--;
    }
  if ((guint) *argc < arguments + 1)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                         "an argument is missing: undersign %s %s", verb, usage);
  if ((guint) *argc > arguments + 1)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                         "\"%s\" is one argument too many", (*argv)[arguments + 1]);
  return TRUE;
}

static void
print_help (const char *prefix, const VerbEntry *table)
{
  printf ("Usage: undersign%s%s VERB [OPTION…] [ARGUMENT…]\n\nVerbs:\n", prefix[0] ? " " : "",
          prefix);
  for (const VerbEntry *entry = table; entry->name != NULL; entry++)
    printf ("  %-10s %s\n", entry->name, entry->summary);
  printf ("\nOptions:\n"
          "  -h, --help                  Show this help\n%s"
          "\nundersign%s%s VERB --help says more; undersign(1) says all.\n",
          prefix[0] ? "" : "      --version               Show the version\n",
          prefix[0] ? " " : "", prefix);
}

int
program_dispatch (const char *prefix,
                  const VerbEntry *table,
                  const Trust *trust,
                  int argc,
                  char **argv,
                  GError **error)
{
  name_verb (prefix);
  if (argc < 2)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                    "a verb is missing");
      return EXIT_USAGE;
    }
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0)
    {
      print_help (prefix, table);
      return EXIT_OK;
    }
  for (const VerbEntry *entry = table; entry->name != NULL; entry++)
    if (strcmp (argv[1], entry->name) == 0)
      return entry->verb (trust, argc - 1, argv + 1, error);
  us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                "there is no verb \"%s%s%s\"", prefix, prefix[0] ? " " : "", argv[1]);
  return EXIT_USAGE;
}

/* What a core dump or a debugger could take from here is a passphrase. */
static void
harden (void)
{
  const struct rlimit none = { 0, 0 };

  prctl (PR_SET_DUMPABLE, 0);
  setrlimit (RLIMIT_CORE, &none);
  umask (077);
}

/* Whether it is the service that is not there or not itself, not a passkey. */
static gboolean
is_unreachable (const GError *error)
{
  static const char *const reasons[] = { US_REASON_UNREACHABLE, US_REASON_BAD_PEER,
                                         US_REASON_BAD_MESSAGE };

  for (guint i = 0; i < G_N_ELEMENTS (reasons); i++)
    if (us_error_has_reason (error, reasons[i]))
      return g_error_matches (error, US_ERROR, US_ERROR_UNAVAILABLE);
  return FALSE;
}

int
program_run (const Trust *trust, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  const gboolean json = wants_json (argc, argv);
  int status = EXIT_REFUSED;

  setlocale (LC_ALL, "");
  printed_watch ("undersign", EXIT_REFUSED);
  harden ();
  if (argc == 2 && strcmp (argv[1], "--version") == 0)
    {
      printf ("undersign %s\n", UNDERSIGN_VERSION);
      return EXIT_OK;
    }
  status = program_dispatch ("", verbs, trust, argc, argv, &error);
  if (error != NULL)
    {
      if (json)
        complain_json (error);
      else
        complain (error->message);
      if (!json && status == EXIT_USAGE)
        usage_try (g_get_prgname ());
      if (us_error_has_reason (error, US_REASON_NO_TERMINAL))
        return EXIT_NO_TERMINAL;
      if (status == EXIT_REFUSED && is_unreachable (error))
        return EXIT_UNREACHABLE;
      return status != EXIT_OK ? status : EXIT_REFUSED;
    }
  return status;
}

/* --- the person --- */

char *
program_user (GError **error)
{
  struct passwd entry, *found = NULL;
  char buffer[4096];

  if (getpwuid_r (getuid (), &entry, buffer, sizeof buffer, &found) != 0 || found == NULL)
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY, "uid %u has no name",
                    (guint) getuid ());
      return NULL;
    }
  return g_strdup (found->pw_name);
}
