/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/call: from a tool's name to a request, and what its caller is told.  The steps are those of
 * any agent: which action, which arguments, which run, submit, wait.  An identical call while one
 * waits is the service's same request.  A caller that leaves before it has the request's id leaves
 * nothing behind that could run; one that has it leaves the request as it is.
 */
#include "agentlib/mcp/call.h"

#include "agentlib/mcp/arguments.h"
#include "agentlib/mcp/handlers.h"
#include "agentlib/mcp/hold.h"
#include "agentlib/mcp/identity.h"
#include "agentlib/mcp/leave.h"
#include "agentlib/mcp/result.h"
#include "agentlib/mcp/tool.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

/* The service answers Submit() within 90 seconds or it may still be at work on it. */
#define ANSWERED_US (60 * G_USEC_PER_SEC)
/* ListRequests() gives the latest of them, so many at most. */
#define LISTED_MAX 200

typedef struct
{
  Exchange *exchange;
  const char *name;          /* of the tool */
  const JsonTree *arguments; /* (nullable) */
  Identity identity;
  gboolean as_task;
  char *action, *run;
  UsSubmission *submission;
  GHashTable *before; /* paths of the requests that were there before; whether each had ended */
  gint64 submitted;   /* when, monotonic */
  GError *lost;       /* Submit() ended without an answer */
  char *path;
} Call;

static void
call_free (Call *call)
{
  g_free (call->action);
  g_free (call->run);
  g_free (call->path);
  g_clear_object (&call->submission);
  g_clear_pointer (&call->before, g_hash_table_unref);
  g_clear_error (&call->lost);
  g_free (call);
}

static UsClient *
call_client (Call *call)
{
  return server_client (call->exchange->server);
}

/* Ends the call: no request of it is known. */
static void
call_refuse (Call *call, const GError *error, UsExecuted executed)
{
  Exchange *exchange = call->exchange;
  g_autofree char *sentence = NULL;

  if (exchange_is_cancelled (exchange))
    exchange_drop (exchange);
  else if (call->as_task)
    {
      /* No task can stand for it and a result may not: an error says the same.  Only what did
       * nothing may read as a fault of the call, since such a call is mended and repeated. */
      gboolean is_mendable =
          executed == US_EXECUTED_NO && !g_error_matches (error, US_ERROR, US_ERROR_UNAVAILABLE);

      sentence = error_sentence (error, executed);
      exchange_fail (exchange, is_mendable ? RPC_INVALID_PARAMS : RPC_INTERNAL, sentence,
                     error_data (error, executed));
    }
  else
    exchange_reply (exchange, result_of_error (exchange->revision, error, executed));
  call_free (call);
}

/* --- waiting --- */

/* The caller left, or was cancelled. */
static void
call_give_up (Call *call)
{
  Exchange *exchange = call->exchange;

  if (hold_leave (server_holds (exchange->server), call->path, HOLD_GAVE_UP))
    exchange_leave (exchange, call->path, call->action);
  else
    exchange_drop (exchange);
  call_free (call);
}

static void
call_answer (Call *call, const UsStatus *status)
{
  Exchange *exchange = call->exchange;
  gboolean ended = us_state_has_ended (us_status_get_state (status));
  gboolean task = call->as_task || (exchange->tasks && !ended);

  hold_leave (server_holds (exchange->server), call->path,
              ended && !task ? HOLD_ENDED : HOLD_PENDING);
  if (task)
    task_reply (exchange, call->path, status);
  else
    exchange_reply (exchange, result_of_status (exchange->revision, call->path, status));
  call_free (call);
}

/* The request is there; what became of it could not be read. */
static void
call_lose (Call *call, const GError *error)
{
  g_autoptr (GError) own = g_error_copy (error);
  g_autofree char *about = g_strdup_printf ("request %s", request_id (call->path));

  us_error_about (&own, about);
  hold_leave (server_holds (call->exchange->server), call->path, HOLD_PENDING);
  call_refuse (call, own, US_EXECUTED_UNKNOWN);
}

static void
on_waited (GObject *source, GAsyncResult *result, gpointer data)
{
  Call *call = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (UsStatus) status = us_client_wait_finish (US_CLIENT (source), result, &error);

  if (exchange_is_cancelled (call->exchange))
    call_give_up (call);
  else if (status == NULL)
    call_lose (call, error);
  else
    call_answer (call, status);
}

static void
call_wait (Call *call)
{
  Exchange *exchange = call->exchange;
  gboolean task = call->as_task || exchange->tasks;
  int hold_ms = task ? 0 : server_options (exchange->server)->hold_ms;

  hold_join (server_holds (exchange->server), call->path);
  hold_submit_end (server_holds (exchange->server), call->action);
  if (exchange_is_cancelled (exchange))
    call_give_up (call);
  else
    us_client_wait_async (call_client (call), call->path, hold_ms, exchange->cancellable, on_waited,
                          call);
}

/* --- submitting --- */

/* Whether a request of this action is there that had not ended before, or may be beyond the end of
 * the list: it may be what was submitted. */
static gboolean
has_live_request (Call *call, GVariant *requests)
{
  GVariantIter iter;
  const char *path, *action;

  if (g_variant_n_children (requests) >= LISTED_MAX)
    return TRUE;
  g_variant_iter_init (&iter, requests);
  while (g_variant_iter_loop (&iter, "(&o&s&s)", &path, &action, NULL))
    if (strcmp (action, call->action) == 0 && !g_hash_table_lookup (call->before, path))
      return TRUE;
  return FALSE;
}

