/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs dbus-daemon.  GTestDBus is not used: its daemon outlives a test that aborts, with the test's
 * output open, and whoever reads that waits for ever.
 */
#include "tests/agentlib/bus.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct Bus
{
  GPid pid;
  char *address;
};

/* In the child, before it executes. */
static void
die_with_parent (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

Bus *
bus_new (void)
{
  static const char *const argv[] = { "dbus-daemon", "--session",         "--nofork",
                                      "--nopidfile", "--print-address=1", NULL };
  Bus *bus = g_new0 (Bus, 1);
  g_autoptr (GString) line = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  int out;
  char c;

  g_spawn_async_with_pipes (NULL, (char **) argv, NULL,
                            G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD |
                                G_SPAWN_STDERR_TO_DEV_NULL,
                            die_with_parent, NULL, &bus->pid, NULL, &out, NULL, &error);
  g_assert_no_error (error);
  while (read (out, &c, 1) == 1 && c != '\n')
    g_string_append_c (line, c);
  close (out);
  g_assert_true (g_str_has_prefix (line->str, "unix:"));
  bus->address = g_strdup (line->str);
  return bus;
}

void
bus_free (Bus *bus)
{
  g_assert_cmpint (kill (bus->pid, SIGTERM), ==, 0);
  g_assert_cmpint (waitpid (bus->pid, NULL, 0), ==, bus->pid);
  g_spawn_close_pid (bus->pid);
  g_free (bus->address);
  g_free (bus);
}

const char *
bus_address (Bus *bus)
{
  return bus->address;
}
