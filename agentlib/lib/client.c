/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of an agent, but for the wait: each builds the parameters of one member of the interface
 * and takes its reply apart.  Nothing is decided here, and nothing is remembered from one call to the
 * next.
 */
#include "agentlib/lib/undersign.h"

#include "agentlib/lib/link.h"
#include "agentlib/lib/status.h"
#include "agentlib/lib/submission.h"
#include "agentlib/lib/sync.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"

/* The service answers Submit() once a module has described what it would do. */
#define SUBMIT_TIMEOUT_MS (90 * 1000)

static const LinkMethod get_info = { NULL, US_INTERFACE_AGENT, "GetInfo", "(a{sv})", 0 };
static const LinkMethod open_run = { NULL, US_INTERFACE_AGENT, "OpenRun", "(s)", 0 };
static const LinkMethod open_run_for = { NULL, US_INTERFACE_AGENT, "OpenRunFor", "(s)", 0 };
static const LinkMethod close_run = { NULL, US_INTERFACE_AGENT, "CloseRun", "()", 0 };
static const LinkMethod list_actions = { NULL, US_INTERFACE_AGENT, "ListActions", "(a{sa{sv}})", 0 };
static const LinkMethod describe = { NULL, US_INTERFACE_AGENT, "DescribeAction", "(a{sv})", 0 };
static const LinkMethod list_requests = { NULL, US_INTERFACE_AGENT, "ListRequests", "(a(oss))", 0 };
static const LinkMethod submit = { NULL, US_INTERFACE_AGENT, "Submit", "(os)", SUBMIT_TIMEOUT_MS };

/* The first child of a reply, or NULL.  (transfer full) */
static GVariant *
reply_child (UsClient *client, GAsyncResult *result, GError **error)
{
  g_autoptr (GVariant) reply = link_call_finish (client, result, error);

  return reply == NULL ? NULL : g_variant_get_child_value (reply, 0);
}

static gboolean
reply_empty (UsClient *client, GAsyncResult *result, GError **error)
{
  g_autoptr (GVariant) reply = link_call_finish (client, result, error);

  return reply != NULL;
}

void
us_client_get_info_async (UsClient *client,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  g_return_if_fail (US_IS_CLIENT (client));
  link_call_async (client, &get_info, NULL, NULL, cancellable, callback, user_data);
}

GVariant *
us_client_get_info_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  return reply_child (client, result, error);
}

GVariant *
us_client_get_info (UsClient *client, GCancellable *cancellable, GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client), NULL);
  us_client_get_info_async (client, cancellable, sync_done, sync_begin (&sync));
  return us_client_get_info_finish (client, sync_wait (&sync), error);
}

/* The a{sv} of a run; NULL for what is not said. */
static GVariant *
run_options (const char *label, const char *part)
{
  GVariantBuilder options = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_VARDICT);

  if (label != NULL)
    g_variant_builder_add (&options, "{sv}", "label", g_variant_new_string (label));
  if (part != NULL)
    g_variant_builder_add (&options, "{sv}", "part", g_variant_new_string (part));
  return g_variant_builder_end (&options);
}

void
us_client_open_run_async (UsClient *client,
                          const char *label,
                          const char *part,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  g_return_if_fail (US_IS_CLIENT (client));
  link_call_async (client, &open_run, g_variant_new ("(@a{sv})", run_options (label, part)), NULL,
                   cancellable, callback, user_data);
}

char *
us_client_open_run_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  g_autoptr (GVariant) run = reply_child (client, result, error);

  return run == NULL ? NULL : g_variant_dup_string (run, NULL);
}

char *
us_client_open_run (UsClient *client,
                    const char *label,
                    const char *part,
                    GCancellable *cancellable,
                    GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client), NULL);
  us_client_open_run_async (client, label, part, cancellable, sync_done, sync_begin (&sync));
  return us_client_open_run_finish (client, sync_wait (&sync), error);
}

void
us_client_open_run_for_async (UsClient *client,
                              const char *agent,
                              const char *label,
                              const char *part,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data)
{
  g_return_if_fail (US_IS_CLIENT (client) && agent != NULL);
  link_call_async (client, &open_run_for,
                   g_variant_new ("(s@a{sv})", agent, run_options (label, part)), NULL, cancellable,
                   callback, user_data);
}

char *
us_client_open_run_for_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  g_autoptr (GVariant) run = reply_child (client, result, error);

  return run == NULL ? NULL : g_variant_dup_string (run, NULL);
}

