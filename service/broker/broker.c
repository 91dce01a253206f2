/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every part of the daemon may ask of it: a request by its id, and whether a caller is still
 * there.  It calls nothing but what it is made of.
 */
#include "service/broker/broker.h"

#include "dbus/error.h"
#include "dbus/reason.h"

Broker *
broker_of (const Request *request)
{
  return request->hooks->data;
}

Request *
broker_request (Broker *broker, const char *id, GError **error)
{
  Request *request = g_hash_table_lookup (broker->requests, id);

  if (request != NULL)
    return request_ref (request);
  return queue_load (broker->queue, id, &broker->request_hooks, error);
}

void
broker_add_request (Broker *broker, Request *request)
{
  g_hash_table_replace (broker->requests, request->id, request_ref (request));
}

gboolean
broker_check_caller (const Broker *broker, const Call *call, GError **error)
{
  if (broker->is_ending)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                         "the service is ending");
  if (identity_is_known (broker->identity, call_sender (call)))
    return TRUE;
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                       "the caller left the bus before it was answered");
}
