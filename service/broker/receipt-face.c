/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * org.undersign1.Approver.GetReceipt: passes on what the executor has written and signed.  To those
 * only who were asked, also after the request has ended.
 */
#include "service/broker/faces.h"

#include "service/base/wire.h"

static void
received (const Handover *reply, const GError *error, gpointer data)
{
  Call *call = data;
  g_autoptr (GVariant) receipt = NULL;

  if (error != NULL)
    {
      call_fail (call, error);
      return;
    }
  receipt = g_variant_get_child_value (reply->body, 0);
  call_return (call, g_variant_new ("(@ay)", receipt));
}

void
handle_get_receipt (Broker *broker, Call *call, Request *request)
{
  GVariant *record =
      g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, record_bytes (request->record), TRUE);

  executor_call (broker->executor, HANDOVER_RECEIPT, call_uid (call),
                 g_variant_new ("(s@ay)", request->id, record), NULL, 0, WIRE_RECEIPT_REPLY, NULL,
                 received, call);
}
