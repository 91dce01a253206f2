/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The listener of a prefork service.  It holds the listening socket and starts workers with
 * posix_spawn; it accepts only to refuse, where no worker can be started, and on a second socket to
 * have told what is known of the workers; it never reads a connection and never learns a secret.  All
 * state is in one loop: signals come by signalfd, words of the workers by their status sockets, and
 * after every wake-up each worker is asked for with waitpid, so a merged SIGCHLD loses nothing.
 */
#include "service/base/prefork.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/listen.h"
#include "service/base/memfd.h"
#include "service/base/prefork-refuse.h"
#include "service/base/prefork-status.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define DELAY_FIRST_MS 100
#define DELAY_MAX_MS 30000
#define START_SECONDS 20    /* to become ready, and to retire; less than callers on the bus wait */
#define FAILURES_MAX 2      /* in a row, until callers are refused */
#define PAUSE_MS 10         /* after a connection, until one that can wait is started */
#define FIRST_PRIVATE_FD 10 /* above the descriptors of a worker, so that none is overwritten */

typedef enum
{
  WORKER_STARTING,
  WORKER_READY,
  WORKER_RETIRING, /* told to end without accepting; may have accepted just before */
  WORKER_BUSY,
} WorkerState;

typedef struct
{
  pid_t pid;
  int status_fd;
  WorkerState state;
  gint64 kill_at; /* monotonic milliseconds; 0 for never */
  gboolean wants_reload;
  gboolean impaired;
} Worker;

typedef struct
{
  const PreforkConfig *config;
  int listen_fd;
  int tell_fd; /* -1 where there is no second socket */
  int signal_fd;
  sigset_t signals; /* those that signal_fd takes */
  int shared_fd;
  int lease_fd; /* of shared_fd: gone before anything newer is served */
  GPtrArray *workers;
  guint failures;    /* starts in a row that led to no connection */
  gint64 not_before; /* monotonic milliseconds: no start earlier */
  gint64 pause_until; /* and none earlier that can wait */
  gboolean refusing; /* where none is ready, and until one gets ready */
  gboolean known;    /* a worker has been ready since the idle ones were last replaced */
  gboolean impaired; /* and the last of them said so */
  gboolean ending;
} Listener;

static gint64
now_ms (void)
{
  return g_get_monotonic_time () / 1000;
}

static gint64
start_deadline (const Listener *listener)
{
  guint seconds = listener->config->start_seconds;

  return now_ms () + (gint64) (seconds != 0 ? seconds : START_SECONDS) * 1000;
}

static void
worker_free (gpointer data)
{
  Worker *worker = data;

  fd_clear (&worker->status_fd);
  g_free (worker);
}

static void
listener_clear (Listener *listener)
{
  g_clear_pointer (&listener->workers, g_ptr_array_unref);
  fd_clear (&listener->lease_fd);
  fd_clear (&listener->shared_fd);
  fd_clear (&listener->signal_fd);
  fd_clear (&listener->tell_fd);
  fd_clear (&listener->listen_fd);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Listener, listener_clear)

static gboolean
signals_take (Listener *listener, GError **error)
{
  sigemptyset (&listener->signals);
  sigaddset (&listener->signals, SIGCHLD);
  sigaddset (&listener->signals, SIGHUP);
  sigaddset (&listener->signals, SIGINT);
  sigaddset (&listener->signals, SIGTERM);

  if (sigprocmask (SIG_BLOCK, &listener->signals, NULL) == 0)
    listener->signal_fd = signalfd (-1, &listener->signals, SFD_CLOEXEC | SFD_NONBLOCK);
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
  if (!tells)
    return TRUE;
  listener->tell_fd = fcntl (LISTEN_FD + 1, F_DUPFD_CLOEXEC, FIRST_PRIVATE_FD);
  if (listener->tell_fd < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "cannot keep the second socket: %s", g_strerror (errno));
  close (LISTEN_FD + 1);
  return TRUE;
}

/* --- starting --- */

