/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One timerfd and a sorted sequence.  Only the broker's main loop may call it.  It must never call
 * back from within expiry_add(), nor call a timer that was cancelled, not even by an earlier
 * callback of the same turn.
 */
#include "service/broker/expiry.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/fd.h"

#include <glib-unix.h>
#include <sys/timerfd.h>

struct Expiry
{
  int fd;
  guint source;
  GSequence *timers; /* (element-type ExpiryTimer), the next one first */
};

struct ExpiryTimer
{
  guint64 due;
  ExpiryCallback callback;
  gpointer data;
  GSequenceIter *place;
};

static int
compare_due (gconstpointer a, gconstpointer b, gpointer data)
{
  guint64 due_a = ((const ExpiryTimer *) a)->due;
  guint64 due_b = ((const ExpiryTimer *) b)->due;

  return due_a < due_b ? -1 : due_a > due_b;
}

static const ExpiryTimer *
expiry_first (Expiry *expiry)
{
  GSequenceIter *begin = g_sequence_get_begin_iter (expiry->timers);

  return g_sequence_iter_is_end (begin) ? NULL : g_sequence_get (begin);
}

static void
expiry_arm (Expiry *expiry)
{
  const ExpiryTimer *first = expiry_first (expiry);
  struct itimerspec when = { 0 };

  if (first != NULL)
    {
      when.it_value.tv_sec = (time_t) (first->due / G_USEC_PER_SEC);
      when.it_value.tv_nsec = (long) (first->due % G_USEC_PER_SEC) * 1000;
    }
  if (timerfd_settime (expiry->fd, TFD_TIMER_ABSTIME, &when, NULL) < 0)
    g_error ("cannot set a timer: %s", g_strerror (errno));
}

static gboolean
expiry_fire (int fd, GIOCondition condition, gpointer data)
{
  Expiry *expiry = data;
  guint64 now = clock_boottime ();
  guint64 ticks = 0;
  const ExpiryTimer *first = NULL;

  /* EAGAIN is an armed timer that another turn has served. */
  if (read (fd, &ticks, sizeof ticks) < 0 && errno != EAGAIN)
    g_error ("cannot read a timer: %s", g_strerror (errno));

  while ((first = expiry_first (expiry)) != NULL && first->due <= now)
    {
      ExpiryCallback callback = first->callback;
      gpointer callback_data = first->data;

      g_sequence_remove (first->place);
      callback (callback_data);
    }
  expiry_arm (expiry);
  return G_SOURCE_CONTINUE;
}

Expiry *
expiry_new (GError **error)
{
  Expiry *expiry = NULL;
  autofd fd = timerfd_create (CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);

  if (fd < 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot make a timer: %s",
                    g_strerror (errno));
      return NULL;
    }

  expiry = g_new0 (Expiry, 1);
  expiry->fd = fd_steal (&fd);
  expiry->timers = g_sequence_new (g_free);
  expiry->source = g_unix_fd_add (expiry->fd, G_IO_IN, expiry_fire, expiry);
  return expiry;
}

void
expiry_free (Expiry *expiry)
{
  if (expiry == NULL)
    return;
  g_source_remove (expiry->source);
  g_sequence_free (expiry->timers);
  fd_clear (&expiry->fd);
  g_free (expiry);
}

ExpiryTimer *
expiry_add (Expiry *expiry, guint64 due, ExpiryCallback callback, gpointer data)
{
  ExpiryTimer *timer = g_new0 (ExpiryTimer, 1);

  /* Later than the turn that is going on, which a timer that renews itself must not prolong. */
  timer->due = MAX (due, clock_boottime () + 1);
  timer->callback = callback;
  timer->data = data;
  timer->place = g_sequence_insert_sorted (expiry->timers, timer, compare_due, NULL);
  if (expiry_first (expiry) == timer)
    expiry_arm (expiry);
  return timer;
}

ExpiryTimer *
expiry_add_seconds (Expiry *expiry, guint seconds, ExpiryCallback callback, gpointer data)
{
  return expiry_add (expiry, clock_boottime () + seconds * (guint64) G_USEC_PER_SEC, callback,
                     data);
}

void
expiry_cancel (Expiry *expiry, ExpiryTimer *timer)
{
  g_sequence_remove (timer->place);
  expiry_arm (expiry);
}

guint
expiry_count (const Expiry *expiry)
{
  return (guint) g_sequence_get_length (expiry->timers);
}
