/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersign launch: a command as an agent, on a terminal of its own. */
#include "module/card/tty/program.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/tty/launcher.h"
#include "module/card/tty/relay.h"
#include "service/base/fd.h"

#include <string.h>
#include <unistd.h>

/* The words behind "--", which no option is looked for in; NULL where there are none. */
static char **
take_command (int *argc, char **argv)
{
  for (int i = 1; i < *argc; i++)
    if (strcmp (argv[i], "--") == 0)
      {
        *argc = i;
        argv[i] = NULL;
        return argv + i + 1;
      }
  return NULL;
}

/* What the bus can carry. */
static gboolean
check_words (const char *agent, char **command, GError **error)
{
  if (!g_utf8_validate (agent, -1, NULL))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "the name of the agent is not valid UTF-8");
  for (guint i = 0; command[i] != NULL; i++)
    if (!g_utf8_validate (command[i], -1, NULL))
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                           "word %u of the command is not valid UTF-8", i + 1);
  return TRUE;
}

/* So that each launch has a run of its own, by which its cards can be told. */
static char *
new_run (void)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y%m%dT%H%M%SZ");

  return g_strdup_printf ("launch-%s-%d", time, (int) getpid ());
}

static int
launch (const Trust *trust,
        const LaunchWish *wish,
        Launched *launched,
        gboolean *out_left,
        GError **error)
{
  int status = EXIT_REFUSED;

  if (!launcher_start (trust, wish, launched, error))
    return launched->signal != 0 ? 128 + launched->signal : EXIT_REFUSED;
  status = relay_run (launched->terminal, launched->link, wish->agent, out_left);
  fd_clear (&launched->terminal);
  fd_clear (&launched->link);
  return status;
}

int
verb_launch (const Trust *trust, int argc, char **argv, GError **error)
{
  g_autofree char *run = NULL, *part = NULL;
  g_auto (GStrv) shares = NULL;
  gboolean no_run = FALSE, is_left = FALSE;
  const GOptionEntry entries[] = {
    { "share", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &shares,
      "Let the agent work in a folder, all but a .git; :ro only reads it, :git has that, too",
      "DIR[:ro|:git]" },
    { "run", 0, 0, G_OPTION_ARG_STRING, &run, "What the run is about [one of its own]", "LABEL" },
    { "part", 0, 0, G_OPTION_ARG_STRING, &part, "The part of the agent [main]", "PART" },
    { "no-run", 0, 0, G_OPTION_ARG_NONE, &no_run, "Open no run: to log in to an account", NULL },
    G_OPTION_ENTRY_NULL,
  };
  char **command = take_command (&argc, argv);
  LaunchWish wish = { .command = command };
  Launched launched = { -1, -1, NULL, 0 };
  int status = EXIT_REFUSED;

  if (!program_parse ("launch", "AGENT -- COMMAND…", "Starts a command as an agent.", entries, 1,
                      &argc, &argv, error))
    return EXIT_USAGE;
  if (command == NULL || command[0] == NULL || (no_run && (run != NULL || part != NULL)))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT,
                    no_run ? US_REASON_BAD_VALUE : US_REASON_MISSING_ARGUMENT, "%s",
                    command == NULL || command[0] == NULL
                        ? "there is no command; it comes behind --"
                        : "--no-run has neither --run nor --part");
      return EXIT_USAGE;
    }
  if (!check_words (argv[1], command, error))
    return EXIT_USAGE;
  wish.is_own_run = !no_run && run == NULL;
  if (wish.is_own_run)
    run = new_run ();
  wish.agent = argv[1];
  wish.run = run;
  wish.part = part;
  wish.shares = shares;
  status = launch (trust, &wish, &launched, &is_left, error);
  /* One that has a name is for the next launch of that name, too; and of a command that is there yet
   * the launcher knows when it has ended. */
  if (wish.is_own_run && launched.run != NULL && !is_left)
    launcher_close_run (trust, launched.run);
  g_free (launched.run);
  return status;
}