/* shared_lease: without a lease whoever has been sent the descriptor takes it for replaced. */
static gboolean
shared_lease (Listener *listener, GError **error)
{
  autofd fd = memfd_lease (listener->shared_fd, error);

  if (fd < 0)
    return FALSE;
  listener->lease_fd = fcntl (fd, F_DUPFD_CLOEXEC, FIRST_PRIVATE_FD);
  return listener->lease_fd >= 0 ||
         us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot keep a lease: %s",
                       g_strerror (errno));
}

static gboolean
shared_ensure (Listener *listener, GError **error)
{
  autofd fd = -1;

  if (listener->config->make_shared == NULL || listener->shared_fd >= 0)
    return TRUE;

  fd = listener->config->make_shared (listener->config->data, error);
  if (fd < 0)
    return FALSE;
  listener->shared_fd = fcntl (fd, F_DUPFD_CLOEXEC, FIRST_PRIVATE_FD);
  if (listener->shared_fd < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "cannot keep the shared descriptor: %s", g_strerror (errno));
  if (shared_lease (listener, error))
    return TRUE;
  fd_clear (&listener->shared_fd);
  return FALSE;
}

/* worker_exec: an errno. */
static int
worker_exec (const Listener *listener, int status_fd, pid_t *out_pid)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  int rc = 0;

  sigemptyset (&none);
  posix_spawn_file_actions_init (&actions);
  posix_spawnattr_init (&attributes);

  rc = posix_spawn_file_actions_adddup2 (&actions, listener->listen_fd, PREFORK_FD_LISTEN);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2 (&actions, status_fd, PREFORK_FD_STATUS);
  if (rc == 0 && listener->shared_fd >= 0)
    rc = posix_spawn_file_actions_adddup2 (&actions, listener->shared_fd, PREFORK_FD_SHARED);
  if (rc == 0)
    rc = posix_spawnattr_setsigmask (&attributes, &none);
  if (rc == 0)
    rc = posix_spawnattr_setsigdefault (&attributes, &listener->signals);
  if (rc == 0)
    rc = posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (rc == 0)
    rc = posix_spawn (out_pid, listener->config->argv[0], &actions, &attributes,
                      (char *const *) listener->config->argv, environ);

  posix_spawn_file_actions_destroy (&actions);
  posix_spawnattr_destroy (&attributes);
  return rc;
}

static gboolean
worker_start (Listener *listener, GError **error)
{
  int pair[2] = { -1, -1 };
  autofd ours = -1;
  autofd theirs = -1;
  autofd high = -1;
  Worker *worker = NULL;
  pid_t pid = -1;
  int rc = 0;

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "cannot make a status socket: %s", g_strerror (errno));
  ours = pair[0];
  theirs = pair[1];
  high = fcntl (theirs, F_DUPFD_CLOEXEC, FIRST_PRIVATE_FD);

  rc = high < 0 ? errno : worker_exec (listener, high, &pid);
  if (rc != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "cannot start a worker: %s", g_strerror (rc));

  worker = g_new0 (Worker, 1);
  *worker = (Worker){ .pid = pid,
                      .status_fd = fd_steal (&ours),
                      .state = WORKER_STARTING,
                      .kill_at = start_deadline (listener) };
  g_ptr_array_add (listener->workers, worker);
  return TRUE;
}

/*
 * The delay doubles with each failure in a row: a worker that can't live must not burn the CPU.  One
 * may be an accident, and the next worker is soon there; after more, who calls is told rather than
 * left to wait.
 */
static void
listener_note_failure (Listener *listener)
{
  guint doublings = MIN (listener->failures, 16);

  listener->failures++;
  listener->refusing = listener->failures >= FAILURES_MAX;
  listener->not_before = now_ms () + MIN (DELAY_FIRST_MS << doublings, DELAY_MAX_MS);
}

