/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * After a restart: every request that had not ended is read back, its files are loaded, and the
 * ledger is asked what became of it.  A pending one is then prepared anew under its id and says so
 * on its card.  What is not readable is refused, what the disk did not give is taken up later;
 * nothing is ever denied or run by a restart.
 */
#include "service/broker/life.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"
#include "service/broker/prepare.h"

#include <string.h>

#define PREPARE_RETRY 30 /* seconds */
#define RESUME_RETRY 600

static void
end_as (Request *request, RequestState state, const char *reason)
{
  RequestChange change = { .reason = reason };
  g_autoptr (GError) error = NULL;

  if (!request_move (request, state, &change, &error))
    g_warning ("request %s: %s", request->id, error->message);
}

static void
refuse (Request *request, const char *reason)
{
  end_as (request, REQUEST_REFUSED, reason);
}

/* --- preparing anew --- */

static void
prepare_due (gpointer data)
{
  Request *request = data;

  request->retry_timer = NULL;
  restart_prepare (broker_of (request), request);
}

/* What passes, so that a pending request waits for it: the part is away, policy is being repaired,
 * an administrator halted everything. */
static gboolean
error_passes (const GError *error)
{
  return executor_error_is_silence (error) || error->code == US_ERROR_POLICY_INVALID ||
         error->code == US_ERROR_HALTED;
}

static gboolean
is_file (const char *type)
{
  return strcmp (type, "file") == 0 || strcmp (type, "file-list") == 0;
}

/* The copies on disk are the files that the first record named. */
static gboolean
same_files (const Record *older, const Record *newer)
{
  const JsonTree *arguments = json_tree_member (record_tree (older), "arguments");

  for (guint i = 0; i < json_tree_length (arguments); i++)
    {
      const JsonTree *argument = json_tree_item (arguments, i);
      const char *type = json_tree_get_string (argument, "type");
      const char *name = json_tree_get_string (argument, "name");

      if (is_file (type) && !json_tree_equal (json_tree_member (argument, "value"),
                                              record_argument (newer, name, NULL)))
        return FALSE;
    }
  return TRUE;
}

static void
take_prepared (Broker *broker, Request *request, const Handover *reply)
{
  g_autoptr (GVariant) raw = request_raw (request);
  g_autoptr (Record) older = record_ref (request->record);
  g_autoptr (GError) error = NULL;
  gboolean asks = FALSE;

  if (!prepare_take (request, raw, reply, &asks, &error))
    refuse (request, error->message);
  else if (!asks)
    refuse (request, US_REASON_RECORD_CHANGED ": it would no longer be asked about: submit it anew");
  else if (!same_files (older, request->record))
    refuse (request, US_REASON_RECORD_CHANGED ": the copy of a file is not what was submitted");
  else
    {
      request->again = TRUE;
      request->answers = 0;
      g_array_set_size (request->answered, 0);
      g_ptr_array_set_size (request->statements, 0);
      if (!request_persist (request, &error))
        g_warning ("request %s: %s", request->id, error->message);
      life_begin (broker, request);
    }
}

static void
prepared (const Handover *reply, const GError *error, gpointer data)
{
  g_autoptr (Request) request = data;
  Broker *broker = broker_of (request);

  request->is_handed = FALSE;
  if (request->state != REQUEST_PENDING)
    return;
  if (error == NULL)
    take_prepared (broker, request, reply);
  else if (error->code == US_ERROR_NO_APPROVER)
    end_as (request, REQUEST_UNREACHABLE, "");
  else if (!error_passes (error))
    refuse (request, error->message);
  else if (request->retry_timer == NULL)
    {
      request->retry_timer =
          expiry_add_seconds (broker->expiry, PREPARE_RETRY, prepare_due, request);
      cards_settled (broker);
    }
}

void
restart_prepare (Broker *broker, Request *request)
{
  g_autoptr (GVariant) raw = request_raw (request);
  gint64 expires = 0;

  /* The old deadline may lie in another boot; what is left of it is told by the wall clock. */
  if (!clock_parse (request->expires, &expires) || expires <= clock_wall ())
    {
      end_as (request, REQUEST_EXPIRED, "");
      return;
    }
  if (request->is_handed)
    return;
  request->is_handed = TRUE;
  prepare_send (broker->executor, broker->catalog, raw, request->files, prepared,
                request_ref (request));
}

/* --- reading back --- */

static void resume_left (gpointer data);

/* Somebody may repair the disk, or it was full of something else. */
static void
resume_later (Broker *broker)
{
  if (broker->resume_timer == NULL)
    broker->resume_timer = expiry_add_seconds (broker->expiry, RESUME_RETRY, resume_left, broker);
}

static void
files_loaded (const FilesDone *done, const GError *error, gpointer data)
{
  g_autoptr (Request) request = data;
  Broker *broker = broker_of (request);

  if (request_state_has_ended (request->state))
    {
      /* Withdrawn or denied meanwhile, when nobody knew of its files yet. */
      files_drop (broker->spool, request->id);
      return;
    }
  if (done == NULL)
    g_warning ("request %s: %s", request->id, error->message);
  /* Without its files one that waits would be refused, for another reason than there is. */
  if (done == NULL && request->state != REQUEST_EXECUTING)
    {
      g_hash_table_remove (broker->requests, request->id);
      resume_later (broker);
      return;
    }
  request->files = done != NULL ? files_ref (done->files) : files_new_steal (NULL, NULL);
  limits_take (broker->limits, request->uid, request->files->bytes);
  hand_over_settle (broker, request);
}

/* resume_one: FALSE where it could not be read now. */
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
      queue_refuse_unreadable (broker->queue, id);
      return TRUE;
    }
  broker_add_request (broker, request);
  files_load (request->uid, broker->spool, request->id, files_count (broker->spool, request->id),
              files_loaded, request_ref (request));
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
  life_close_due (broker);
  g_message ("%u requests go on", g_hash_table_size (broker->requests));
  return TRUE;
}
