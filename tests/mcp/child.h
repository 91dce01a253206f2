/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersign-mcp as a client starts it: on pipes, with a service and a bus of the test's own. */
#pragma once

#include "agentlib/mcp/era.h"
#include "tests/agentlib/bus.h"
#include "tests/agentlib/mock.h"

G_BEGIN_DECLS

/* A request of ours is answered within this, on any machine. */
#define CHILD_PATIENCE_MS (120 * 1000)

/* Of 2026: what goes with the params of each request; @more: capabilities. */
#define MODERN_META(more) \
  "\"_meta\":{\"" META_MCP "protocolVersion\":\"2026-07-28\",\"" META_MCP \
  "clientCapabilities\":{" more "}}"
#define WITH_TASKS MODERN_META ("\"extensions\":{\"" EXTENSION_TASKS "\":{}}")

#define REQUEST(method, params) \
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{" params "}}"
#define CANCEL(id) \
  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id "}}"

/* Arguments of mail_send, and a hold that never ends by itself. */
#define ARGUMENTS "{\"to\":[\"a@example.com\"],\"subject\":\"Hello\"}"
#define LONG "--hold=3600"

typedef struct
{
  Bus *bus;
  Mock *mock;
  GPid pid;
  int in, out;
  GString *rest; /* read, and not given out */
} Child;

/* child_setup: a bus and the mock service, in which nothing has been asked for yet. */
void child_setup (Child *child, gconstpointer data);
void child_teardown (Child *child, gconstpointer data);

/* child_start: @line: the program's own words; @variable: (nullable): NAME=VALUE for it */
void child_start (Child *child, const char *line, const char *variable);
/* child_start_at: on the bus at @address.  child_start_apart: on one that is not there. */
void child_start_at (Child *child, const char *address);
void child_start_apart (Child *child);
/* child_hello: initialize with @version. */
void child_hello (Child *child, const char *version);
/* child_begin: both, of 2025-06-18. */
void child_begin (Child *child, const char *line);

/* child_send: a line.  child_receive: the next one: (transfer full). */
void child_send (Child *child, const char *line);
JsonTree *child_receive (Child *child);
/* child_ask: sends, and receives what has the id 1. */
JsonTree *child_ask (Child *child, const char *line);

/* child_tool: the answer to a call of a tool; @more: what else is in params, with a comma first. */
JsonTree *child_tool (Child *child, const char *name, const char *arguments, const char *more);
/* child_send_mail: calls mail_send with the id @id, and does not wait. */
void child_send_mail (Child *child, const char *id, const char *more);

/* child_close: closes its input.  child_end: that, too, and the exit status.  Nothing more may come. */
void child_close (Child *child);
int child_end (Child *child);

/* child_wait_calls: until the service was called so often. */
void child_wait_calls (Child *child, const char *method, guint count);

/* child_call: the line of a call of the tool @name; @more: what else is in params, with a comma first. */
char *child_call (const char *id, const char *name, const char *arguments, const char *more);

/* check_pending: that the answer is of a request that waits. */
void check_pending (const JsonTree *answer);

typedef struct
{
  const char *name;
  void (*test) (Child *child, gconstpointer data);
} ChildTest;

/* child_run_tests: each as /mcp/@group/NAME. */
int
child_run_tests (int argc, char *argv[], const char *group, const ChildTest *tests, gsize count);

/* at: the member at "a.b.0.c", or NULL.  text_at: its text, or of a number its text. */
const JsonTree *at (const JsonTree *tree, const char *place);
const char *text_at (const JsonTree *tree, const char *place);
gboolean true_at (const JsonTree *tree, const char *place);

G_END_DECLS
