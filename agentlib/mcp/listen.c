/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * subscriptions/listen: tells the client how its tasks end, so that it need not poll.  What a
 * notification says was read from the service then; whose a task is, the service decides, and one
 * that it does not know is left out.  The stream ends with its last task, or when the client
 * cancels it.
 */
#include "agentlib/mcp/call.h"

#include "agentlib/mcp/handlers.h"
#include "agentlib/mcp/hold.h"
#include "agentlib/mcp/result.h"

#define TASKS_MAX 64 /* of one stream */

typedef struct
{
  Exchange *exchange;
  GPtrArray *paths;    /* of the tasks that are asked for */
  GPtrArray *statuses; /* of each; NULL for one that is none of the caller's */
  guint waiting;       /* for so many to end */
  GError *fault;
  GSource *cancelled;
} Listening;

static void listening_look (Listening *listening);

static void
status_clear (gpointer status)
{
  us_status_unref (status);
}

static void
listening_free (Listening *listening)
{
  if (listening->cancelled != NULL)
    g_source_destroy (listening->cancelled);
  g_clear_pointer (&listening->cancelled, g_source_unref);
  g_ptr_array_unref (listening->paths);
  g_ptr_array_unref (listening->statuses);
  g_clear_error (&listening->fault);
  g_free (listening);
}

/* The id of the stream, in the _meta of all that belongs to it. */
static void
add_subscription (Listening *listening, JsonTree *object)
{
  json_tree_add (json_tree_add (object, "_meta", json_tree_new_object ()),
                 META_MCP "subscriptionId", json_tree_copy (listening->exchange->message->id));
}

/* Nothing more will come. */
static void
listening_end (Listening *listening)
{
  Exchange *exchange = listening->exchange;
  JsonTree *result;

  if (exchange_is_cancelled (exchange))
    exchange_drop (exchange);
  else if (listening->fault != NULL)
    exchange_fail (exchange, RPC_INTERNAL, listening->fault->message, NULL);
  else
    {
      result = json_tree_new_object ();
      add_subscription (listening, result);
      exchange_reply (exchange, result);
    }
  listening_free (listening);
}

static void
listening_tell (Listening *listening, const char *path, const UsStatus *status)
{
  JsonTree *params = task_tree (listening->exchange, path, status);

  add_subscription (listening, params);
  exchange_notify (listening->exchange, "notifications/tasks", params);
}

/* --- the end of each --- */

typedef struct
{
  Listening *listening;
  guint index;
} One;

static void
on_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree One *one = data;
  Listening *listening = one->listening;
  g_autoptr (GError) error = NULL;
  g_autoptr (UsStatus) status = us_client_wait_finish (US_CLIENT (source), result, &error);

  listening->waiting--;
  if (status != NULL)
    listening_tell (listening, listening->paths->pdata[one->index], status);
  else if (!exchange_is_cancelled (listening->exchange) && listening->fault == NULL)
    {
      listening->fault = g_steal_pointer (&error);
      g_cancellable_cancel (listening->exchange->cancellable);
    }
  if (listening->waiting == 0)
    listening_end (listening);
}

static gboolean
on_cancelled (GCancellable *cancellable, gpointer data)
{
  listening_end (data);
  return G_SOURCE_REMOVE;
}

/* Of what nothing is to be told: it is open until it is cancelled. */
static void
listening_idle (Listening *listening)
{
  listening->cancelled = g_cancellable_source_new (listening->exchange->cancellable);
  g_source_set_callback (listening->cancelled, G_SOURCE_FUNC (on_cancelled), listening, NULL);
  g_source_attach (listening->cancelled, NULL);
}

