/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes messages from the client and gives each to its handler; many can be on their way at once.
 * Only requests are ever acted on: a tool called without an id is not called.  At the end of the
 * input what still waits is cancelled, and given a moment to withdraw what it must; a client that
 * does not read is left in the same way.
 */
#include "agentlib/mcp/server-private.h"

#include "agentlib/mcp/handlers.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define PIECE (64 * 1024)

static const struct
{
  const char *name;
  Revision first, last;
  void (*handle) (Exchange *exchange);
} methods[] = {
  { "initialize", REVISION_2024_11_05, REVISION_LAST_LEGACY, handle_initialize },
  { "ping", REVISION_2024_11_05, REVISION_LAST_LEGACY, handle_ping },
  { "server/discover", REVISION_2026_07_28, REVISION_2026_07_28, handle_discover },
  { "tools/list", REVISION_2024_11_05, REVISION_2026_07_28, handle_tools_list },
  { "tools/call", REVISION_2024_11_05, REVISION_2026_07_28, handle_tools_call },
  { "tasks/get", REVISION_2025_11_25, REVISION_2026_07_28, handle_task_get },
  { "tasks/result", REVISION_2025_11_25, REVISION_2025_11_25, handle_task_result },
  { "tasks/cancel", REVISION_2025_11_25, REVISION_2026_07_28, handle_task_cancel },
  { "tasks/update", REVISION_2026_07_28, REVISION_2026_07_28, handle_task_update },
  { "subscriptions/listen", REVISION_2026_07_28, REVISION_2026_07_28, handle_listen },
};

UsClient *
server_client (Server *server)
{
  return server->client;
}

const Options *
server_options (Server *server)
{
  return server->options;
}

Holds *
server_holds (Server *server)
{
  return server->holds;
}

void
server_initialize (Server *server, Revision revision)
{
  server->era = (Era){ TRUE, revision };
}

/* --- what comes in --- */

static void
take_notification (Server *server, const Message *message)
{
  const JsonTree *id = json_tree_member (message->params, "requestId");
  g_autofree char *key = NULL;
  Exchange *exchange;

  if (strcmp (message->method, "notifications/cancelled") != 0 || id == NULL ||
      !message_id_is_valid (id))
    return;
  key = message_id_key (id);
  exchange = g_hash_table_lookup (server->in_flight, key);
  if (exchange != NULL)
    exchange_cancel (exchange);
}

static void
dispatch (Exchange *exchange)
{
  const char *method = exchange->message->method;
  gboolean known = FALSE;
  Fault fault = { 0 };

  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++)
    known = known || strcmp (methods[i].name, method) == 0;
  if (!known)
    {
      exchange_fail (exchange, RPC_UNKNOWN_METHOD, "there is no such method", NULL);
      return;
    }
  if (!era_decide (&exchange->server->era, exchange->message, &exchange->revision, &exchange->tasks,
                   &fault))
    {
      exchange_fail (exchange, fault.code, fault.text, fault.data);
      return;
    }
  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++)
    if (strcmp (methods[i].name, method) == 0 && exchange->revision >= methods[i].first &&
        exchange->revision <= methods[i].last)
      {
        methods[i].handle (exchange);
        return;
      }
  exchange_fail (exchange, RPC_UNKNOWN_METHOD, "this revision has no such method", NULL);
}

/* @batch is (nullable), @message (transfer full). */
static void
take_request (Server *server, Batch *batch, Message *message)
{
  g_autofree char *key = message_id_key (message->id);
  const char *text = NULL;
  Exchange *exchange;

  if (g_hash_table_contains (server->in_flight, key))
    text = "a request of this id is still on its way";
  else if (server->exchanges >= EXCHANGES_MAX)
    text = "too many requests are on their way";
  if (text != NULL)
    {
      server_answer_error (server, batch, json_tree_copy (message->id), RPC_INVALID_REQUEST, text, NULL);
      message_free (message);
      return;
    }
  exchange = g_new0 (Exchange, 1);
  exchange->server = server;
  exchange->message = message;
  exchange->cancellable = g_cancellable_new ();
  exchange->key = g_strdup (key);
  exchange->batch = batch_join (batch);
  g_hash_table_insert (server->in_flight, exchange->key, exchange);
  server->exchanges++;
  dispatch (exchange);
}

/* @batch is (nullable), @tree (transfer full). */
static void
take_message (Server *server, Batch *batch, JsonTree *tree)
{
  JsonTree *id = NULL;
  g_autoptr (GError) error = NULL;
  Message *message = message_read (tree, &id, &error);

  if (message == NULL)
    server_answer_error (server, batch, id, RPC_INVALID_REQUEST, error->message, NULL);
  else if (message->kind == MESSAGE_REQUEST)
    take_request (server, batch, message);
  else
    {
      if (message->kind == MESSAGE_NOTIFICATION)
        take_notification (server, message);
      message_free (message);
    }
}

