/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From approved to an outcome.  Only the executor's word moves a request here: silence, a broken
 * connection and a reply that makes no sense are all followed by asking the ledger, and never by
 * assuming that nothing ran.
 */
#include "service/broker/hand-over.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"
#include "service/broker/cards.h"
#include "service/broker/life.h"
#include "service/broker/renew.h"

#include <string.h>

#define EXECUTING_POLL 2 /* seconds */

static void settle_due (gpointer data);

typedef struct
{
  Broker *broker;
  Request *request;
  gboolean is_consumed;
} HandOver;

static void
hand_over_free (HandOver *over)
{
  request_unref (over->request);
  g_free (over);
}

/* Moves, and where it can't be kept asks the ledger again later. */
static gboolean
move_or_settle (Broker *broker, Request *request, RequestState to, const RequestChange *change)
{
  return life_move (broker, request, to, change, settle_due);
}

/*
 * A pending request that is known to be past that: it was consumed and the queue lost what it last
 * knew, as it may where power fails, or a person's approval met a check that failed.
 */
static gboolean
catch_up (Broker *broker, Request *request)
{
  gboolean moved = FALSE;

  if (request->state != REQUEST_PENDING)
    return TRUE;
  request->is_handed = TRUE; /* not again */
  moved = move_or_settle (broker, request, REQUEST_APPROVED, NULL);
  request->is_handed = FALSE;
  return moved;
}

/* --- the outcome --- */

/* outcome_state: of a word of the executor; what is not known is unknown. */
static RequestState
outcome_state (const char *word)
{
  if (strcmp (word, "done") == 0)
    return REQUEST_DONE;
  if (strcmp (word, "failed") == 0)
    return REQUEST_FAILED;
  return REQUEST_UNKNOWN;
}

static void
take_consumed (Broker *broker, Request *request)
{
  request->retries = 0;
  move_or_settle (broker, request, REQUEST_EXECUTING, NULL);
  /* The approval is used up, and who gave it hears so even where it could not be kept here. */
  life_answer (request, NULL);
}

static void
take_outcome (
    Broker *broker, Request *request, const char *word, const char *by, const char *result)
{
  RequestChange change = { .by = by, .result = result };

  if (request->state == REQUEST_APPROVED)
    take_consumed (broker, request);
  if (request->state == REQUEST_EXECUTING ||
      (request->state == REQUEST_UNKNOWN && outcome_state (word) != REQUEST_UNKNOWN))
    move_or_settle (broker, request, outcome_state (word), &change);
}

void
hand_over_refuse (Broker *broker, Request *request, const GError *error)
{
  RequestChange change = { .reason = error->message };

  /* Who approved hears that it is refused, so that it is, also where that can't be kept at once. */
  if (!(catch_up (broker, request) && move_or_settle (broker, request, REQUEST_REFUSED, &change)) &&
      request->doubt == NULL)
    request->doubt = g_error_copy (error);
  life_answer (request, error);
}

/* --- the hand-over --- */

static void
take_error (Broker *broker, Request *request, const GError *error)
{
  if (executor_error_is_silence (error))
    {
      /* It goes on by itself: an error would say that nothing comes of it. */
      g_warning ("request %s could not be handed over yet: %s", request->id, error->message);
      life_answer (request, NULL);
      hand_over_settle_later (broker, request);
    }
  else if (us_error_has_reason (error, US_REASON_ALREADY_CONSUMED) ||
           us_error_has_reason (error, US_REASON_CLOSED))
    {
      /* Of this request, or of the one that it supersedes. */
      g_clear_error (&request->doubt);
      request->doubt = g_error_copy (error);
      hand_over_settle (broker, request);
    }
  else
    hand_over_refuse (broker, request, error);
}