static void
listening_wait (Listening *listening)
{
  Exchange *exchange = listening->exchange;
  guint tasks = 0;

  for (guint i = 0; i < listening->paths->len; i++)
    {
      const UsStatus *status = listening->statuses->pdata[i];
      One *one;

      if (status == NULL)
        continue;
      tasks++;
      if (us_state_has_ended (us_status_get_state (status)))
        {
          listening_tell (listening, listening->paths->pdata[i], status);
          continue;
        }
      one = g_new0 (One, 1);
      one->listening = listening;
      one->index = i;
      listening->waiting++;
      us_client_wait_async (server_client (exchange->server), listening->paths->pdata[i], -1,
                            exchange->cancellable, on_ended, one);
    }
  if (tasks == 0)
    listening_idle (listening);
  else if (listening->waiting == 0)
    listening_end (listening);
}

/* --- which they are --- */

static void
listening_acknowledge (Listening *listening)
{
  JsonTree *params = json_tree_new_object ();
  JsonTree *accepted = json_tree_add (params, "notifications", json_tree_new_object ());
  JsonTree *ids = NULL;

  for (guint i = 0; i < listening->paths->len; i++)
    if (listening->statuses->pdata[i] != NULL)
      {
        if (ids == NULL)
          ids = json_tree_add (accepted, "taskIds", json_tree_new_array ());
        json_tree_append_string (ids, request_id (listening->paths->pdata[i]));
      }
  add_subscription (listening, params);
  exchange_notify (listening->exchange, "notifications/subscriptions/acknowledged", params);
}

static void
on_state (GObject *source, GAsyncResult *result, gpointer data)
{
  Listening *listening = data;
  UsStatus *status = us_client_get_state_finish (US_CLIENT (source), result, &listening->fault);

  if (g_error_matches (listening->fault, US_ERROR, US_ERROR_NOT_FOUND))
    g_clear_error (&listening->fault);
  if (listening->fault != NULL)
    {
      listening_end (listening);
      return;
    }
  if (status != NULL)
    hold_deliver (server_holds (listening->exchange->server),
                  listening->paths->pdata[listening->statuses->len]);
  g_ptr_array_add (listening->statuses, status);
  listening_look (listening);
}

static void
listening_look (Listening *listening)
{
  Exchange *exchange = listening->exchange;
  guint next = listening->statuses->len;

  if (next < listening->paths->len)
    us_client_get_state_async (server_client (exchange->server), listening->paths->pdata[next],
                               exchange->cancellable, on_state, listening);
  else
    {
      listening_acknowledge (listening);
      listening_wait (listening);
    }
}

/* FALSE where it is no list of texts.  What is no id is left out, as is one that came before. */
static gboolean
read_ids (const JsonTree *ids, GPtrArray *paths)
{
  if (json_tree_kind (ids) != JSON_TREE_ARRAY)
    return FALSE;
  for (guint i = 0; i < json_tree_length (ids); i++)
    {
      const char *id = json_tree_string (json_tree_item (ids, i));
      g_autofree char *path = request_path (id);

      if (id == NULL)
        return FALSE;
      if (path != NULL && paths->len < TASKS_MAX &&
          !g_ptr_array_find_with_equal_func (paths, path, g_str_equal, NULL))
        g_ptr_array_add (paths, g_steal_pointer (&path));
    }
  return TRUE;
}

void
handle_listen (Exchange *exchange)
{
  const JsonTree *wanted = json_tree_member (exchange->message->params, "notifications");
  const JsonTree *ids = json_tree_member (wanted, "taskIds");
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  Listening *listening;

  if (json_tree_kind (wanted) != JSON_TREE_OBJECT || (ids != NULL && !read_ids (ids, paths)))
    {
      exchange_fail (exchange, RPC_INVALID_PARAMS, "notifications does not say what to tell of",
                     NULL);
      return;
    }
  if (ids != NULL && !task_is_declared (exchange))
    return;
  listening = g_new0 (Listening, 1);
  listening->exchange = exchange;
  listening->paths = g_steal_pointer (&paths);
  listening->statuses = g_ptr_array_new_with_free_func (status_clear);
  listening_look (listening);
}