static void
on_looked (GObject *source, GAsyncResult *result, gpointer data)
{
  Call *call = data;
  g_autoptr (GVariant) requests = us_client_list_requests_finish (US_CLIENT (source), result, NULL);
  gboolean answered = g_get_monotonic_time () - call->submitted < ANSWERED_US;
  gboolean none = answered && requests != NULL && !has_live_request (call, requests);
  g_autoptr (GError) error = g_steal_pointer (&call->lost);

  hold_submit_end (server_holds (call->exchange->server), call->action);
  call_refuse (call, error, none ? US_EXECUTED_NO : US_EXECUTED_UNKNOWN);
}

static void
on_submitted (GObject *source, GAsyncResult *result, gpointer data)
{
  Call *call = data;
  GError *error = NULL;

  call->path = us_client_submit_finish (US_CLIENT (source), result, NULL, &error);
  if (call->path != NULL)
    call_wait (call);
  else if (g_error_matches (error, US_ERROR, US_ERROR_UNAVAILABLE))
    {
      /* It may have been taken all the same: what is there now tells. */
      call->lost = error;
      us_client_list_requests_async (call_client (call), NULL, on_looked, call);
    }
  else
    {
      hold_submit_end (server_holds (call->exchange->server), call->action);
      call_refuse (call, error, US_EXECUTED_NO);
      g_error_free (error);
    }
}

static void
on_requests (GObject *source, GAsyncResult *result, gpointer data)
{
  Call *call = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) requests =
      us_client_list_requests_finish (US_CLIENT (source), result, &error);
  GVariantIter iter;
  const char *path, *word;
  UsState state;

  if (requests == NULL || exchange_is_cancelled (call->exchange))
    {
      call_refuse (call, error, US_EXECUTED_NO);
      return;
    }
  call->before = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_variant_iter_init (&iter, requests);
  while (g_variant_iter_loop (&iter, "(&o&s&s)", &path, NULL, &word))
    g_hash_table_insert (
        call->before, g_strdup (path),
        GINT_TO_POINTER (us_state_from_string (word, &state) && us_state_has_ended (state)));
  call->submitted = g_get_monotonic_time ();
  hold_submit_begin (server_holds (call->exchange->server), call->action);
  /* Not to be cancelled: what it makes must be known, to be left. */
  us_client_submit_async (call_client (call), call->run, call->submission, NULL, on_submitted,
                          call);
}

static void
on_run (GObject *source, GAsyncResult *result, gpointer data)
{
  Call *call = data;
  g_autoptr (GError) error = NULL;

  call->run = us_client_open_run_finish (US_CLIENT (source), result, &error);
  if (call->run == NULL)
    call_refuse (call, error, US_EXECUTED_NO);
  else
    us_client_list_requests_async (call_client (call), call->exchange->cancellable, on_requests,
                                   call);
}

static void
on_description (GObject *source, GAsyncResult *result, gpointer data)
{
  Call *call = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) description =
      us_client_describe_action_finish (US_CLIENT (source), result, &error);
  g_autofree char *claim = identity_claim (&call->identity, meta_of (call->exchange->message));

  call->submission = us_submission_new (call->action);
  us_submission_set_claim (call->submission, claim);
  if (description == NULL ||
      !arguments_add (call->submission, description, call->arguments, &error))
    call_refuse (call, error, US_EXECUTED_NO);
  else
    us_client_open_run_async (call_client (call), call->identity.run, call->identity.part,
                              call->exchange->cancellable, on_run, call);
}

static void
on_actions (GObject *source, GAsyncResult *result, gpointer data)
{
  Call *call = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) actions = us_client_list_actions_finish (US_CLIENT (source), result, &error);
  g_autoptr (GPtrArray) tools = actions != NULL ? tools_read (actions) : NULL;
  const Tool *tool = tools != NULL ? tools_find (tools, call->name) : NULL;

  if (tools == NULL)
    call_refuse (call, error, US_EXECUTED_NO);
  else if (tool == NULL)
    {
      exchange_fail (call->exchange, RPC_INVALID_PARAMS, "there is no such tool", NULL);
      call_free (call);
    }
  else
    {
      call->action = g_strdup (tool->action);
      us_client_describe_action_async (call_client (call), call->action,
                                       call->exchange->cancellable, on_description, call);
    }
}

void
handle_tools_call (Exchange *exchange)
{
  const JsonTree *params = exchange->message->params;
  const char *name = json_tree_get_string (params, "name");
  g_autoptr (GError) error = NULL;
  Call *call;

  if (name == NULL)
    {
      exchange_fail (exchange, RPC_INVALID_PARAMS, "name is not there", NULL);
      return;
    }
  if (request_tool_call (exchange, name))
    return;
  call = g_new0 (Call, 1);
  call->exchange = exchange;
  call->name = name;
  call->arguments = json_tree_member (params, "arguments");
  call->as_task = exchange->revision == REVISION_2025_11_25 &&
                  json_tree_kind (json_tree_member (params, "task")) == JSON_TREE_OBJECT;
  if (!identity_read (meta_of (exchange->message), server_options (exchange->server),
                      &call->identity, &error))
    {
      call_refuse (call, error, US_EXECUTED_NO);
      return;
    }
  exchange_progress (exchange);
  us_client_list_actions_async (server_client (exchange->server), exchange->cancellable, on_actions,
                                call);
}
