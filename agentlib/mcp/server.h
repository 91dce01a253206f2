/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The server on two descriptors, and one request of a client on its way through it.  A handler is
 * called once and ends its exchange once: by an answer, by a fault, or, when it was cancelled, by
 * exchange_drop(); the exchange is gone then.
 */
#pragma once

#include "agentlib/lib/undersign.h"
#include "agentlib/mcp/era.h"
#include "agentlib/mcp/hold.h"
#include "agentlib/mcp/options.h"

G_BEGIN_DECLS

#define EXCHANGES_MAX 64

typedef struct Server Server;
typedef struct Batch Batch;

typedef struct
{
  Server *server;
  Message *message;
  Revision revision;
  gboolean tasks; /* of 2026: the client takes a task for an answer */
  GCancellable *cancellable;
  /* Of server.c alone. */
  char *key;
  Batch *batch; /* (nullable) */
  guint progress_id;
  gint64 progress;
} Exchange;

/* exchange_reply: @result is (transfer full). */
void exchange_reply (Exchange *exchange, JsonTree *result);
/* exchange_fail: @data is (transfer full) (nullable). */
void exchange_fail (Exchange *exchange, RpcCode code, const char *text, JsonTree *data);
void exchange_drop (Exchange *exchange);

/* exchange_notify: a notification of it, before its end.  @params is (transfer full). */
void exchange_notify (Exchange *exchange, const char *method, JsonTree *params);

/* exchange_is_cancelled: nobody waits for the answer any more. */
gboolean exchange_is_cancelled (const Exchange *exchange);

/* exchange_progress: tells of progress once a second from now on, if the client asked for it. */
void exchange_progress (Exchange *exchange);

UsClient *server_client (Server *server);
const Options *server_options (Server *server);
Holds *server_holds (Server *server);
/* server_initialize: settles the revision for the process. */
void server_initialize (Server *server, Revision revision);

/*
 * server_new: nothing is read, written or asked of the bus before server_run().
 * @options: borrowed
 * @close_ms: how long to go on after the end of the input, where something is to be withdrawn
 * @in, @out: borrowed
 */
Server *server_new (UsClient *client, const Options *options, guint close_ms, int in, int out);
void server_free (Server *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Server, server_free)

/* server_run: until the input ends or the program is told to end. */
void server_run (Server *server);

G_END_DECLS
