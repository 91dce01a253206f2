/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Leaves a request that its caller gave up before it had its id: the service withdraws it if nobody
 * else was given it.  This is said after everything of the process that could have come to want it
 * meanwhile: a call that is being submitted may come to be this very request.
 */
#include "agentlib/mcp/leave.h"

#include "agentlib/mcp/hold.h"

typedef struct
{
  Exchange *exchange;
  char *path;
} Leaving;

static void
leaving_end (Leaving *leaving)
{
  exchange_drop (leaving->exchange);
  g_free (leaving->path);
  g_free (leaving);
}

static void
on_left (GObject *source, GAsyncResult *result, gpointer data)
{
  /* A service that can't be reached leaves the request as it is, and nobody is there to be told. */
  us_client_leave_finish (US_CLIENT (source), result, NULL);
  leaving_end (data);
}

static void
leaving_decide (gpointer data)
{
  Leaving *leaving = data;
  Server *server = leaving->exchange->server;

  if (hold_may_leave (server_holds (server), leaving->path))
    us_client_leave_async (server_client (server), leaving->path, NULL, on_left, leaving);
  else
    leaving_end (leaving);
}

void
exchange_leave (Exchange *exchange, const char *path, const char *action)
{
  Leaving *leaving = g_new0 (Leaving, 1);

  leaving->exchange = exchange;
  leaving->path = g_strdup (path);
  hold_when_submitted (server_holds (exchange->server), action, leaving_decide, leaving);
}
