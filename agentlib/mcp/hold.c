/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The count of who waits, and the one rule for what may be taken back.  It asks nobody and sends
 * nothing.  What is remembered of a request goes when it can't be pending any more, so that a
 * process that runs for months does not grow.
 */
#include "agentlib/mcp/hold.h"

/* No request lives for longer than a day. */
#define KEEP_US (25 * 60 * 60 * (gint64) G_USEC_PER_SEC)
#define SWEEP_US (60 * (gint64) G_USEC_PER_SEC)

typedef struct
{
  guint waiters;
  gint64 since;       /* seconds of the epoch: when this process met it first */
  gint64 joined;      /* the latest, monotonic */
  gboolean delivered; /* its id was given to the client */
} Hold;

typedef struct
{
  char *action;
  void (*back) (gpointer data);
  gpointer data;
} Deferred;

struct Holds
{
  GHashTable *requests;   /* path → Hold */
  GHashTable *submitting; /* action → how many */
  GPtrArray *deferred;    /* Deferred */
  gint64 swept;
  gboolean closing;
};

static void
deferred_free (gpointer data)
{
  Deferred *deferred = data;

  g_free (deferred->action);
  g_free (deferred);
}

Holds *
holds_new (void)
{
  Holds *holds = g_new0 (Holds, 1);

  holds->requests = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  holds->submitting = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  holds->deferred = g_ptr_array_new_with_free_func (deferred_free);
  return holds;
}

void
holds_free (Holds *holds)
{
  if (holds == NULL)
    return;
  g_hash_table_unref (holds->requests);
  g_hash_table_unref (holds->submitting);
  g_ptr_array_unref (holds->deferred);
  g_free (holds);
}

static gboolean
is_old (gpointer path, gpointer value, gpointer data)
{
  const Hold *hold = value;

  return hold->waiters == 0 && *(const gint64 *) data - hold->joined > KEEP_US;
}

static void
holds_sweep (Holds *holds, gint64 now)
{
  if (now - holds->swept < SWEEP_US)
    return;
  holds->swept = now;
  g_hash_table_foreach_remove (holds->requests, is_old, &now);
}

void
hold_join (Holds *holds, const char *path)
{
  gint64 now = g_get_monotonic_time ();
  Hold *hold = g_hash_table_lookup (holds->requests, path);

  if (hold == NULL)
    {
      holds_sweep (holds, now);
      hold = g_new0 (Hold, 1);
      hold->since = g_get_real_time () / G_USEC_PER_SEC;
      g_hash_table_insert (holds->requests, g_strdup (path), hold);
    }
  hold->joined = now;
  hold->waiters++;
}

void
hold_deliver (Holds *holds, const char *path)
{
  Hold *hold = g_hash_table_lookup (holds->requests, path);

  if (hold != NULL)
    hold->delivered = TRUE;
}

gboolean
hold_leave (Holds *holds, const char *path, HoldEnd end)
{
  Hold *hold = g_hash_table_lookup (holds->requests, path);
  gboolean last;

  g_assert (hold != NULL && hold->waiters > 0);
  hold->waiters--;
  hold->delivered = hold->delivered || end == HOLD_PENDING;
  last = hold->waiters == 0 && !hold->delivered;
  if (last || (hold->waiters == 0 && end == HOLD_ENDED))
    g_hash_table_remove (holds->requests, path);
  return last && end == HOLD_GAVE_UP;
}

gboolean
hold_may_leave (Holds *holds, const char *path)
{
  const Hold *hold = g_hash_table_lookup (holds->requests, path);

  return hold == NULL || (hold->waiters == 0 && !hold->delivered);
}

gint64
hold_since (Holds *holds, const char *path)
{
  const Hold *hold = g_hash_table_lookup (holds->requests, path);

  return hold != NULL ? hold->since : g_get_real_time () / G_USEC_PER_SEC;
}

guint
holds_size (const Holds *holds)
{
  return g_hash_table_size (holds->requests);
}

/* --- what is being submitted --- */

static void
holds_run (Holds *holds)
{
  for (guint i = 0; i < holds->deferred->len;)
    {
      Deferred *deferred = holds->deferred->pdata[i];

      if (!holds->closing && g_hash_table_contains (holds->submitting, deferred->action))
        {
          i++;
          continue;
        }
      g_ptr_array_steal_index (holds->deferred, i);
      deferred->back (deferred->data);
      deferred_free (deferred);
      i = 0;
    }
}

void
hold_submit_begin (Holds *holds, const char *action)
{
  guint count = GPOINTER_TO_UINT (g_hash_table_lookup (holds->submitting, action));

  g_hash_table_replace (holds->submitting, g_strdup (action), GUINT_TO_POINTER (count + 1));
}

void
hold_submit_end (Holds *holds, const char *action)
{
  guint count = GPOINTER_TO_UINT (g_hash_table_lookup (holds->submitting, action));

  g_assert (count > 0);
  if (count > 1)
    g_hash_table_replace (holds->submitting, g_strdup (action), GUINT_TO_POINTER (count - 1));
  else
    {
      g_hash_table_remove (holds->submitting, action);
      holds_run (holds);
    }
}

void
hold_when_submitted (Holds *holds, const char *action, void (*back) (gpointer data), gpointer data)
{
  Deferred *deferred = g_new0 (Deferred, 1);

  deferred->action = g_strdup (action);
  deferred->back = back;
  deferred->data = data;
  g_ptr_array_add (holds->deferred, deferred);
  holds_run (holds);
}

void
holds_close (Holds *holds)
{
  holds->closing = TRUE;
  holds_run (holds);
}
