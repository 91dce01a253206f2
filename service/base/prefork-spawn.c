/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes the process of a worker: it has the descriptors that are meant for it, since all that are the
 * listener's close themselves, and the signals as a program finds them.  Called by prefork-pool.c alone.
 */
#include "service/base/prefork-spawn.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/prefork.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>

/* exec_worker: an errno. */
static int
exec_worker (const PreforkSpawn *spawn, int status_fd, pid_t *out_pid)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  int rc = 0;

  sigemptyset (&none);
  posix_spawn_file_actions_init (&actions);
  posix_spawnattr_init (&attributes);

  rc = posix_spawn_file_actions_adddup2 (&actions, spawn->listen_fd, PREFORK_FD_LISTEN);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2 (&actions, status_fd, PREFORK_FD_STATUS);
  if (rc == 0 && spawn->shared_fd >= 0)
    rc = posix_spawn_file_actions_adddup2 (&actions, spawn->shared_fd, PREFORK_FD_SHARED);
  if (rc == 0)
    rc = posix_spawnattr_setsigmask (&attributes, &none);
  if (rc == 0)
    rc = posix_spawnattr_setsigdefault (&attributes, spawn->signals);
  if (rc == 0)
    rc = posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (rc == 0)
    rc = posix_spawn (out_pid, spawn->argv[0], &actions, &attributes, (char *const *) spawn->argv,
                      environ);

  posix_spawn_file_actions_destroy (&actions);
  posix_spawnattr_destroy (&attributes);
  return rc;
}

int
prefork_spawn (const PreforkSpawn *spawn, pid_t *out_pid, GError **error)
{
  int pair[2] = { -1, -1 };
  autofd ours = -1;
  autofd theirs = -1;
  autofd high = -1;
  int rc = 0;

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                    "cannot make a status socket: %s", g_strerror (errno));
      return -1;
    }
  ours = pair[0];
  theirs = pair[1];
  high = fcntl (theirs, F_DUPFD_CLOEXEC, PREFORK_FD_PRIVATE);

  rc = high < 0 ? errno : exec_worker (spawn, high, out_pid);
  if (rc != 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot start a worker: %s",
                    g_strerror (rc));
      return -1;
    }
  return fd_steal (&ours);
}