static guint
listener_count (const Listener *listener, WorkerState state)
{
  guint n = 0;

  for (guint i = 0; i < listener->workers->len; i++)
    n += ((const Worker *) g_ptr_array_index (listener->workers, i))->state == state;
  return n;
}

/* somebody_waits: has called, and no worker has accepted yet. */
static gboolean
somebody_waits (const Listener *listener)
{
  struct pollfd polled = { .fd = listener->listen_fd, .events = POLLIN };

  return poll (&polled, 1, 0) > 0;
}

/*
 * listener_next_start: when the next worker is to be started, G_MAXINT64 for never.  While one is
 * idle, or busy and nobody waits, the next can wait: it would take its time from the one that has
 * just been called.  For the same reason they are started one after the other, unless none is left
 * and somebody waits.
 */
static gint64
listener_next_start (const Listener *listener)
{
  guint wanted = MAX (listener->config->ready_workers, 1);
  guint idle = listener_count (listener, WORKER_READY);
  guint starting = listener_count (listener, WORKER_STARTING);

  if (listener->ending || listener->workers->len >= listener->config->max_workers ||
      idle + starting >= wanted)
    return G_MAXINT64;
  if (starting > 0 && (idle > 0 || listener->failures > 0 || !somebody_waits (listener)))
    return G_MAXINT64;
  if (idle == 0 && (listener_count (listener, WORKER_BUSY) == 0 || somebody_waits (listener)))
    return listener->not_before;
  return MAX (listener->not_before, listener->pause_until);
}

/* Whether who calls ends the pause: there is nobody else to be called. */
static gboolean
listener_pauses (const Listener *listener)
{
  gint64 next = listener_next_start (listener);

  return listener_count (listener, WORKER_READY) == 0 && next == listener->pause_until &&
         next > now_ms ();
}

static void
listener_start_worker (Listener *listener)
{
  g_autoptr (GError) error = NULL;

  if (now_ms () < listener_next_start (listener))
    return;
  if (!shared_ensure (listener, &error) || !worker_start (listener, &error))
    {
      g_warning ("no worker is ready: %s", error != NULL ? error->message : "no reason given");
      listener_note_failure (listener);
    }
}

/* --- words between listener and worker --- */

