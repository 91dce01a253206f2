/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The workers of a listener: keeps enough of them ready, hears their words, and ends those that are not
 * to be called any more.  Called by prefork.c alone, whose loop asks for each worker with waitpid after
 * every wake-up, so a merged SIGCHLD loses nothing; it never touches a connection.
 */
#include "service/base/prefork-pool.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/base/prefork-spawn.h"
#include "service/base/prefork-status.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define DELAY_FIRST_MS 100
#define DELAY_MAX_MS 30000
#define START_SECONDS 20 /* to become ready, and to retire; less than callers on the bus wait */
#define FAILURES_MAX 2   /* in a row, until callers are refused */
#define PAUSE_MS 10      /* after a connection, until one that can wait is started */

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

static gint64
now_ms (void)
{
  return g_get_monotonic_time () / 1000;
}

static gint64
start_deadline (const Pool *pool)
{
  guint seconds = pool->config->start_seconds;

  return now_ms () + (gint64) (seconds != 0 ? seconds : START_SECONDS) * 1000;
}

static void
worker_free (gpointer data)
{
  Worker *worker = data;

  fd_clear (&worker->status_fd);
  g_free (worker);
}

void
pool_init (Pool *pool, const PreforkConfig *config)
{
  *pool = (Pool){ .config = config, .listen_fd = -1, .shared_fd = -1, .lease_fd = -1 };
  pool->workers = g_ptr_array_new_with_free_func (worker_free);
}

void
pool_clear (Pool *pool)
{
  g_clear_pointer (&pool->workers, g_ptr_array_unref);
  fd_clear (&pool->lease_fd);
  fd_clear (&pool->shared_fd);
}

/* --- starting --- */

/* shared_lease: without a lease whoever has been sent the descriptor takes it for replaced. */
static gboolean
shared_lease (Pool *pool, GError **error)
{
  autofd fd = memfd_lease (pool->shared_fd, error);

  if (fd < 0)
    return FALSE;
  pool->lease_fd = fcntl (fd, F_DUPFD_CLOEXEC, PREFORK_FD_PRIVATE);
  return pool->lease_fd >= 0 ||
         us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot keep a lease: %s",
                       g_strerror (errno));
}

static gboolean
shared_ensure (Pool *pool, GError **error)
{
  autofd fd = -1;

  if (pool->config->make_shared == NULL || pool->shared_fd >= 0)
    return TRUE;

  fd = pool->config->make_shared (pool->config->data, error);
  if (fd < 0)
    return FALSE;
  pool->shared_fd = fcntl (fd, F_DUPFD_CLOEXEC, PREFORK_FD_PRIVATE);
  if (pool->shared_fd < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "cannot keep the shared descriptor: %s", g_strerror (errno));
  if (shared_lease (pool, error))
    return TRUE;
  fd_clear (&pool->shared_fd);
  return FALSE;
}

static gboolean
worker_start (Pool *pool, GError **error)
{
  const PreforkSpawn spawn = { pool->config->argv, pool->listen_fd, pool->shared_fd, &pool->signals };
  Worker *worker = NULL;
  pid_t pid = -1;
  int status_fd = prefork_spawn (&spawn, &pid, error);

  if (status_fd < 0)
    return FALSE;
  worker = g_new0 (Worker, 1);
  *worker = (Worker){ .pid = pid,
                      .status_fd = status_fd,
                      .state = WORKER_STARTING,
                      .kill_at = start_deadline (pool) };
  g_ptr_array_add (pool->workers, worker);
  return TRUE;
}

/*
 * The delay doubles with each failure in a row: a worker that can't live must not burn the CPU.  One
 * may be an accident, and the next worker is soon there; after more, who calls is told rather than
 * left to wait.
 */
static void
pool_note_failure (Pool *pool)
{
  guint doublings = MIN (pool->failures, 16);

  pool->failures++;
  pool->refusing = pool->failures >= FAILURES_MAX;
  pool->not_before = now_ms () + MIN (DELAY_FIRST_MS << doublings, DELAY_MAX_MS);
}

static guint
pool_count (const Pool *pool, WorkerState state)
{
  guint n = 0;

  for (guint i = 0; i < pool->workers->len; i++)
    n += ((const Worker *) g_ptr_array_index (pool->workers, i))->state == state;
  return n;
}

/* somebody_waits: has called, and no worker has accepted yet. */
static gboolean
somebody_waits (const Pool *pool)
{
  struct pollfd polled = { .fd = pool->listen_fd, .events = POLLIN };

  return poll (&polled, 1, 0) > 0;
}

/*
 * pool_next_start: when the next worker is to be started, G_MAXINT64 for never.  While one is
 * idle, or busy and nobody waits, the next can wait: it would take its time from the one that has
 * just been called.  For the same reason they are started one after the other, unless none is left
 * and somebody waits.
 */
static gint64
pool_next_start (const Pool *pool)
{
  guint wanted = MAX (pool->config->ready_workers, 1);
  guint idle = pool_count (pool, WORKER_READY);
  guint starting = pool_count (pool, WORKER_STARTING);

  if (pool->ending || pool->workers->len >= pool->config->max_workers ||
      idle + starting >= wanted)
    return G_MAXINT64;
  if (starting > 0 && (idle > 0 || pool->failures > 0 || !somebody_waits (pool)))
    return G_MAXINT64;
  if (idle == 0 && (pool_count (pool, WORKER_BUSY) == 0 || somebody_waits (pool)))
    return pool->not_before;
  return MAX (pool->not_before, pool->pause_until);
}

gboolean
pool_is_ready (const Pool *pool)
{
  return pool_count (pool, WORKER_READY) > 0;
}

