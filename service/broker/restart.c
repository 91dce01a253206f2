/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * After a restart: every request that had not ended is read back, and the ledger is asked what became
 * of it, before anything else.  What is not readable is refused, what the disk did not give or keep is
 * taken up later; nothing is ever denied or run by a restart.
 */
#include "service/broker/restart.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/broker/close.h"
#include "service/broker/hand-over.h"

#define RESUME_RETRY 600 /* seconds */

static void resume_left (gpointer data);

/* Somebody may repair the disk, or it was full of something else. */
static void
resume_later (Broker *broker)
{
  if (broker->resume_timer == NULL)
    broker->resume_timer = expiry_add_seconds (broker->expiry, RESUME_RETRY, resume_left, broker);
}

/* resume_one: FALSE where the disk would not have it now. */
static gboolean
resume_one (Broker *broker, const char *id)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Request) request =
      queue_load (broker->queue, id, &broker->request_hooks, &error);

  /* A disk that fails now says nothing of the request. */
  if (us_error_has_reason (error, US_REASON_UNREACHABLE))
    {
      g_warning ("request %s has to wait: %s", id, error->message);
      return FALSE;
    }
  if (request == NULL || request_state_has_ended (request->state))
    {
      g_warning ("request %s is refused: %s", id,
                 error != NULL ? error->message : "its row contradicts itself");
      return queue_refuse_unreadable (broker->queue, id);
    }
  request->files = files_stored (broker->spool, request->id);
  limits_take (broker->limits, request->uid, request->files->bytes);
  broker_add_request (broker, request);
  hand_over_settle (broker, request);
  return TRUE;
}

/* resume: takes up what is not taken up yet; @keep gets the ids of all that have not ended. */
static gboolean
resume (Broker *broker, GHashTable *keep, GError **error)
{
  g_auto (GStrv) ids = queue_live (broker->queue, error);
  gboolean all = TRUE;

  if (ids == NULL)
    return FALSE;
  for (guint i = 0; ids[i] != NULL; i++)
    {
      if (!g_hash_table_contains (broker->requests, ids[i]))
        all = resume_one (broker, ids[i]) && all;
      g_hash_table_add (keep, g_strdup (ids[i]));
    }
  if (!all)
    resume_later (broker);
  return TRUE;
}

static void
resume_left (gpointer data)
{
  Broker *broker = data;
  g_autoptr (GHashTable) keep = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GError) error = NULL;

  broker->resume_timer = NULL;
  if (resume (broker, keep, &error))
    return;
  g_warning ("%s", error->message);
  resume_later (broker);
}

gboolean
restart_resume (Broker *broker, GError **error)
{
  g_autoptr (GHashTable) keep = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  if (!resume (broker, keep, error))
    return FALSE;
  files_sweep (broker->spool, keep);
  close_due (broker);
  g_message ("%u requests go on", g_hash_table_size (broker->requests));
  return TRUE;
}
