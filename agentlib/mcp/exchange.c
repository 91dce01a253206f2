/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What goes out to the client, and the end of each exchange.  A request is answered once or, where
 * it was cancelled, never; nothing follows its answer.
 */
#include "agentlib/mcp/server-private.h"

#include "agentlib/mcp/text.h"

#include <string.h>

#define PROGRESS_MS 1000

void
server_send (Server *server, JsonTree *message)
{
  g_autoptr (JsonTree) own = message;
  g_autofree char *text = tree_text (message);
  g_autofree char *line = g_strconcat (text, "\n", NULL);

  if (!server->closing)
    output_send (server->output, line, strlen (line));
}

static JsonTree *
message_new (void)
{
  JsonTree *message = json_tree_new_object ();

  json_tree_add_string (message, "jsonrpc", "2.0");
  return message;
}

void
server_answer_error (Server *server, Batch *batch, JsonTree *id, RpcCode code, const char *text,
                     JsonTree *data)
{
  JsonTree *message = message_new ();
  JsonTree *error;

  if (id != NULL)
    json_tree_add (message, "id", id);
  error = json_tree_add (message, "error", json_tree_new_object ());
  json_tree_add (error, "code", tree_new_integer (code));
  json_tree_add_string (error, "message", text);
  if (data != NULL)
    json_tree_add (error, "data", data);
  server_answer (server, batch, message);
}

static void
exchange_end (Exchange *exchange)
{
  Server *server = exchange->server;

  if (exchange->key != NULL)
    g_hash_table_remove (server->in_flight, exchange->key);
  batch_leave (exchange->batch);
  g_clear_handle_id (&exchange->progress_id, g_source_remove);
  g_object_unref (exchange->cancellable);
  message_free (exchange->message);
  g_free (exchange->key);
  g_free (exchange);
  server->exchanges--;
  server_settle (server);
}

void
exchange_reply (Exchange *exchange, JsonTree *result)
{
  JsonTree *message = message_new ();

  if (exchange->revision >= REVISION_2026_07_28 && json_tree_member (result, "resultType") == NULL)
    json_tree_add_string (result, "resultType", "complete");
  json_tree_add (message, "id", json_tree_copy (exchange->message->id));
  json_tree_add (message, "result", result);
  if (exchange_is_cancelled (exchange))
    json_tree_free (message);
  else
    server_answer (exchange->server, exchange->batch, message);
  exchange_end (exchange);
}

void
exchange_fail (Exchange *exchange, RpcCode code, const char *text, JsonTree *data)
{
  if (exchange_is_cancelled (exchange))
    json_tree_free (data);
  else
    server_answer_error (exchange->server, exchange->batch, json_tree_copy (exchange->message->id), code,
                         text, data);
  exchange_end (exchange);
}

void
exchange_drop (Exchange *exchange)
{
  exchange_end (exchange);
}

gboolean
exchange_is_cancelled (const Exchange *exchange)
{
  return exchange->key == NULL;
}

void
exchange_cancel (Exchange *exchange)
{
  g_autofree char *key = g_steal_pointer (&exchange->key);

  g_hash_table_remove (exchange->server->in_flight, key);
  g_clear_handle_id (&exchange->progress_id, g_source_remove);
  batch_leave (g_steal_pointer (&exchange->batch));
  g_cancellable_cancel (exchange->cancellable);
}

void
exchange_notify (Exchange *exchange, const char *method, JsonTree *params)
{
  JsonTree *message = message_new ();

  json_tree_add_string (message, "method", method);
  json_tree_add (message, "params", params);
  if (exchange_is_cancelled (exchange))
    json_tree_free (message);
  else
    server_send (exchange->server, message);
}

static gboolean
on_progress (gpointer data)
{
  Exchange *exchange = data;
  JsonTree *params;

  /* Who has not read the last word of it needs no further one. */
  if (!output_is_empty (exchange->server->output))
    return G_SOURCE_CONTINUE;
  params = json_tree_new_object ();
  json_tree_add (params, "progressToken",
                 json_tree_copy (json_tree_member (meta_of (exchange->message), "progressToken")));
  json_tree_add (params, "progress", tree_new_integer (++exchange->progress));
  if (exchange->revision >= REVISION_2025_03_26)
    json_tree_add_string (params, "message", "Not decided or not finished yet.");
  exchange_notify (exchange, "notifications/progress", params);
  return G_SOURCE_CONTINUE;
}

void
exchange_progress (Exchange *exchange)
{
  const JsonTree *token = json_tree_member (meta_of (exchange->message), "progressToken");

  if (token != NULL && message_id_is_valid (token) && exchange->progress_id == 0 &&
      !exchange_is_cancelled (exchange))
    exchange->progress_id = g_timeout_add (PROGRESS_MS, on_progress, exchange);
}
