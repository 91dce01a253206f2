/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts pkttyagent and waits until it is registered.  Where that fails, polkit just asks nobody.
 */
#include "service/ctl/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define PKTTYAGENT "/usr/bin/pkttyagent"
#define READY_TIMEOUT_MS 5000

struct PolkitTty
{
  pid_t pid;
};

PolkitTty *
polkit_tty_new (void)
{
  g_autofree char *process = g_strdup_printf ("%d", (int) getpid ());
  const char *const argv[] = { PKTTYAGENT,  "--notify-fd", "3", "--fallback",
                               "--process", process,       NULL };
  posix_spawn_file_actions_t actions;
  int ends[2] = { -1, -1 };
  PolkitTty *agent = NULL;
  pid_t pid = 0;
  int result = 0;

  if (geteuid () == 0 || !isatty (STDIN_FILENO) || access (PKTTYAGENT, X_OK) != 0 ||
      pipe2 (ends, O_CLOEXEC) != 0)
    return NULL;
  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_adddup2 (&actions, ends[1], 3);
  result = posix_spawn (&pid, PKTTYAGENT, &actions, NULL, (char *const *) argv, environ);
  posix_spawn_file_actions_destroy (&actions);
  close (ends[1]);
  if (result == 0)
    {
      struct pollfd poll_fd = { .fd = ends[0], .events = POLLIN };

      /* It closes its end once it is registered, or has failed to. */
      poll (&poll_fd, 1, READY_TIMEOUT_MS);
      agent = g_new0 (PolkitTty, 1);
      agent->pid = pid;
    }
  close (ends[0]);
  return agent;
}

void
polkit_tty_free (PolkitTty *agent)
{
  if (agent == NULL)
    return;
  kill (agent->pid, SIGTERM);
  waitpid (agent->pid, NULL, 0);
  g_free (agent);
}
