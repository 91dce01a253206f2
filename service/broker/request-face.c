/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * org.undersign1.Request: what became of a request, for the agent that made it and the persons who
 * were asked; and Introspect, which says the same to everyone whom it may concern.
 */
#include "service/broker/faces.h"

#include "dbus/names.h"
#include "dbus/org.undersign1.h"
#include "service/base/clock.h"
#include "service/base/pae.h"
#include "service/base/wire.h"
#include "service/broker/hand-over.h"
#include "service/broker/holders.h"

static void
add (GVariantBuilder *builder, const char *key, GVariant *value)
{
  g_variant_builder_add (builder, "{sv}", key, value);
}

static void
add_path (GVariantBuilder *builder, const char *key, const char *id)
{
  g_autofree char *path = NULL;

  if (id[0] == '\0')
    return;
  path = request_path_of (id);
  add (builder, key, g_variant_new_object_path (path));
}

/* A person found out what became of it, and the result is their note. */
static gboolean
request_was_resolved (const Request *request)
{
  return (request->state == REQUEST_DONE || request->state == REQUEST_FAILED) &&
         strcmp (request->by, WIRE_QUERY_RESOLVED) == 0;
}

static GVariant *
details_of (Broker *broker, const Request *request, const Call *call)
{
  g_autofree char *digest = digest_to_string (record_digest (request->record));
  gboolean card = request->state == REQUEST_PENDING && signals_has_card (broker->signals, request);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  add (&builder, "action", g_variant_new_string (record_action_id (request->record)));
  add (&builder, "run", g_variant_new_string (record_run_id (request->record)));
  add (&builder, "digest", g_variant_new_string (digest));
  add (&builder, "expires", g_variant_new_string (request->expires));
  add (&builder, "executed",
       g_variant_new_string (request->is_doubtful ? "unknown"
                                                  : request_state_executed (request->state)));
  add (&builder, "card", g_variant_new_boolean (card));
  add (&builder, "reason", g_variant_new_string (request->reason));
  add (&builder, "result", g_variant_new_string (request->result));
  add (&builder, "resolved", g_variant_new_boolean (request_was_resolved (request)));
  add (&builder, "watchers", g_variant_new_uint32 (signals_watchers (request, call_uid (call))));
  add (&builder, "made-here",
       g_variant_new_boolean (g_strcmp0 (request->maker, call_sender (call)) == 0));
  add (&builder, "answers", g_variant_new_uint32 (request->answers));
  add (&builder, "needed", g_variant_new_uint32 (request->needed));
  add_path (&builder, "supersedes", request->supersedes);
  add_path (&builder, "successor", request->successor);
  return g_variant_builder_end (&builder);
}

void
handle_get_state (Broker *broker, Call *call, Request *request)
{
  /* A person may have resolved it; the next call then says so. */
  if (request->state == REQUEST_UNKNOWN &&
      limits_ask (broker->limits, call_uid (call), clock_boottime ()))
    hand_over_settle (broker, request);
  call_return (call, g_variant_new ("(s@a{sv})", request_state_name (request->state),
                                    details_of (broker, request, call)));
}

void
handle_watch (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GError) error = NULL;

  if (call_uid (call) == request->uid)
    holders_expect (request, call_sender (call));
  if (request_state_has_ended (request->state) ||
      (broker_check_caller (broker, call, &error) &&
       signals_watch (broker->signals, request, call_sender (call), call_uid (call), &error)))
    call_return (call, NULL);
  else
    call_fail (call, error);
}

void
handle_unwatch (Broker *broker, Call *call, Request *request)
{
  signals_unwatch (request, call_sender (call));
  call_return (call, NULL);
}

void
handle_leave (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GError) error = NULL;

  signals_unwatch (request, call_sender (call));
  if (!holders_leave (request, call_sender (call)) || request->state != REQUEST_PENDING ||
      request_move (request, REQUEST_WITHDRAWN, NULL, &error))
    {
      call_return (call, NULL);
      return;
    }
  /* It has not left, and may try again. */
  holders_add (request, call_sender (call));
  call_fail (call, error);
}

void
handle_withdraw (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GError) error = NULL;

  if (request->state == REQUEST_WITHDRAWN ||
      request_move (request, REQUEST_WITHDRAWN, NULL, &error))
    call_return (call, NULL);
  else
    call_fail (call, error);
}

/* --- Introspect --- */

void
handle_introspect (Broker *broker, Call *call, Request *request)
{
  static const GDBusInterfaceInfo *const at_object[] = {
    &us_org_undersign1_agent_interface,
    &us_org_undersign1_approver_interface,
    NULL,
  };
  static const GDBusInterfaceInfo *const at_request[] = {
    &us_org_undersign1_request_interface,
    NULL,
  };
  const GDBusInterfaceInfo *const *infos =
      request_id_of (call_path (call)) != NULL ? at_request : at_object;
  g_autoptr (GString) xml = g_string_new ("<node>\n");

  for (guint i = 0; infos[i] != NULL; i++)
    g_dbus_interface_info_generate_xml ((GDBusInterfaceInfo *) infos[i], 2, xml);
  g_string_append (xml, "</node>\n");
  call_return (call, g_variant_new ("(s)", xml->str));
}
