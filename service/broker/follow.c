/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What follows from each move of a request, once it is kept: cards come and go, the executor and
 * the ledger are told, what ended is forgotten.  It must never move a request itself.
 */
#include "service/broker/follow.h"

#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/broker/cards.h"
#include "service/broker/close.h"
#include "service/broker/hand-over.h"
#include "service/broker/life.h"
#include "service/broker/successor.h"

static void
pause_after_denial (Broker *broker, const Request *request)
{
  guint64 now = clock_boottime ();
  guint64 until = 0;
  g_autoptr (GError) error = NULL;

  if (!limits_denied (broker->limits, request->uid, now, &until))
    return;
  g_message ("agent %s is paused after denials", record_agent_name (request->record));
  if (!queue_save_pause (broker->queue, request->uid, PAUSE_BY_DENIALS,
                         clock_wall () + (gint64) ((until - now) / G_USEC_PER_SEC), &error))
    g_warning ("the pause will not outlive a restart: %s", error->message);
}

/* A check at the execution failed: the person is shown what changed and asked anew.  Not where the
 * ledger had the request closed: then somebody has denied or withdrawn it, and that stands; and not
 * where its files can't be read: without them it would be another wish. */
static gboolean
has_successor (const Request *request, RequestState from)
{
  return from == REQUEST_APPROVED && request->state == REQUEST_REFUSED && request->needed > 0 &&
         !g_str_has_prefix (request->reason, US_REASON_CLOSED ":") && !request->files->is_stored;
}

void
follow_move (Request *request, RequestState from, gpointer data)
{
  Broker *broker = data;
  g_autoptr (Request) held = request_ref (request);
  gboolean succeeds = has_successor (request, from);

  if (from == REQUEST_PENDING)
    {
      life_stop (broker, request);
      signals_card_removed (broker->signals, request);
      cards_settled (broker);
    }
  signals_changed (broker->signals, request);

  if (request->state == REQUEST_PENDING)
    life_begin (broker, request);
  else if (request->state == REQUEST_APPROVED)
    hand_over (broker, request);
  else if (request_state_was_closed (request->state))
    close_send (broker, request);

  if (request->state == REQUEST_DENIED)
    pause_after_denial (broker, request);
  if (succeeds)
    successor_begin (broker, request);
  else if (request_state_has_ended (request->state))
    life_end (broker, request);
}
