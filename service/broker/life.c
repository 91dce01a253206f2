/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Acting on a move, after it was kept: the deadline, signals, the hand-over, the ledger's row of a
 * closed request.  It must never change a state but by request_move().
 */
#include "service/broker/life.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"

#include <string.h>

#define CLOSE_RETRY 30 /* seconds */
#define EXPIRE_RETRY 5

/* --- the deadline --- */

static void
deadline_passed (gpointer data)
{
  Request *request = data;
  Broker *broker = broker_of (request);
  g_autoptr (GError) error = NULL;

  request->deadline_timer = NULL;
  if (request_move (request, REQUEST_EXPIRED, NULL, &error))
    return;
  /* It can't be kept; whoever approves meanwhile is refused by the executor. */
  g_warning ("request %s: %s", request->id, error->message);
  request->deadline_timer =
      expiry_add_seconds (broker->expiry, EXPIRE_RETRY, deadline_passed, request);
}

void
life_stop (Broker *broker, Request *request)
{
  if (request->deadline_timer != NULL)
    expiry_cancel (broker->expiry, request->deadline_timer);
  if (request->retry_timer != NULL)
    expiry_cancel (broker->expiry, request->retry_timer);
  request->deadline_timer = NULL;
  request->retry_timer = NULL;
}

void
life_begin (Broker *broker, Request *request)
{
  request->is_ready = TRUE;
  life_stop (broker, request);
  request->deadline_timer =
      expiry_add (broker->expiry, request->deadline, deadline_passed, request);
  signals_card_added (broker->signals, request);
  cards_settled (broker);
}

/* --- those that wait --- */

void
life_wait (Request *request, Call *call)
{
  g_ptr_array_add (request->waiting, call);
}

static void
answer_state (Request *request, Call *call)
{
  g_autofree char *path = request_path (request);
  const char *state = request_state_name (request->state);

  if (strcmp (call_member (call), "Submit") == 0)
    call_return (call, g_variant_new ("(os)", path, state));
  else
    call_return (call, g_variant_new ("(s)", state));
}

void
life_answer (Request *request, const GError *error)
{
  g_autoptr (GPtrArray) waiting = g_steal_pointer (&request->waiting);

  request->waiting = g_ptr_array_new ();
  for (guint i = 0; i < waiting->len; i++)
    {
      if (error != NULL)
        call_fail (waiting->pdata[i], error);
      else
        answer_state (request, waiting->pdata[i]);
    }
}

/* --- the ledger's row --- */

static void
close_due_again (gpointer data)
{
  Broker *broker = data;

  broker->close_timer = NULL;
  life_close_due (broker);
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

static void
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
life_close_due (Broker *broker)
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

/* --- the moves --- */

void
life_end (Broker *broker, Request *request)
{
  life_stop (broker, request);
  if (!g_hash_table_contains (broker->requests, request->id))
    return;

  if (request->files != NULL)
    {
      if (request->files->n > 0)
        files_drop (broker->spool, request->id);
      limits_release (broker->limits, request->uid, request->files->bytes);
      g_clear_pointer (&request->files, files_unref);
    }
  g_ptr_array_set_size (request->statements, 0);
  g_hash_table_remove (broker->requests, request->id);
}

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
 * ledger had the request closed: then somebody has denied or withdrawn it, and that stands. */
static gboolean
life_has_successor (const Request *request, RequestState from)
{
  return from == REQUEST_APPROVED && request->state == REQUEST_REFUSED && request->needed > 0 &&
         !g_str_has_prefix (request->reason, US_REASON_CLOSED ":");
}

void
life_moved (Request *request, RequestState from, gpointer data)
{
  Broker *broker = data;
  g_autoptr (Request) held = request_ref (request);
  gboolean has_successor = life_has_successor (request, from);

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
  if (has_successor)
    successor_begin (broker, request);
  else if (request_state_has_ended (request->state))
    life_end (broker, request);
}
