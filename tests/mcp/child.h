/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersign-mcp as a client starts it: on pipes, with a service and a bus of the test's own. */
#pragma once

#include "service/base/json.h"
#include "tests/agentlib/bus.h"
#include "tests/agentlib/mock.h"

G_BEGIN_DECLS

/* A request of ours is answered within this, on any machine. */
#define CHILD_PATIENCE_MS (120 * 1000)

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
/* child_hello: initialize with @version. */
void child_hello (Child *child, const char *version);

/* child_send: a line.  child_receive: the next one: (transfer full). */
void child_send (Child *child, const char *line);
JsonTree *child_receive (Child *child);
/* child_ask: sends, and receives what has the id 1. */
JsonTree *child_ask (Child *child, const char *line);

/* child_end: closes its input; the exit status.  Nothing more may come. */
int child_end (Child *child);

/* child_wait_calls: until the service was called so often. */
void child_wait_calls (Child *child, const char *method, guint count);

/* child_call: a call of the tool @name; @more: what else is in params, with a comma first. */
char *child_call (const char *id, const char *name, const char *arguments, const char *more);

/* at: the member at "a.b.0.c", or NULL.  text_at: its text, or of a number its text. */
const JsonTree *at (const JsonTree *tree, const char *place);
const char *text_at (const JsonTree *tree, const char *place);
gboolean true_at (const JsonTree *tree, const char *place);

G_END_DECLS
