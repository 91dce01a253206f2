/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * request_status and request_cancel.  They work on any request of the caller's own, whichever
 * process made it; whose it is, the service decides.
 */
#include "agentlib/mcp/call.h"

#include "agentlib/mcp/hold.h"
#include "agentlib/mcp/result.h"
#include "agentlib/mcp/text.h"
#include "agentlib/mcp/tool.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

typedef struct
{
  Exchange *exchange;
  char *path;
  int wait_ms;
  gboolean taken_back, too_late;
} Asking;

static void
asking_end (Asking *asking, JsonTree *result)
{
  exchange_reply (asking->exchange, result);
  g_free (asking->path);
  g_free (asking);
}

/* Nothing is known of the request that was meant, so nothing is said of what it did. */
static void
asking_fail (Asking *asking, const GError *error)
{
  asking_end (asking, result_of_error (asking->exchange->revision, error, US_EXECUTED_UNKNOWN));
}

static void
asking_answer (Asking *asking, const UsStatus *status)
{
  Revision revision = asking->exchange->revision;

  if (asking->too_late)
    asking_end (asking, result_too_late (revision, asking->path, status));
  else if (asking->taken_back)
    asking_end (asking, result_taken_back (revision, asking->path, status));
  else
    asking_end (asking, result_of_status (revision, asking->path, status));
}

static void
on_waited (GObject *source, GAsyncResult *result, gpointer data)
{
  Asking *asking = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (UsStatus) status = us_client_wait_finish (US_CLIENT (source), result, &error);

  if (status == NULL)
    asking_fail (asking, error);
  else
    asking_answer (asking, status);
}

static void
asking_wait (Asking *asking)
{
  hold_deliver (server_holds (asking->exchange->server), asking->path);
  exchange_progress (asking->exchange);
  us_client_wait_async (server_client (asking->exchange->server), asking->path, asking->wait_ms,
                        asking->exchange->cancellable, on_waited, asking);
}

static void
on_cancelled (GObject *source, GAsyncResult *result, gpointer data)
{
  Asking *asking = data;
  g_autoptr (GError) error = NULL;

  if (!us_client_withdraw_finish (US_CLIENT (source), result, &error))
    {
      if (!us_error_has_reason (error, US_REASON_TOO_LATE))
        {
          asking_fail (asking, error);
          return;
        }
      asking->too_late = TRUE;
    }
  asking->taken_back = !asking->too_late;
  asking_wait (asking);
}

/* The arguments are these and no others; what a model adds would otherwise go unseen. */
static gboolean
read_arguments (Exchange *exchange, gboolean may_wait, Asking *asking, GError **error)
{
  const JsonTree *arguments = json_tree_member (exchange->message->params, "arguments");
  gint64 wait_ms = 0;

  for (guint i = 0; i < json_tree_length (arguments); i++)
    {
      const char *name = json_tree_name (arguments, i);

      if (g_strcmp0 (name, "request_id") != 0 && (!may_wait || g_strcmp0 (name, "wait_ms") != 0))
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                             "%s is not taken", name != NULL ? name : "an array");
    }
  if (json_tree_member (arguments, "wait_ms") != NULL &&
      (!tree_integer (json_tree_member (arguments, "wait_ms"), &wait_ms) || wait_ms < 0))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "wait_ms is no number of milliseconds");
  asking->wait_ms = (int) MIN (wait_ms, server_options (exchange->server)->hold_ms);
  asking->path = request_path (json_tree_get_string (arguments, "request_id"));
  if (asking->path == NULL)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "request_id is not 32 hexadecimal digits");
  return TRUE;
}

gboolean
request_tool_call (Exchange *exchange, const char *name)
{
  gboolean cancel = strcmp (name, TOOL_CANCEL) == 0;
  g_autoptr (GError) error = NULL;
  Asking *asking;

  if (!cancel && strcmp (name, TOOL_STATUS) != 0)
    return FALSE;
  asking = g_new0 (Asking, 1);
  asking->exchange = exchange;
  if (!read_arguments (exchange, !cancel, asking, &error))
    asking_fail (asking, error);
  else if (cancel)
    us_client_withdraw_async (server_client (exchange->server), asking->path, exchange->cancellable,
                              on_cancelled, asking);
  else
    asking_wait (asking);
  return TRUE;
}
