/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What server.c and exchange.c share, and nobody else sees. */
#pragma once

#include "agentlib/mcp/hold.h"
#include "agentlib/mcp/line.h"
#include "agentlib/mcp/output.h"
#include "agentlib/mcp/server.h"

G_BEGIN_DECLS

struct Server
{
  UsClient *client;
  const Options *options;
  guint close_ms;
  int in;
  Output *output;
  LineReader *lines;
  Era era;
  GHashTable *in_flight; /* message_id_key() → Exchange, but those that were cancelled */
  guint exchanges;       /* those too */
  Holds *holds;
  GMainLoop *loop;
  gboolean closing;
};

/* Bytes that a client has not read, before it is taken for one that does not read. */
#define OUTPUT_MAX (4 * 1024 * 1024)

/* server_send: @message is (transfer full).  A client that does not read ends the server. */
void server_send (Server *server, JsonTree *message);

/*
 * batch_new: who has it leaves it when its last message is taken.
 * batch_join, batch_leave: (nullable): of one who may answer, once each.  The answers are sent, if
 * there are any, when the last one leaves.
 */
Batch *batch_new (Server *server);
Batch *batch_join (Batch *batch);
void batch_leave (Batch *batch);

/* server_answer: @batch: (nullable): that the request was in; @message: (transfer full) */
void server_answer (Server *server, Batch *batch, JsonTree *message);

/* server_answer_error: likewise; @id, @data: (transfer full) (nullable) */
void server_answer_error (Server *server, Batch *batch, JsonTree *id, RpcCode code, const char *text,
                          JsonTree *data);

/* server_close: cancels what waits; the server ends when that has ended and what was sent is out, or
 * after its time. */
void server_close (Server *server);

/* server_settle: ends the server, if it was closed and nothing is left to do. */
void server_settle (Server *server);

/* exchange_cancel: nothing more is sent for its id, which the client may use again. */
void exchange_cancel (Exchange *exchange);

G_END_DECLS
