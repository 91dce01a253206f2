/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Starts pkttyagent as a fallback agent for this process, waits until it is registered, and ends
 * it. Called by admin.c.  Without it a person on a text console or over ssh could not be asked; it
 * gets nothing from us but our process id, and its complaints are not shown: polkit's answer is.
 */
#include "module/card/tty/agent.h"

#include "service/base/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#define PKTTYAGENT "/usr/bin/pkttyagent"
#define READY_FD 3
#define READY_WAIT_MS 3000

struct Agent
{
  pid_t pid;
};

/* pkttyagent closes its end when it is registered, or when it failed. */
static void
wait_ready (int fd)
{
  struct pollfd waiting = { fd, POLLIN, 0 };

  (void) poll (&waiting, 1, READY_WAIT_MS);
}

Agent *
agent_start (void)
{
  g_autofree char *self = g_strdup_printf ("%d", (int) getpid ());
  char *argv[] = { (char *) PKTTYAGENT,
                   (char *) "--notify-fd",
                   (char *) "3",
                   (char *) "--fallback",
                   (char *) "--process",
                   self,
                   NULL };
  posix_spawn_file_actions_t actions;
  int ends[2] = { -1, -1 };
  pid_t pid = 0;
  gboolean started = FALSE;

  if (!isatty (STDIN_FILENO) || !isatty (STDOUT_FILENO) || pipe2 (ends, O_CLOEXEC) < 0)
    return NULL;
  if (posix_spawn_file_actions_init (&actions) == 0)
    {
      started = posix_spawn_file_actions_adddup2 (&actions, ends[1], READY_FD) == 0 &&
                posix_spawn_file_actions_addopen (&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
                                                  0) == 0 &&
                posix_spawn (&pid, PKTTYAGENT, &actions, NULL, argv, environ) == 0;
      posix_spawn_file_actions_destroy (&actions);
    }
  fd_clear (&ends[1]);
  if (started)
    wait_ready (ends[0]);
  fd_clear (&ends[0]);
  if (!started)
    return NULL;

  {
    Agent *agent = g_new0 (Agent, 1);

    agent->pid = pid;
    return agent;
  }
}

void
agent_stop (Agent *agent)
{
  if (agent == NULL)
    return;
  kill (agent->pid, SIGTERM);
  while (waitpid (agent->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  g_free (agent);
}
