/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The listener of a prefork service: its sockets, its signals, and the one loop that has all state.
 * The workers of prefork-pool.c take the connections; it accepts only to refuse, where no worker can be
 * started, and on a second socket to have told what is known of the workers; it never reads a
 * connection and never learns a secret.
 */
#include "service/base/prefork.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/listen.h"
#include "service/base/prefork-pool.h"
#include "service/base/prefork-refuse.h"
#include "service/base/prefork-spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

typedef struct
{
  const PreforkConfig *config;
  int listen_fd;
  int tell_fd; /* -1 where there is no second socket */
  int signal_fd;
  Pool pool;
} Listener;

static void
listener_clear (Listener *listener)
{
  pool_clear (&listener->pool);
  fd_clear (&listener->signal_fd);
  fd_clear (&listener->tell_fd);
  fd_clear (&listener->listen_fd);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Listener, listener_clear)

static gboolean
signals_take (Listener *listener, GError **error)
{
  sigset_t *signals = &listener->pool.signals;

  sigemptyset (signals);
  sigaddset (signals, SIGCHLD);
  sigaddset (signals, SIGHUP);
  sigaddset (signals, SIGINT);
  sigaddset (signals, SIGTERM);

  if (sigprocmask (SIG_BLOCK, signals, NULL) == 0)
    listener->signal_fd = signalfd (-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (listener->signal_fd < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot take signals: %s",
                         g_strerror (errno));
  return TRUE;
}

/* sockets_take: the second one makes way for the descriptors of a worker. */
static gboolean
sockets_take (Listener *listener, GError **error)
{
  gboolean tells = listener->config->tell != NULL;

  if (!listen_fds_take (tells ? 2 : 1, error))
    return FALSE;
  listener->listen_fd = LISTEN_FD;
  listener->pool.listen_fd = LISTEN_FD;
  if (!tells)
    return TRUE;
  listener->tell_fd = fcntl (LISTEN_FD + 1, F_DUPFD_CLOEXEC, PREFORK_FD_PRIVATE);
  if (listener->tell_fd < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "cannot keep the second socket: %s", g_strerror (errno));
  close (LISTEN_FD + 1);
  return TRUE;
}

/* --- refusing --- */

/* At a stop those who wait are the next listener's. */
static gboolean
listener_refuses (const Listener *listener)
{
  return listener->pool.refusing && !listener->pool.ending && !pool_is_ready (&listener->pool);
}

static void
listener_refuse (Listener *listener)
{
  g_autoptr (GError) error = NULL;

  if (!listener_refuses (listener))
    return;
  if (!prefork_refuse (listener->listen_fd, &error))
    {
      /* Not again and again: until the next failure. */
      g_warning ("%s", error->message);
      listener->pool.refusing = FALSE;
    }
}

/* --- telling --- */

/* Who asks while nothing is known waits: a new worker will say. */
static gboolean
listener_tells (const Listener *listener)
{
  return listener->tell_fd >= 0 && !listener->pool.ending &&
         (listener->pool.known || listener_refuses (listener));
}

/* listener_tell: every connection that waits, so many at most: see PREFORK_REFUSE_MAX. */
static void
listener_tell (Listener *listener)
{
  gboolean told = FALSE;

  if (!listener_tells (listener))
    return;
  if (listener_refuses (listener))
    {
      (void) prefork_refuse (listener->tell_fd, NULL);
      return;
    }
  for (guint i = 0; i < PREFORK_REFUSE_MAX; i++)
    {
      autofd sock = accept4 (listener->tell_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

      if (sock < 0 && (errno == EINTR || errno == ECONNABORTED))
        continue;
      if (sock < 0)
        {
          /* Not again and again: until the next worker. */
          listener->pool.known = errno == EAGAIN;
          break;
        }
      listener->config->tell (sock, listener->pool.impaired, listener->config->data);
      told = TRUE;
    }
  /* What was wrong may be mended by now: the next worker will see. */
  if (told && listener->pool.impaired)
    pool_retire_idle (&listener->pool);
}

/* --- the loop --- */

static void
listener_wait (Listener *listener)
{
  guint n = listener->pool.workers->len + 3;
  g_autofree struct pollfd *polled = g_new0 (struct pollfd, n);
  gboolean looks = listener_refuses (listener) || pool_pauses (&listener->pool);

  polled[0] = (struct pollfd){ .fd = listener->signal_fd, .events = POLLIN };
  polled[1] = (struct pollfd){ .fd = looks ? listener->listen_fd : -1, .events = POLLIN };
  polled[2] = (struct pollfd){ .fd = listener_tells (listener) ? listener->tell_fd : -1,
                               .events = POLLIN };
  pool_poll (&listener->pool, polled + 3);
  (void) poll (polled, n, pool_timeout (&listener->pool));
}

static void
listener_take_signals (Listener *listener)
{
  struct signalfd_siginfo info;

  while (read (listener->signal_fd, &info, sizeof info) == (ssize_t) sizeof info)
    switch (info.ssi_signo)
      {
      case SIGHUP:
        pool_reload (&listener->pool);
        break;

      case SIGINT:
      case SIGTERM:
        pool_end (&listener->pool);
        break;

      default: /* SIGCHLD: pool_reap() asks for each worker */
        break;
      }
}

int
prefork_run (const PreforkConfig *config)
{
  g_autoptr (GError) error = NULL;
  g_auto (Listener)
      listener = { .config = config, .listen_fd = -1, .tell_fd = -1, .signal_fd = -1 };

  pool_init (&listener.pool, config);
  g_return_val_if_fail (config->argv[0] != NULL && config->argv[0][0] == '/', EXIT_FAILURE);
  g_return_val_if_fail (config->max_workers > 0, EXIT_FAILURE);

  if (!sockets_take (&listener, &error) || !signals_take (&listener, &error))
    {
      g_warning ("cannot listen: %s", error->message);
      return EXIT_FAILURE;
    }

  while (!listener.pool.ending || listener.pool.workers->len > 0)
    {
      pool_start_worker (&listener.pool);
      listener_wait (&listener);
      listener_take_signals (&listener);
      pool_read (&listener.pool);
      pool_reap (&listener.pool);
      pool_kill_stuck (&listener.pool);
      pool_confirm_reload (&listener.pool);
      listener_refuse (&listener);
      listener_tell (&listener);
    }
  return EXIT_SUCCESS;
}