gboolean
pool_pauses (const Pool *pool)
{
  gint64 next = pool_next_start (pool);

  return !pool_is_ready (pool) && next == pool->pause_until &&
         next > now_ms ();
}

void
pool_start_worker (Pool *pool)
{
  g_autoptr (GError) error = NULL;

  if (now_ms () < pool_next_start (pool))
    return;
  if (!shared_ensure (pool, &error) || !worker_start (pool, &error))
    {
      g_warning ("no worker is ready: %s", error != NULL ? error->message : "no reason given");
      pool_note_failure (pool);
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

void
pool_retire_idle (Pool *pool)
{
  pool->known = FALSE;
  for (guint i = 0; i < pool->workers->len; i++)
    {
      Worker *worker = g_ptr_array_index (pool->workers, i);

      if (worker->state != WORKER_STARTING && worker->state != WORKER_READY)
        continue;
      worker->state = WORKER_RETIRING;
      worker->kill_at = start_deadline (pool);
      worker_tell (worker, STATUS_RETIRE);
    }
}

void
pool_end (Pool *pool)
{
  pool->ending = TRUE;
  /* What is asked from now on is for the next listener, which may have other data. */
  fd_clear (&pool->lease_fd);
  for (guint i = 0; i < pool->workers->len; i++)
    {
      Worker *worker = g_ptr_array_index (pool->workers, i);

      if (worker->state == WORKER_BUSY)
        worker_tell (worker, STATUS_RETIRE);
    }
  pool_retire_idle (pool);
}

void
pool_reload (Pool *pool)
{
  g_autoptr (GError) error = NULL;

  if (pool->ending)
    return;
  /* The older descriptor goes first: while no new one can be made, nothing is served. */
  fd_clear (&pool->lease_fd);
  fd_clear (&pool->shared_fd);
  pool_retire_idle (pool);
  if (!shared_ensure (pool, &error))
    {
      g_warning ("the reload failed: %s", error != NULL ? error->message : "no reason given");
      pool_note_failure (pool);
      return;
    }
  pool->not_before = 0;
}

static void
worker_take_word (Pool *pool, Worker *worker, char word)
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
          pool->refusing = FALSE;
          pool->known = TRUE;
          pool->impaired = worker->impaired;
        }
      break;

    case STATUS_ACCEPTED:
      worker->state = WORKER_BUSY;
      worker->kill_at = 0;
      pool->failures = 0;
      pool->refusing = FALSE;
      pool->not_before = 0;
      pool->pause_until = now_ms () + PAUSE_MS;
      break;

    case STATUS_RELOAD:
      if (worker->state != WORKER_BUSY)
        break;
      worker->wants_reload = TRUE;
      pool_reload (pool);
      break;

    default:
      g_warning ("worker %d sent an unknown word", worker->pid);
      break;
    }
}

static void
worker_read (Pool *pool, Worker *worker)
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
        worker_take_word (pool, worker, words[i]);
    }
}

void
pool_read (Pool *pool)
{
  for (guint i = 0; i < pool->workers->len; i++)
    worker_read (pool, g_ptr_array_index (pool->workers, i));
}

/* A reload is confirmed once no worker with the older descriptor can accept any more. */
void
pool_confirm_reload (Pool *pool)
{
  gboolean made = pool->config->make_shared == NULL || pool->shared_fd >= 0;

  for (guint i = 0; i < pool->workers->len; i++)
    if (((Worker *) g_ptr_array_index (pool->workers, i))->state == WORKER_RETIRING)
      return;

  for (guint i = 0; i < pool->workers->len; i++)
    {
      Worker *worker = g_ptr_array_index (pool->workers, i);

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

void
pool_reap (Pool *pool)
{
  for (guint i = pool->workers->len; i-- > 0;)
    {
      Worker *worker = g_ptr_array_index (pool->workers, i);
      int status = 0;

      if (waitpid (worker->pid, &status, WNOHANG) != worker->pid)
        continue;
      /* What it said last decides whether it ended early. */
      worker_read (pool, worker);
      worker_log_end (worker, status);
      if (worker->state == WORKER_STARTING || worker->state == WORKER_READY)
        pool_note_failure (pool);
      g_ptr_array_remove_index (pool->workers, i);
    }
}

void
pool_kill_stuck (Pool *pool)
{
  gint64 now = now_ms ();

  for (guint i = 0; i < pool->workers->len; i++)
    {
      Worker *worker = g_ptr_array_index (pool->workers, i);

      if (worker->kill_at == 0 || now < worker->kill_at)
        continue;
      g_warning ("worker %d neither becomes ready nor ends: killed", worker->pid);
      kill (worker->pid, SIGKILL);
      worker->kill_at = 0;
      /* Who calls has waited for long; another start may take as long. */
      if (worker->state == WORKER_STARTING)
        pool->failures = MAX (pool->failures, FAILURES_MAX - 1);
    }
}

/* --- for the loop --- */

int
pool_timeout (const Pool *pool)
{
  gint64 next = pool_next_start (pool);

  for (guint i = 0; i < pool->workers->len; i++)
    {
      const Worker *worker = g_ptr_array_index (pool->workers, i);

      if (worker->kill_at != 0)
        next = MIN (next, worker->kill_at);
    }
  if (next == G_MAXINT64)
    return -1;
  return (int) CLAMP (next - now_ms (), 0, DELAY_MAX_MS);
}

void
pool_poll (const Pool *pool, struct pollfd *polled)
{
  for (guint i = 0; i < pool->workers->len; i++)
    {
      const Worker *worker = g_ptr_array_index (pool->workers, i);

      /* poll() skips a negative descriptor. */
      polled[i] = (struct pollfd){ .fd = worker->status_fd, .events = POLLIN };
    }
}
