/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting for a request to end.  Signals only say that it is time to look again: what the waiter
 * returns was read by a call to the checked owner.  A change of the owner, a lost signal and a
 * restarted bus cost time, never an answer; giving up changes nothing.
 */
#include "agentlib/lib/undersign.h"

#include "agentlib/lib/link.h"
#include "agentlib/lib/status.h"
#include "agentlib/lib/sync.h"

#include "dbus/names.h"
#include "dbus/reason.h"

#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"

/* How far one call can outlast the wait. */
#define CALL_MS (10 * 1000)
/* Look again without a signal, in case one was lost. */
#define POLL_MS (15 * 1000)
/* While the service is away: first and longest pause, and how many are too many. */
#define RETRY_FIRST_MS 250
#define RETRY_LONGEST_MS (15 * 1000)
#define RETRIES_MAX 24

typedef struct
{
  char *request;
  UsStatus *status;            /* the latest; NULL before the first */
  GDBusConnection *connection; /* where the subscriptions are */
  char *owner;                 /* whose signals are heard */
  guint changed_id, name_id;
  GSource *pause;    /* ends the present pause */
  GSource *deadline; /* of the whole wait */
  GSource *cancelled;
  gboolean busy;     /* a call is on its way */
  gboolean again;    /* look again after it */
  gboolean watched;  /* the owner was told to send signals */
  gboolean timed_out;
  gboolean done;
  guint retries; /* in a row */
} Waiter;

static void wait_look (GTask *task);

