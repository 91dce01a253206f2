/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One request after it was submitted: its status, to take it back, and to leave it.  A path is checked
 * here, since GDBus would abort over a wrong one.
 */
#include "agentlib/lib/undersign.h"

#include "agentlib/lib/link.h"
#include "agentlib/lib/status.h"
#include "agentlib/lib/sync.h"

#include "dbus/names.h"

void
us_client_get_state_async (UsClient *client,
                           const char *request,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer user_data)
{
  LinkMethod method = { request, US_INTERFACE_REQUEST, "GetState", "(sa{sv})", 0 };

  g_return_if_fail (US_IS_CLIENT (client) && g_variant_is_object_path (request));
  link_call_async (client, &method, NULL, NULL, cancellable, callback, user_data);
}

UsStatus *
us_client_get_state_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  g_autoptr (GVariant) reply = link_call_finish (client, result, error);

  return reply == NULL ? NULL : status_new (reply, error);
}

UsStatus *
us_client_get_state (UsClient *client,
                     const char *request,
                     GCancellable *cancellable,
                     GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client) && g_variant_is_object_path (request), NULL);
  us_client_get_state_async (client, request, cancellable, sync_done, sync_begin (&sync));
  return us_client_get_state_finish (client, sync_wait (&sync), error);
}

void
us_client_withdraw_async (UsClient *client,
                          const char *request,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  LinkMethod method = { request, US_INTERFACE_REQUEST, "Withdraw", "()", 0 };

  g_return_if_fail (US_IS_CLIENT (client) && g_variant_is_object_path (request));
  link_call_async (client, &method, NULL, NULL, cancellable, callback, user_data);
}

gboolean
us_client_withdraw_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  g_autoptr (GVariant) reply = link_call_finish (client, result, error);

  return reply != NULL;
}

gboolean
us_client_withdraw (UsClient *client,
                    const char *request,
                    GCancellable *cancellable,
                    GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client) && g_variant_is_object_path (request), FALSE);
  us_client_withdraw_async (client, request, cancellable, sync_done, sync_begin (&sync));
  return us_client_withdraw_finish (client, sync_wait (&sync), error);
}

void
us_client_leave_async (UsClient *client,
                       const char *request,
                       GCancellable *cancellable,
                       GAsyncReadyCallback callback,
                       gpointer user_data)
{
  LinkMethod method = { request, US_INTERFACE_REQUEST, "Leave", "()", 0 };

  g_return_if_fail (US_IS_CLIENT (client) && g_variant_is_object_path (request));
  link_call_async (client, &method, NULL, NULL, cancellable, callback, user_data);
}

gboolean
us_client_leave_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  g_autoptr (GVariant) reply = link_call_finish (client, result, error);

  return reply != NULL;
}

gboolean
us_client_leave (UsClient *client,
                 const char *request,
                 GCancellable *cancellable,
                 GError **error)
{
  g_auto (Sync) sync = { 0 };

  g_return_val_if_fail (US_IS_CLIENT (client) && g_variant_is_object_path (request), FALSE);
  us_client_leave_async (client, request, cancellable, sync_done, sync_begin (&sync));
  return us_client_leave_finish (client, sync_wait (&sync), error);
}