char *
us_client_open_run_for (UsClient *client,
                        const char *agent,
                        const char *label,
                        const char *part,
                        GCancellable *cancellable,
                        GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client) && agent != NULL, NULL);
  us_client_open_run_for_async (client, agent, label, part, cancellable, sync_done, sync_begin (&sync));
  return us_client_open_run_for_finish (client, sync_wait (&sync), error);
}

void
us_client_close_run_async (UsClient *client,
                           const char *run,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer user_data)
{
  g_return_if_fail (US_IS_CLIENT (client) && run != NULL);
  link_call_async (client, &close_run, g_variant_new ("(s)", run), NULL, cancellable, callback,
                   user_data);
}

gboolean
us_client_close_run_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  return reply_empty (client, result, error);
}

gboolean
us_client_close_run (UsClient *client, const char *run, GCancellable *cancellable, GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client) && run != NULL, FALSE);
  us_client_close_run_async (client, run, cancellable, sync_done, sync_begin (&sync));
  return us_client_close_run_finish (client, sync_wait (&sync), error);
}

void
us_client_list_actions_async (UsClient *client,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data)
{
  g_return_if_fail (US_IS_CLIENT (client));
  link_call_async (client, &list_actions, NULL, NULL, cancellable, callback, user_data);
}

GVariant *
us_client_list_actions_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  return reply_child (client, result, error);
}

GVariant *
us_client_list_actions (UsClient *client, GCancellable *cancellable, GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client), NULL);
  us_client_list_actions_async (client, cancellable, sync_done, sync_begin (&sync));
  return us_client_list_actions_finish (client, sync_wait (&sync), error);
}

void
us_client_describe_action_async (UsClient *client,
                                 const char *action,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data)
{
  g_return_if_fail (US_IS_CLIENT (client) && action != NULL);
  link_call_async (client, &describe, g_variant_new ("(s)", action), NULL, cancellable, callback,
                   user_data);
}

GVariant *
us_client_describe_action_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  return reply_child (client, result, error);
}

GVariant *
us_client_describe_action (UsClient *client,
                           const char *action,
                           GCancellable *cancellable,
                           GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client) && action != NULL, NULL);
  us_client_describe_action_async (client, action, cancellable, sync_done, sync_begin (&sync));
  return us_client_describe_action_finish (client, sync_wait (&sync), error);
}

void
us_client_list_requests_async (UsClient *client,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  g_return_if_fail (US_IS_CLIENT (client));
  link_call_async (client, &list_requests, NULL, NULL, cancellable, callback, user_data);
}

GVariant *
us_client_list_requests_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  return reply_child (client, result, error);
}

GVariant *
us_client_list_requests (UsClient *client, GCancellable *cancellable, GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client), NULL);
  us_client_list_requests_async (client, cancellable, sync_done, sync_begin (&sync));
  return us_client_list_requests_finish (client, sync_wait (&sync), error);
}

void
us_client_submit_async (UsClient *client,
                        const char *run,
                        UsSubmission *submission,
                        GCancellable *cancellable,
                        GAsyncReadyCallback callback,
                        gpointer user_data)
{
  g_autoptr (GVariant) body = NULL;
  g_autoptr (GUnixFDList) fds = NULL;
  GError *error = NULL;

  g_return_if_fail (US_IS_CLIENT (client) && run != NULL && US_IS_SUBMISSION (submission));
  if (submission_body (submission, run, &body, &fds, &error))
    link_call_async (client, &submit, body, fds, cancellable, callback, user_data);
  else
    g_task_report_error (client, callback, user_data, us_client_submit_async, error);
}

char *
us_client_submit_finish (UsClient *client,
                         GAsyncResult *result,
                         UsState *out_state,
                         GError **error)
{
  g_autoptr (GVariant) reply = link_call_finish (client, result, error);
  const char *request, *word;
  UsState state;

  if (reply == NULL)
    return NULL;
  g_variant_get (reply, "(&o&s)", &request, &word);
  if (!us_state_from_string (word, &state))
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                    "request %s is of the unknown state \"%s\"", request, word);
      return NULL;
    }
  if (out_state != NULL)
    *out_state = state;
  return g_strdup (request);
}

char *
us_client_submit (UsClient *client,
                  const char *run,
                  UsSubmission *submission,
                  UsState *out_state,
                  GCancellable *cancellable,
                  GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client) && run != NULL && US_IS_SUBMISSION (submission), NULL);
  us_client_submit_async (client, run, submission, cancellable, sync_done, sync_begin (&sync));
  return us_client_submit_finish (client, sync_wait (&sync), out_state, error);
}