static void
source_clear (GSource **source)
{
  if (*source != NULL)
    g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

static void
waiter_unsubscribe (Waiter *waiter)
{
  if (waiter->changed_id != 0)
    g_dbus_connection_signal_unsubscribe (waiter->connection, waiter->changed_id);
  if (waiter->name_id != 0)
    g_dbus_connection_signal_unsubscribe (waiter->connection, waiter->name_id);
  waiter->changed_id = waiter->name_id = 0;
  g_clear_object (&waiter->connection);
  g_clear_pointer (&waiter->owner, g_free);
  waiter->watched = FALSE;
}

static void
waiter_free (Waiter *waiter)
{
  g_assert (waiter->pause == NULL && waiter->deadline == NULL && waiter->cancelled == NULL);
  waiter_unsubscribe (waiter);
  g_free (waiter->request);
  g_clear_pointer (&waiter->status, us_status_unref);
  g_free (waiter);
}

/* A wait that was cancelled: its owner need not tell of the request any more, unless another one
 * wants to hear of it.  Whoever has it from a time-out is expected to ask again.  What this client sends
 * later comes later. */
static void
wait_unwatch (GTask *task, gboolean cancelled)
{
  UsClient *client = g_task_get_source_object (task);
  Waiter *waiter = g_task_get_task_data (task);
  gboolean last = link_wait_end (client, waiter->request);

  if (last && cancelled && link_owner (client) != NULL)
    g_dbus_connection_call (link_connection (client), link_owner (client), waiter->request,
                            US_INTERFACE_REQUEST, "Unwatch", NULL, NULL,
                            G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, NULL, NULL, NULL);
}

/* Ends the wait.  @error is (transfer full) (nullable): without one the latest status is returned. */
static void
wait_end (GTask *task, GError *error)
{
  Waiter *waiter = g_task_get_task_data (task);

  waiter->done = TRUE;
  source_clear (&waiter->pause);
  source_clear (&waiter->deadline);
  source_clear (&waiter->cancelled);
  waiter_unsubscribe (waiter);
  wait_unwatch (task, g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, us_status_ref (waiter->status), (GDestroyNotify) us_status_unref);
}

static GSource *
wait_source (GTask *task, GSource *source, GSourceFunc callback)
{
  g_source_set_callback (source, callback, g_object_ref (task), g_object_unref);
  g_source_attach (source, g_task_get_context (task));
  return source;
}

static gboolean
on_pause (gpointer data)
{
  GTask *task = data;
  Waiter *waiter = g_task_get_task_data (task);

  source_clear (&waiter->pause);
  wait_look (task);
  return G_SOURCE_REMOVE;
}

static void
wait_pause (GTask *task, guint milliseconds)
{
  Waiter *waiter = g_task_get_task_data (task);

  source_clear (&waiter->pause);
  waiter->pause = wait_source (task, g_timeout_source_new (milliseconds), on_pause);
}

static gboolean
on_deadline (gpointer data)
{
  g_autoptr (GTask) task = g_object_ref (data);
  Waiter *waiter = g_task_get_task_data (task);

  waiter->timed_out = TRUE;
  source_clear (&waiter->deadline);
  /* A call on its way ends the wait when its answer is there. */
  if (!waiter->busy && waiter->status != NULL)
    wait_end (task, NULL);
  return G_SOURCE_REMOVE;
}

static gboolean
on_cancelled (GCancellable *cancellable, gpointer data)
{
  g_autoptr (GTask) task = g_object_ref (data);
  Waiter *waiter = g_task_get_task_data (task);
  GError *error = NULL;

  source_clear (&waiter->cancelled);
  /* A call on its way was cancelled too, and says so. */
  if (!waiter->busy && g_cancellable_set_error_if_cancelled (cancellable, &error))
    wait_end (task, error);
  return G_SOURCE_REMOVE;
}

/* A hint: look now, or after the call on its way. */
static void
wait_hint (GTask *task)
{
  Waiter *waiter = g_task_get_task_data (task);

  if (waiter->busy)
    waiter->again = TRUE;
  else
    wait_look (task);
}

static void
on_changed (GDBusConnection *connection,
            const char *sender,
            const char *path,
            const char *interface,
            const char *signal,
            GVariant *parameters,
            gpointer data)
{
  GTask *task = data;
  Waiter *waiter = g_task_get_task_data (task);

  if (!waiter->done && g_strcmp0 (sender, waiter->owner) == 0)
    wait_hint (task);
}

static void
on_name_owner_changed (GDBusConnection *connection,
                       const char *sender,
                       const char *path,
                       const char *interface,
                       const char *signal,
                       GVariant *parameters,
                       gpointer data)
{
  GTask *task = data;
  Waiter *waiter = g_task_get_task_data (task);

  if (waiter->done)
    return;
  link_forget_owner (g_task_get_source_object (task));
  waiter->watched = FALSE;
  wait_hint (task);
}

/* Hears the owner that answered Watch(). */
static void
wait_subscribe (GTask *task)
{
  UsClient *client = g_task_get_source_object (task);
  Waiter *waiter = g_task_get_task_data (task);

  waiter_unsubscribe (waiter);
  waiter->connection = g_object_ref (link_connection (client));
  waiter->owner = g_strdup (link_owner (client));
  waiter->watched = TRUE;
  waiter->changed_id = g_dbus_connection_signal_subscribe (
      waiter->connection, waiter->owner, US_INTERFACE_REQUEST, "Changed", waiter->request, NULL,
      G_DBUS_SIGNAL_FLAGS_NONE, on_changed, g_object_ref (task), g_object_unref);
  waiter->name_id = g_dbus_connection_signal_subscribe (
      waiter->connection, BUS_NAME, BUS_NAME, "NameOwnerChanged", BUS_PATH, US_BUS_NAME,
      G_DBUS_SIGNAL_FLAGS_NONE, on_name_owner_changed, g_object_ref (task), g_object_unref);
}

/* Whether a failure can be the service's absence for a while.  One at the very start is final. */
static gboolean
wait_can_retry (Waiter *waiter, const GError *error)
{
  return waiter->status != NULL && !waiter->timed_out && waiter->retries < RETRIES_MAX &&
         us_error_has_reason (error, US_REASON_UNREACHABLE);
}

/* @error is (transfer full). */
static void
wait_failed (GTask *task, GError *error)
{
  Waiter *waiter = g_task_get_task_data (task);
  guint pause = RETRY_FIRST_MS << MIN (waiter->retries, 6);

  if (waiter->timed_out && waiter->status != NULL &&
      us_error_has_reason (error, US_REASON_UNREACHABLE))
    {
      g_error_free (error);
      wait_end (task, NULL);
    }
  else if (wait_can_retry (waiter, error))
    {
      g_error_free (error);
      waiter->retries++;
      waiter->watched = FALSE;
      wait_pause (task, MIN (pause, RETRY_LONGEST_MS));
    }
  else
    wait_end (task, error);
}

static void
wait_call (GTask *task, const char *method, const char *reply_type, GAsyncReadyCallback callback)
{
  Waiter *waiter = g_task_get_task_data (task);
  LinkMethod call = { waiter->request, US_INTERFACE_REQUEST, method, reply_type, CALL_MS };

  link_call_async (g_task_get_source_object (task), &call, NULL, NULL,
                   g_task_get_cancellable (task), callback, g_object_ref (task));
}

static void
on_state (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  Waiter *waiter = g_task_get_task_data (task);
  GError *error = NULL;
  g_autoptr (GVariant) reply = link_call_finish (US_CLIENT (source), result, &error);
  UsStatus *status = reply == NULL ? NULL : status_new (reply, &error);

  waiter->busy = FALSE;
  if (status == NULL)
    {
      wait_failed (task, error);
      return;
    }
  waiter->retries = 0;
  g_clear_pointer (&waiter->status, us_status_unref);
  waiter->status = status;
  if (us_state_has_ended (us_status_get_state (status)) || waiter->timed_out)
    wait_end (task, NULL);
  else if (waiter->again)
    wait_look (task);
  else
    wait_pause (task, POLL_MS);
}

static void
on_watched (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  Waiter *waiter = g_task_get_task_data (task);
  GError *error = NULL;
  g_autoptr (GVariant) reply = link_call_finish (US_CLIENT (source), result, &error);

  if (reply == NULL)
    {
      waiter->busy = FALSE;
      wait_failed (task, error);
      return;
    }
  wait_subscribe (task);
  wait_call (task, "GetState", "(sa{sv})", on_state);
}

/* Reads the state; tells the owner to send signals first, where that is not done. */
static void
wait_look (GTask *task)
{
  UsClient *client = g_task_get_source_object (task);
  Waiter *waiter = g_task_get_task_data (task);

  source_clear (&waiter->pause);
  waiter->busy = TRUE;
  waiter->again = FALSE;
  if (waiter->watched && link_connection (client) == waiter->connection &&
      g_strcmp0 (link_owner (client), waiter->owner) == 0)
    wait_call (task, "GetState", "(sa{sv})", on_state);
  else
    wait_call (task, "Watch", "()", on_watched);
}

void
us_client_wait_async (UsClient *client,
                      const char *request,
                      int timeout_ms,
                      GCancellable *cancellable,
                      GAsyncReadyCallback callback,
                      gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  Waiter *waiter;

  g_return_if_fail (US_IS_CLIENT (client) && g_variant_is_object_path (request));
  task = g_task_new (client, cancellable, callback, user_data);
  g_task_set_source_tag (task, us_client_wait_async);
  waiter = g_new0 (Waiter, 1);
  waiter->request = g_strdup (request);
  link_wait_begin (client, request);
  g_task_set_task_data (task, waiter, (GDestroyNotify) waiter_free);
  if (timeout_ms >= 0)
    waiter->deadline = wait_source (task, g_timeout_source_new ((guint) timeout_ms), on_deadline);
  if (cancellable != NULL)
    waiter->cancelled = wait_source (task, g_cancellable_source_new (cancellable),
                                     G_SOURCE_FUNC (on_cancelled));
  wait_look (task);
}

UsStatus *
us_client_wait_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, client), NULL);
  return g_task_propagate_pointer (G_TASK (result), error);
}

UsStatus *
us_client_wait (UsClient *client,
                const char *request,
                int timeout_ms,
                GCancellable *cancellable,
                GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client) && g_variant_is_object_path (request), NULL);
  us_client_wait_async (client, request, timeout_ms, cancellable, sync_done, sync_begin (&sync));
  return us_client_wait_finish (client, sync_wait (&sync), error);
}