static void
worker_tell (Worker *worker, char word)
{
  /* One byte in an empty buffer does not block; a worker that is gone is found by waitpid. */
  if (worker->status_fd >= 0)
    (void) !send (worker->status_fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void
listener_retire_idle (Listener *listener)
{
  listener->known = FALSE;
  for (guint i = 0; i < listener->workers->len; i++)
    {
      Worker *worker = g_ptr_array_index (listener->workers, i);

      if (worker->state != WORKER_STARTING && worker->state != WORKER_READY)
        continue;
      worker->state = WORKER_RETIRING;
      worker->kill_at = start_deadline (listener);
      worker_tell (worker, STATUS_RETIRE);
    }
}

/* listener_end: no more workers; those that serve are told as well, for they may be the last. */
static void
listener_end (Listener *listener)
{
  listener->ending = TRUE;
  /* What is asked from now on is for the next listener, which may have other data. */
  fd_clear (&listener->lease_fd);
  for (guint i = 0; i < listener->workers->len; i++)
    {
      Worker *worker = g_ptr_array_index (listener->workers, i);

      if (worker->state == WORKER_BUSY)
        worker_tell (worker, STATUS_RETIRE);
    }
  listener_retire_idle (listener);
}

static void
listener_reload (Listener *listener)
{
  g_autoptr (GError) error = NULL;

  if (listener->ending)
    return;
  /* The older descriptor goes first: while no new one can be made, nothing is served. */
  fd_clear (&listener->lease_fd);
  fd_clear (&listener->shared_fd);
  listener_retire_idle (listener);
  if (!shared_ensure (listener, &error))
    {
      g_warning ("the reload failed: %s", error != NULL ? error->message : "no reason given");
      listener_note_failure (listener);
      return;
    }
  listener->not_before = 0;
}

static void
worker_take_word (Listener *listener, Worker *worker, char word)
{
  switch (word)
    {
    case STATUS_IMPAIRED:
      worker->impaired = TRUE;
      break;

    case STATUS_READY:
      if (worker->state == WORKER_STARTING)
        {
          worker->state = WORKER_READY;
          worker->kill_at = 0;
          listener->refusing = FALSE;
          listener->known = TRUE;
          listener->impaired = worker->impaired;
        }
      break;

    case STATUS_ACCEPTED:
      worker->state = WORKER_BUSY;
      worker->kill_at = 0;
      listener->failures = 0;
      listener->refusing = FALSE;
      listener->not_before = 0;
      listener->pause_until = now_ms () + PAUSE_MS;
      break;

    case STATUS_RELOAD:
      if (worker->state != WORKER_BUSY)
        break;
      worker->wants_reload = TRUE;
      listener_reload (listener);
      break;

    default:
      g_warning ("worker %d sent an unknown word", worker->pid);
      break;
    }
}

static void
worker_read (Listener *listener, Worker *worker)
{
  char words[8];

  while (worker->status_fd >= 0)
    {
      ssize_t n = recv (worker->status_fd, words, sizeof words, MSG_DONTWAIT);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && errno == EAGAIN)
        return;
      if (n <= 0)
        {
          fd_clear (&worker->status_fd);
          return;
        }
      for (ssize_t i = 0; i < n; i++)
        worker_take_word (listener, worker, words[i]);
    }
}

/* A reload is confirmed once no worker with the older descriptor can accept any more. */
static void
listener_confirm_reload (Listener *listener)
{
  gboolean made = listener->config->make_shared == NULL || listener->shared_fd >= 0;

  for (guint i = 0; i < listener->workers->len; i++)
    if (((Worker *) g_ptr_array_index (listener->workers, i))->state == WORKER_RETIRING)
      return;

  for (guint i = 0; i < listener->workers->len; i++)
    {
      Worker *worker = g_ptr_array_index (listener->workers, i);

      if (worker->wants_reload)
        worker_tell (worker, made ? STATUS_RELOADED : STATUS_RELOAD_FAILED);
      worker->wants_reload = FALSE;
    }
}

/* --- ending --- */

static void
worker_log_end (const Worker *worker, int status)
{
  const char *when = worker->state == WORKER_BUSY ? "while it served" : "before it served";

  if (WIFSIGNALED (status))
    g_warning ("worker %d was ended by signal %d %s", worker->pid, WTERMSIG (status), when);
  else if (WIFEXITED (status) && WEXITSTATUS (status) != 0)
    g_warning ("worker %d ended with status %d %s", worker->pid, WEXITSTATUS (status), when);
}

static void
listener_reap (Listener *listener)
{
  for (guint i = listener->workers->len; i-- > 0;)
    {
      Worker *worker = g_ptr_array_index (listener->workers, i);
      int status = 0;

      if (waitpid (worker->pid, &status, WNOHANG) != worker->pid)
        continue;
      /* What it said last decides whether it ended early. */
      worker_read (listener, worker);
      worker_log_end (worker, status);
      if (worker->state == WORKER_STARTING || worker->state == WORKER_READY)
        listener_note_failure (listener);
      g_ptr_array_remove_index (listener->workers, i);
    }
}

static void
listener_kill_stuck (Listener *listener)
{
  gint64 now = now_ms ();

  for (guint i = 0; i < listener->workers->len; i++)
    {
      Worker *worker = g_ptr_array_index (listener->workers, i);

      if (worker->kill_at == 0 || now < worker->kill_at)
        continue;
      g_warning ("worker %d neither becomes ready nor ends: killed", worker->pid);
      kill (worker->pid, SIGKILL);
      worker->kill_at = 0;
      /* Who calls has waited for long; another start may take as long. */
      if (worker->state == WORKER_STARTING)
        listener->failures = MAX (listener->failures, FAILURES_MAX - 1);
    }
}

/* At a stop those who wait are the next listener's. */
static gboolean
listener_refuses (const Listener *listener)
{
  return listener->refusing && !listener->ending && listener_count (listener, WORKER_READY) == 0;
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
      listener->refusing = FALSE;
    }
}

