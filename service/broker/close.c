/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ledger's row of a request that was closed, so that it is told in time that nothing may run; where
 * it does not answer, until it does.  It changes no state.
 */
#include "service/broker/close.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/wire.h"

#define CLOSE_RETRY 30 /* seconds */

static void
close_due_again (gpointer data)
{
  Broker *broker = data;

  broker->close_timer = NULL;
  close_due (broker);
}

static void
close_later (Broker *broker)
{
  if (broker->close_timer == NULL)
    broker->close_timer =
        expiry_add_seconds (broker->expiry, CLOSE_RETRY, close_due_again, broker);
}

static void
close_answered (const Handover *reply, const GError *error, gpointer data)
{
  g_autoptr (Request) request = data;
  Broker *broker = broker_of (request);
  g_autoptr (GError) local = NULL;

  if (error != NULL && executor_error_is_silence (error))
    {
      close_later (broker);
      return;
    }
  /* What is closed already is what was wanted; anything else won't change by asking again. */
  if (error != NULL && !us_error_has_reason (error, US_REASON_CLOSED))
    g_warning ("request %s is %s, but the ledger says: %s", request->id,
               request_state_name (request->state), error->message);

  request->close_is_due = FALSE;
  if (!request_persist (request, &local))
    close_later (broker);
}

void
close_send (Broker *broker, Request *request)
{
  g_autoptr (GVariant) record = g_variant_get_child_value (request->prepared, 2);

  executor_call (broker->executor, HANDOVER_CLOSE, EXECUTOR_NO_AGENT,
                 g_variant_new ("(s@aysss)", request->id, record,
                                request_state_name (request->state), request->by,
                                request->reason),
                 NULL, 0, WIRE_EMPTY, NULL, close_answered, request_ref (request));
}

void
close_due (Broker *broker)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) ids = queue_close_due (broker->queue, &error);

  if (ids == NULL)
    {
      g_warning ("%s", error->message);
      close_later (broker);
      return;
    }
  for (guint i = 0; ids[i] != NULL; i++)
    {
      g_autoptr (Request) request =
          queue_load (broker->queue, ids[i], &broker->request_hooks, NULL);

      if (request != NULL)
        close_send (broker, request);
      else
        close_later (broker);
    }
}