static gboolean
take_batch (Server *server, const JsonTree *tree)
{
  Batch *batch;

  if (json_tree_kind (tree) != JSON_TREE_ARRAY || json_tree_length (tree) == 0 ||
      !server->era.initialized || server->era.revision != REVISION_2025_03_26)
    return FALSE;
  batch = batch_new (server);
  for (guint i = 0; i < json_tree_length (tree); i++)
    take_message (server, batch, json_tree_copy (json_tree_item (tree, i)));
  batch_leave (batch);
  return TRUE;
}

static void
take_line (Server *server, const char *line, gsize len)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonTree) tree = NULL;

  if (len == 0 || (len == 1 && line[0] == '\r'))
    return;
  tree = message_tree (line, len, &error);
  if (tree == NULL)
    server_answer_error (server, NULL, NULL, RPC_PARSE_ERROR, error->message, NULL);
  else if (!take_batch (server, tree))
    take_message (server, NULL, g_steal_pointer (&tree));
}

static gboolean
on_input (gint fd, GIOCondition condition, gpointer data)
{
  Server *server = data;
  g_autofree char *piece = g_malloc (PIECE);
  ssize_t got = TEMP_FAILURE_RETRY (read (fd, piece, PIECE));
  const char *line = NULL;
  gsize len = 0;
  LineFound found;

  if (got < 0 && errno == EAGAIN)
    return G_SOURCE_CONTINUE;
  if (got <= 0)
    {
      server_close (server);
      return G_SOURCE_REMOVE;
    }
  line_reader_feed (server->lines, piece, (gsize) got);
  while (!server->closing && (found = line_reader_next (server->lines, &line, &len)) != LINE_NONE)
    if (found == LINE_WHOLE)
      take_line (server, line, len);
    else
      server_answer_error (server, NULL, NULL, RPC_PARSE_ERROR, "a line of more than 1 MiB", NULL);
  return server->closing ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

/* --- its life --- */

static gboolean
on_close_time (gpointer data)
{
  g_main_loop_quit (((Server *) data)->loop);
  return G_SOURCE_REMOVE;
}

void
server_close (Server *server)
{
  g_autoptr (GPtrArray) waiting = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer exchange;

  if (server->closing)
    return;
  server->closing = TRUE;
  g_hash_table_iter_init (&iter, server->in_flight);
  while (g_hash_table_iter_next (&iter, NULL, &exchange))
    g_ptr_array_add (waiting, exchange);
  for (guint i = 0; i < waiting->len; i++)
    exchange_cancel (g_ptr_array_index (waiting, i));
  holds_close (server->holds);
  g_timeout_add (server->close_ms, on_close_time, server);
  server_settle (server);
}

void
server_settle (Server *server)
{
  if (server->closing && server->exchanges == 0 && output_is_empty (server->output))
    g_main_loop_quit (server->loop);
}

static void
on_output (gboolean broken, gpointer data)
{
  if (broken)
    server_close (data);
  server_settle (data);
}

static gboolean
on_signal (gpointer data)
{
  server_close (data);
  return G_SOURCE_CONTINUE;
}

Server *
server_new (UsClient *client, const Options *options, guint close_ms, int in, int out)
{
  Server *server = g_new0 (Server, 1);

  server->client = g_object_ref (client);
  server->options = options;
  server->close_ms = close_ms;
  server->in = in;
  server->output = output_new (out, OUTPUT_MAX, on_output, server);
  server->lines = line_reader_new (MESSAGE_MAX_BYTES);
  server->in_flight = g_hash_table_new (g_str_hash, g_str_equal);
  server->holds = holds_new ();
  server->loop = g_main_loop_new (NULL, FALSE);
  return server;
}

void
server_free (Server *server)
{
  if (server == NULL)
    return;
  g_hash_table_unref (server->in_flight);
  holds_free (server->holds);
  output_free (server->output);
  line_reader_free (server->lines);
  g_main_loop_unref (server->loop);
  g_object_unref (server->client);
  g_free (server);
}

void
server_run (Server *server)
{
  signal (SIGPIPE, SIG_IGN);
  g_unix_signal_add (SIGTERM, on_signal, server);
  g_unix_signal_add (SIGINT, on_signal, server);
  g_unix_fd_add (server->in, G_IO_IN | G_IO_HUP | G_IO_ERR, on_input, server);
  g_main_loop_run (server->loop);
}