static void
executed (const Handover *reply, const GError *error, gpointer data)
{
  HandOver *over = data;
  g_autoptr (Request) request = request_ref (over->request);
  Broker *broker = over->broker;
  const char *word = NULL;
  const char *result = NULL;

  if (error == NULL && !over->is_consumed)
    {
      g_variant_get (reply->body, "(&s)", &word);
      over->is_consumed = TRUE;
      if (strcmp (word, "consumed") == 0)
        take_consumed (broker, request);
      return;
    }

  request->is_handed = FALSE;
  if (error == NULL)
    {
      g_variant_get (reply->body, "(&s&s)", &word, &result);
      take_outcome (broker, request, word, NULL, result);
    }
  else if (over->is_consumed)
    hand_over_settle (broker, request);
  else
    take_error (broker, request, error);
  hand_over_free (over);
}

void
hand_over (Broker *broker, Request *request)
{
  HandOver *over = NULL;

  if (request->is_handed)
    return;
  request->is_handed = TRUE;
  over = g_new0 (HandOver, 1);
  over->broker = broker;
  over->request = request_ref (request);
  executor_call_module (
      broker->executor, HANDOVER_EXECUTE, request->uid, record_module (request->record),
      g_variant_new ("(@" WIRE_PREPARED ")", request->prepared), request->files->fds,
      request->files->n, WIRE_EXECUTE_CONSUMED, WIRE_EXECUTE_OUTCOME, executed, over);
}

/* --- asking the ledger --- */

static void
settle_due (gpointer data)
{
  Request *request = data;

  request->retry_timer = NULL;
  hand_over_settle (broker_of (request), request);
}

void
hand_over_settle_later (Broker *broker, Request *request)
{
  life_retry (broker, request, settle_due);
}

/* closed_state: of the ledger's word for why; a word that is not known refuses. */
static RequestState
closed_state (const char *why)
{
  RequestState state = REQUEST_REFUSED;

  if (!request_state_parse (why, &state) || !request_state_was_closed (state))
    return REQUEST_REFUSED;
  return state;
}

static void
take_closed (Broker *broker, Request *request, GVariant *body)
{
  RequestChange change = { .in_ledger = TRUE };
  const char *why = NULL;
  RequestState state = REQUEST_REFUSED;
  g_autoptr (GError) error = NULL;

  g_variant_get (body, "(&s&s&s&s&s)", NULL, &why, &change.by, &change.reason, NULL);
  state = closed_state (why);
  us_error_set (&error, US_ERROR_WRONG_STATE, US_REASON_CLOSED, "the ledger has it as %s", why);
  if (request->state == REQUEST_APPROVED && state != REQUEST_DENIED)
    hand_over_refuse (broker, request, error);
  else if (request->state == REQUEST_APPROVED || request->state == REQUEST_PENDING)
    move_or_settle (broker, request, state, &change);
  life_answer (request, error);
}

static void
go_on (Broker *broker, Request *request)
{
  if (request->state == REQUEST_APPROVED)
    hand_over (broker, request);
  else if (request->state == REQUEST_PENDING)
    renew_request (broker, request);
}

/* One that waits expires by its deadline; one that is approved can't run any more after it. */
static void
wait_for_files (Broker *broker, Request *request)
{
  g_autoptr (GError) late = NULL;
  gint64 expires = 0;

  us_error_set (&late, US_ERROR_REFUSED, US_REASON_DEADLINE_PASSED,
                "its files could not be read until its deadline");
  if (request->state == REQUEST_APPROVED &&
      (!clock_parse (request->expires, &expires) || expires <= clock_wall ()))
    hand_over_refuse (broker, request, late);
  else
    hand_over_settle_later (broker, request);
}

static void
files_loaded (const FilesDone *done, const GError *error, gpointer data)
{
  g_autoptr (Request) request = data;
  Broker *broker = broker_of (request);

  request->is_handed = FALSE;
  if (request_state_has_ended (request->state))
    return;
  if (done == NULL)
    {
      g_warning ("request %s: %s", request->id, error->message);
      wait_for_files (broker, request);
      return;
    }
  limits_release (broker->limits, request->uid, request->files->bytes);
  files_unref (request->files);
  request->files = files_ref (done->files);
  limits_take (broker->limits, request->uid, request->files->bytes);
  go_on (broker, request);
}

