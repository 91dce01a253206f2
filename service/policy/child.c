/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asks one yes-or-no question in a child process.  Used for lookups that a dead directory can hold
 * for minutes.  The child keeps no descriptor of ours, so that it cannot hold a lock, and dies with
 * us; only its exit status comes back, and only one status means yes.
 */
#include "service/policy/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_YES 17

static void
answer (gboolean (*question) (const void *data), const void *data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (close_range (STDERR_FILENO + 1, ~0U, 0) < 0)
    _exit (EXIT_FAILURE);
  _exit (question (data) ? STATUS_YES : EXIT_FAILURE);
}

/* Waits until the child ends or is late, and then kills it. */
static void
end_in_time (pid_t child, int timeout_ms)
{
  gint64 deadline = g_get_monotonic_time () + (gint64) timeout_ms * 1000;
  struct pollfd wait = { .fd = pidfd_open (child, 0), .events = POLLIN };
  gint64 left;
  int rc = 0;

  if (wait.fd >= 0)
    {
      do
        {
          left = (deadline - g_get_monotonic_time ()) / 1000;
          rc = poll (&wait, 1, (int) MAX (left, 0));
        }
      while (rc < 0 && errno == EINTR);
      close (wait.fd);
    }
  if (rc != 1)
    kill (child, SIGKILL);
}

gboolean
child_says_yes (gboolean (*question) (const void *data), const void *data, int timeout_ms)
{
  pid_t child = fork ();
  int status = 0;

  if (child < 0)
    return FALSE;
  if (child == 0)
    answer (question, data);
  end_in_time (child, timeout_ms);
  while (waitpid (child, &status, 0) < 0)
    if (errno != EINTR)
      return FALSE;
  return WIFEXITED (status) && WEXITSTATUS (status) == STATUS_YES;
}
