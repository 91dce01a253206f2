/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes a request back that its caller gave up before it had its id.  Whether it may is asked of
 * the service and then of hold.h, after everything that could have come to want it meanwhile: a
 * call that is being submitted may come to be this very request.  Whatever is not known leaves the
 * request as it is.
 */
#include "agentlib/mcp/leave.h"

#include "agentlib/mcp/hold.h"

typedef struct
{
  Exchange *exchange;
  char *path, *action;
  UsStatus *status;
} Leaving;

static void
leaving_end (Leaving *leaving)
{
  exchange_drop (leaving->exchange);
  g_clear_pointer (&leaving->status, us_status_unref);
  g_free (leaving->path);
  g_free (leaving->action);
  g_free (leaving);
}

static void
on_withdrawn (GObject *source, GAsyncResult *result, gpointer data)
{
  /* Too late, or not reachable: the ledger has decided, and nobody is there to be told. */
  us_client_withdraw_finish (US_CLIENT (source), result, NULL);
  leaving_end (data);
}

static void
leaving_decide (gpointer data)
{
  Leaving *leaving = data;
  Server *server = leaving->exchange->server;

  if (hold_may_withdraw (server_holds (server), leaving->path, leaving->status))
    us_client_withdraw_async (server_client (server), leaving->path, NULL, on_withdrawn, leaving);
  else
    leaving_end (leaving);
}

static void
on_state (GObject *source, GAsyncResult *result, gpointer data)
{
  Leaving *leaving = data;

  leaving->status = us_client_get_state_finish (US_CLIENT (source), result, NULL);
  hold_when_submitted (server_holds (leaving->exchange->server), leaving->action, leaving_decide,
                       leaving);
}

void
exchange_leave (Exchange *exchange, const char *path, const char *action)
{
  Leaving *leaving = g_new0 (Leaving, 1);

  leaving->exchange = exchange;
  leaving->path = g_strdup (path);
  leaving->action = g_strdup (action);
  us_client_get_state_async (server_client (exchange->server), path, NULL, on_state, leaving);
}
