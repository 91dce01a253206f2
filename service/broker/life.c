/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is held for a request as long as it has not ended: its deadline, its place and files, and the
 * calls that wait for it.
 */
#include "service/broker/life.h"

#include "service/base/clock.h"
#include "service/broker/cards.h"

#include <string.h>

#define RETRY_MAX 60 /* seconds */

/* Later each time. */
static guint
retry_seconds (Request *request)
{
  guint before = request->retries++;

  return MIN (1u << MIN (before, 6u), RETRY_MAX);
}

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
      expiry_add_seconds (broker->expiry, retry_seconds (request), deadline_passed, request);
}

gboolean
life_count_down (Broker *broker, Request *request)
{
  gint64 now = clock_wall ();
  gint64 expires = now;

  if (request->deadline_timer == NULL)
    {
      if (!clock_parse (request->expires, &expires) || expires < now)
        expires = now;
      request->deadline = clock_boottime () + (guint64) (expires - now) * G_USEC_PER_SEC;
      request->deadline_timer =
          expiry_add (broker->expiry, request->deadline, deadline_passed, request);
    }
  return request->deadline > clock_boottime ();
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
  request->retries = 0;
  life_stop (broker, request);
  request->deadline_timer =
      expiry_add (broker->expiry, request->deadline, deadline_passed, request);
  signals_card_added (broker->signals, request);
  cards_settled (broker);
}

/* --- trying again --- */

void
life_again (Broker *broker, Request *request, guint seconds, ExpiryCallback again)
{
  /* One that is only looked at (an unknown outcome) is not in the table and asks no more. */
  if (request->retry_timer == NULL && g_hash_table_contains (broker->requests, request->id))
    request->retry_timer = expiry_add_seconds (broker->expiry, seconds, again, request);
  cards_settled (broker);
}

void
life_retry (Broker *broker, Request *request, ExpiryCallback again)
{
  life_again (broker, request, retry_seconds (request), again);
}

gboolean
life_move (Broker *broker,
           Request *request,
           RequestState to,
           const RequestChange *change,
           ExpiryCallback again)
{
  g_autoptr (GError) error = NULL;

  if (request_move (request, to, change, &error))
    return TRUE;
  g_warning ("request %s: %s", request->id, error->message);
  life_retry (broker, request, again);
  return FALSE;
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

/* --- the end --- */

void
life_end (Broker *broker, Request *request)
{
  life_stop (broker, request);
  if (!g_hash_table_contains (broker->requests, request->id))
    return;

  if (request->files != NULL)
    {
      files_drop (broker->spool, request->id);
      limits_release (broker->limits, request->uid, request->files->bytes);
      g_clear_pointer (&request->files, files_unref);
    }
  g_ptr_array_set_size (request->statements, 0);
  g_hash_table_remove (broker->requests, request->id);
}