/* --- telling --- */

/* Who asks while nothing is known waits: a new worker will say. */
static gboolean
listener_tells (const Listener *listener)
{
  return listener->tell_fd >= 0 && !listener->ending &&
         (listener->known || listener_refuses (listener));
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
          listener->known = errno == EAGAIN;
          break;
        }
      listener->config->tell (sock, listener->impaired, listener->config->data);
      told = TRUE;
    }
  /* What was wrong may be mended by now: the next worker will see. */
  if (told && listener->impaired)
    listener_retire_idle (listener);
}

/* --- the loop --- */

static int
listener_timeout (const Listener *listener)
{
  gint64 next = listener_next_start (listener);

  for (guint i = 0; i < listener->workers->len; i++)
    {
      const Worker *worker = g_ptr_array_index (listener->workers, i);

      if (worker->kill_at != 0)
        next = MIN (next, worker->kill_at);
    }
  if (next == G_MAXINT64)
    return -1;
  return (int) CLAMP (next - now_ms (), 0, DELAY_MAX_MS);
}

static void
listener_wait (Listener *listener)
{
  guint n = listener->workers->len + 3;
  g_autofree struct pollfd *polled = g_new0 (struct pollfd, n);
  gboolean looks = listener_refuses (listener) || listener_pauses (listener);

  polled[0] = (struct pollfd){ .fd = listener->signal_fd, .events = POLLIN };
  polled[1] = (struct pollfd){ .fd = looks ? listener->listen_fd : -1, .events = POLLIN };
  polled[2] = (struct pollfd){ .fd = listener_tells (listener) ? listener->tell_fd : -1,
                               .events = POLLIN };
  for (guint i = 0; i < listener->workers->len; i++)
    {
      const Worker *worker = g_ptr_array_index (listener->workers, i);

      /* poll() skips a negative descriptor. */
      polled[3 + i] = (struct pollfd){ .fd = worker->status_fd, .events = POLLIN };
    }
  (void) poll (polled, n, listener_timeout (listener));
}

static void
listener_take_signals (Listener *listener)
{
  struct signalfd_siginfo info;

  while (read (listener->signal_fd, &info, sizeof info) == (ssize_t) sizeof info)
    switch (info.ssi_signo)
      {
      case SIGHUP:
        listener_reload (listener);
        break;

      case SIGINT:
      case SIGTERM:
        listener_end (listener);
        break;

      default: /* SIGCHLD: listener_reap() asks for each worker */
        break;
      }
}

int
prefork_run (const PreforkConfig *config)
{
  g_autoptr (GError) error = NULL;
  g_auto (Listener)
      listener = { .config = config, .listen_fd = -1, .signal_fd = -1, .shared_fd = -1,
                   .lease_fd = -1 };

  g_return_val_if_fail (config->argv[0] != NULL && config->argv[0][0] == '/', EXIT_FAILURE);
  g_return_val_if_fail (config->max_workers > 0, EXIT_FAILURE);

  listener.tell_fd = -1;
  listener.workers = g_ptr_array_new_with_free_func (worker_free);
  if (!sockets_take (&listener, &error) || !signals_take (&listener, &error))
    {
      g_warning ("cannot listen: %s", error->message);
      return EXIT_FAILURE;
    }

  while (!listener.ending || listener.workers->len > 0)
    {
      listener_start_worker (&listener);
      listener_wait (&listener);
      listener_take_signals (&listener);
      for (guint i = 0; i < listener.workers->len; i++)
        worker_read (&listener, g_ptr_array_index (listener.workers, i));
      listener_reap (&listener);
      listener_kill_stuck (&listener);
      listener_confirm_reload (&listener);
      listener_refuse (&listener);
      listener_tell (&listener);
    }
  return EXIT_SUCCESS;
}