/* Without its files one would be refused, for another reason than there is: it waits for them, in
 * its state, as long as they can't be read, or until it ends. */
static void
go_on_with_files (Broker *broker, Request *request)
{
  if (!request->files->is_stored)
    go_on (broker, request);
  else if (request->state != REQUEST_PENDING || life_count_down (broker, request))
    {
      request->is_handed = TRUE;
      files_load (request->uid, broker->spool, request->id, files_loaded, request_ref (request));
    }
}

/* The ledger does not know it: it did not run and was not closed. */
static void
take_none (Broker *broker, Request *request)
{
  RequestChange change = { .result = "the ledger does not know of it" };

  if ((request->state == REQUEST_APPROVED || request->state == REQUEST_PENDING) &&
      request->doubt != NULL)
    hand_over_refuse (broker, request, request->doubt);
  else if (request->state == REQUEST_APPROVED || request->state == REQUEST_PENDING)
    go_on_with_files (broker, request);
  else if (request->state == REQUEST_EXECUTING)
    move_or_settle (broker, request, REQUEST_UNKNOWN, &change);
}

static void
take_row (Broker *broker, Request *request, GVariant *body)
{
  const char *state = NULL;
  const char *by = NULL;
  const char *result = NULL;

  g_variant_get (body, "(&s&s&s&s&s)", &state, NULL, &by, NULL, &result);
  /* Of any other word it stays doubtful until it is moved. */
  if (strcmp (state, "none") == 0 || strcmp (state, "closed") == 0)
    request->is_doubtful = FALSE;

  if (strcmp (state, "none") == 0)
    take_none (broker, request);
  else if (strcmp (state, "closed") == 0)
    take_closed (broker, request, body);
  else if (!catch_up (broker, request))
    return;
  else if (strcmp (state, "executing") == 0)
    {
      if (request->state == REQUEST_APPROVED)
        take_consumed (broker, request);
      life_again (broker, request, EXECUTING_POLL, settle_due);
    }
  else
    take_outcome (broker, request, state, by, result);
}

/* One of those that wait until it is known what became of the request. */
typedef struct
{
  HandOverKnown known;
  gpointer data;
} Asking;

static void
answer_asking (Request *request)
{
  g_autoptr (GPtrArray) asking = g_steal_pointer (&request->asking);

  request->asking = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < asking->len; i++)
    {
      const Asking *one = asking->pdata[i];

      one->known (request, one->data);
    }
}

static void
settled (const Handover *reply, const GError *error, gpointer data)
{
  g_autoptr (Request) request = data;
  Broker *broker = broker_of (request);

  request->is_handed = FALSE;
  if (error == NULL)
    take_row (broker, request, reply->body);
  else
    {
      life_answer (request, request->doubt);
      hand_over_settle_later (broker, request);
    }
  answer_asking (request);
}

void
hand_over_settle (Broker *broker, Request *request)
{
  if (request->is_handed)
    return;
  request->is_handed = TRUE;
  executor_call (broker->executor, HANDOVER_QUERY, EXECUTOR_NO_AGENT,
                 g_variant_new (WIRE_QUERY, request->id), NULL, 0, WIRE_QUERY_REPLY, NULL, settled,
                 request_ref (request));
}

void
hand_over_when_known (Broker *broker, Request *request, HandOverKnown known, gpointer data)
{
  Asking *asking = NULL;

  if (!request->is_doubtful || !g_hash_table_contains (broker->requests, request->id))
    {
      known (request, data);
      return;
    }
  asking = g_new0 (Asking, 1);
  asking->known = known;
  asking->data = data;
  g_ptr_array_add (request->asking, asking);
  hand_over_settle (broker, request);
}
