/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A batch of the one revision that has them: its messages are taken as if each had come by itself,
 * and its answers go out together, as JSON-RPC 2.0 has it, when the last of them is there.
 */
#include "agentlib/mcp/server-private.h"

struct Batch
{
  Server *server;
  JsonTree *answers;
  guint open; /* who may still answer */
};

Batch *
batch_new (Server *server)
{
  Batch *batch = g_new0 (Batch, 1);

  batch->server = server;
  batch->answers = json_tree_new_array ();
  batch->open = 1;
  return batch;
}

Batch *
batch_join (Batch *batch)
{
  if (batch != NULL)
    batch->open++;
  return batch;
}

void
batch_leave (Batch *batch)
{
  if (batch == NULL || --batch->open > 0)
    return;
  if (json_tree_length (batch->answers) > 0)
    server_send (batch->server, g_steal_pointer (&batch->answers));
  json_tree_free (batch->answers);
  g_free (batch);
}

void
server_answer (Server *server, Batch *batch, JsonTree *message)
{
  if (batch != NULL)
    json_tree_append (batch->answers, message);
  else
    server_send (server, message);
}
