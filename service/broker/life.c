/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is held for a request as long as it has not ended: its deadline, its place and files, and the
 * calls that wait for it.
 */
#include "service/broker/life.h"

#include "service/broker/cards.h"

#include <string.h>

#define EXPIRE_RETRY 5 /* seconds */

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

/* --- the end --- */

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
