/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests as tasks, in the two shapes that the protocol has had.  A task is a request by another
 * name: its id is the request's, and nothing of it is kept here but when this process first met it.
 * There is no list of tasks.
 */
#include "agentlib/mcp/call.h"

#include "agentlib/mcp/handlers.h"
#include "agentlib/mcp/hold.h"
#include "agentlib/mcp/result.h"
#include "agentlib/mcp/text.h"

#include "dbus/reason.h"

#define POLL_MS 2000

typedef struct
{
  Exchange *exchange;
  char *path;
} Asking;

static gboolean
is_modern (const Exchange *exchange)
{
  return exchange->revision >= REVISION_2026_07_28;
}

static const char *
status_word (Revision revision, UsState state)
{
  if (!us_state_has_ended (state))
    return "working";
  if (state == US_STATE_WITHDRAWN)
    return "cancelled";
  return state_is_good (state) || revision >= REVISION_2026_07_28 ? "completed" : "failed";
}

static void
add_time (JsonTree *task, const char *name, gint64 when)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (when);
  g_autofree char *text = g_date_time_format (time, "%Y-%m-%dT%H:%M:%SZ");

  json_tree_add_string (task, name, text);
}

/* Adds the members of a task to @object. */
static void
add_task (JsonTree *object, Exchange *exchange, const char *path, const UsStatus *status)
{
  gboolean modern = is_modern (exchange);
  gint64 now = g_get_real_time () / G_USEC_PER_SEC;

  json_tree_add_string (object, "taskId", request_id (path));
  json_tree_add_string (object, "status",
                        status_word (exchange->revision, us_status_get_state (status)));
  add_time (object, "createdAt", hold_since (server_holds (exchange->server), path));
  add_time (object, "lastUpdatedAt", now);
  json_tree_add (object, modern ? "ttlMs" : "ttl", json_tree_new_null ());
  json_tree_add (object, modern ? "pollIntervalMs" : "pollInterval", tree_new_integer (POLL_MS));
}

void
task_reply (Exchange *exchange, const char *path, const UsStatus *status)
{
  JsonTree *result = json_tree_new_object ();

  if (is_modern (exchange))
    {
      json_tree_add_string (result, "resultType", "task");
      add_task (result, exchange, path, status);
    }
  else
    add_task (json_tree_add (result, "task", json_tree_new_object ()), exchange, path, status);
  exchange_reply (exchange, result);
}

JsonTree *
task_tree (Exchange *exchange, const char *path, const UsStatus *status)
{
  UsState state = us_status_get_state (status);
  JsonTree *task = json_tree_new_object ();

  add_task (task, exchange, path, status);
  if (is_modern (exchange) && us_state_has_ended (state) && state != US_STATE_WITHDRAWN)
    json_tree_add (task, "result", result_of_status (exchange->revision, path, status));
  return task;
}

gboolean
task_is_declared (Exchange *exchange)
{
  JsonTree *data, *extensions;

  if (!is_modern (exchange) || exchange->tasks)
    return TRUE;
  data = json_tree_new_object ();
  extensions = json_tree_add (json_tree_add (data, "requiredCapabilities", json_tree_new_object ()),
                              "extensions", json_tree_new_object ());
  json_tree_add (extensions, EXTENSION_TASKS, json_tree_new_object ());
  exchange_fail (exchange, RPC_MISSING_CAPABILITY,
                 "the client does not declare the extension of tasks", data);
  return FALSE;
}

static void
asking_free (Asking *asking)
{
  g_free (asking->path);
  g_free (asking);
}

static void
asking_fail (Asking *asking, const GError *error)
{
  gboolean ours = g_error_matches (error, US_ERROR, US_ERROR_NOT_FOUND) ||
                  g_error_matches (error, US_ERROR, US_ERROR_WRONG_STATE);

  exchange_fail (asking->exchange, ours ? RPC_INVALID_PARAMS : RPC_INTERNAL, error->message, NULL);
  asking_free (asking);
}

/* The task that is meant; NULL where the request was answered with why not. */
static Asking *
asking_new (Exchange *exchange)
{
  g_autofree char *path = request_path (json_tree_get_string (exchange->message->params, "taskId"));
  Asking *asking;

  if (!task_is_declared (exchange))
    return NULL;
  if (path == NULL)
    {
      exchange_fail (exchange, RPC_INVALID_PARAMS, "there is no such task", NULL);
      return NULL;
    }
  asking = g_new0 (Asking, 1);
  asking->exchange = exchange;
  asking->path = g_steal_pointer (&path);
  hold_deliver (server_holds (exchange->server), asking->path);
  return asking;
}

static void
on_state (GObject *source, GAsyncResult *result, gpointer data)
{
  Asking *asking = data;
  Exchange *exchange = asking->exchange;
  g_autoptr (GError) error = NULL;
  g_autoptr (UsStatus) status = us_client_get_state_finish (US_CLIENT (source), result, &error);

  if (status == NULL)
    {
      asking_fail (asking, error);
      return;
    }
  exchange_reply (exchange, task_tree (exchange, asking->path, status));
  asking_free (asking);
}

void
handle_task_get (Exchange *exchange)
{
  Asking *asking = asking_new (exchange);

  if (asking != NULL)
    us_client_get_state_async (server_client (exchange->server), asking->path,
                               exchange->cancellable, on_state, asking);
}

static void
on_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  Asking *asking = data;
  Exchange *exchange = asking->exchange;
  g_autoptr (GError) error = NULL;
  g_autoptr (UsStatus) status = us_client_wait_finish (US_CLIENT (source), result, &error);

  if (status == NULL)
    {
      asking_fail (asking, error);
      return;
    }
  exchange_reply (exchange, result_for_task (exchange->revision, asking->path, status));
  asking_free (asking);
}

void
handle_task_result (Exchange *exchange)
{
  Asking *asking = asking_new (exchange);

  if (asking == NULL)
    return;
  exchange_progress (exchange);
  us_client_wait_async (server_client (exchange->server), asking->path, -1, exchange->cancellable,
                        on_ended, asking);
}

static void
on_withdrawn (GObject *source, GAsyncResult *result, gpointer data)
{
  Asking *asking = data;
  Exchange *exchange = asking->exchange;
  g_autoptr (GError) error = NULL;
  gboolean withdrawn = us_client_withdraw_finish (US_CLIENT (source), result, &error);

  /* In 2026 it is only asked for; whether it came in time, tasks/get tells. */
  if (is_modern (exchange) && (withdrawn || us_error_has_reason (error, US_REASON_TOO_LATE)))
    exchange_reply (exchange, json_tree_new_object ());
  else if (withdrawn)
    {
      us_client_get_state_async (US_CLIENT (source), asking->path, exchange->cancellable, on_state,
                                 asking);
      return;
    }
  else
    {
      asking_fail (asking, error);
      return;
    }
  asking_free (asking);
}

void
handle_task_cancel (Exchange *exchange)
{
  Asking *asking = asking_new (exchange);

  if (asking != NULL)
    us_client_withdraw_async (server_client (exchange->server), asking->path, exchange->cancellable,
                              on_withdrawn, asking);
}

/* Nothing that a client says can change a request. */
void
handle_task_update (Exchange *exchange)
{
  Asking *asking = asking_new (exchange);

  if (asking == NULL)
    return;
  exchange_reply (exchange, json_tree_new_object ());
  asking_free (asking);
}
