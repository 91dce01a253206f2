/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Agent.Submit: from the agent's words to a request.  Each step is cheaper than the next: limits,
 * then the files' seals, then the executor, then the disk.  Until the last one nothing is kept, and
 * a refusal leaves nothing behind.  What exists needs no room: a repeat, or a retry with a key, is
 * never refused for want of it.  Anything else has its place before one of its files is read.
 */
#include "service/broker/faces.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/wire.h"
#include "service/broker/hand-over.h"
#include "service/broker/holders.h"
#include "service/broker/key.h"
#include "service/broker/life.h"
#include "service/broker/prepare.h"
#include "service/broker/same.h"

#include <string.h>

/* --- its place --- */

static gboolean
take_place (Submission *submission, GError **error)
{
  Broker *broker = submission->broker;
  const GArray *agents = catalog_agent_uids (broker->catalog);
  guint64 bytes = submission->files->bytes;

  /* Without files, too: the request itself is kept, here and in the ledger. */
  if (!files_have_room (broker->spool, bytes, limits_config (broker->limits)->disk_reserve, error))
    return FALSE;
  submission->has_place =
      limits_reserve (broker->limits, submission->uid, bytes,
                      (const uid_t *) (const void *) agents->data, agents->len, error);
  return submission->has_place;
}

/* find_place: for what waits already none is needed, which prepared() sees by its record. */
static gboolean
find_place (Submission *submission, GError **error)
{
  g_autoptr (GError) local = NULL;

  if (take_place (submission, &local) || same_seems_there (submission))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

/* An error of the ledger, the executor or the disk, where another call with the key was quicker:
 * what that call made is the answer. */
static void
submission_lose (Submission *submission, const GError *error)
{
  if (!same_give_by_key (submission))
    submission_fail (submission, error);
}

/* --- the last step --- */

/* Closes what is superseded; it may have moved since Submit() was called. */
static gboolean
supersede (const Submission *submission, GError **error)
{
  g_autoptr (Request) old = NULL;
  const RequestChange change = { .successor = submission->id };

  if (!submission_find_superseded (submission, &old, error))
    return FALSE;
  return old == NULL || old->state != REQUEST_PENDING ||
         request_move (old, REQUEST_SUPERSEDED, &change, error);
}

static void
keep (Submission *submission)
{
  Broker *broker = submission->broker;
  Request *request = submission->request;
  Call *call = submission->call;
  g_autofree char *path = request_path (request);
  g_autoptr (GError) error = NULL;
  RequestState to = submission->asks ? REQUEST_PENDING : REQUEST_APPROVED;

  queue_trim (broker->queue, request->uid, QUEUE_KEEP_MAX);
  request->created = clock_wall ();
  request->maker = g_strdup (call_sender (call));
  holders_begin (request, call_sender (call));
  if (submission->key != NULL)
    {
      g_free (request->key);
      g_free (request->key_digest);
      request->key = g_strdup (submission->key);
      request->key_digest = g_strdup (submission->key_digest);
      request->key_names_id = TRUE;
    }
  if (submission->supersedes != NULL)
    {
      g_free (request->supersedes);
      request->supersedes = g_strdup (submission->supersedes);
    }

  /* From here on place and copies are the request's. */
  request->files = files_ref (submission->files);
  submission->has_place = FALSE;
  submission->is_spooled = FALSE;
  broker_add_request (broker, request);
  if (!submission->asks)
    life_wait (request, call);
  if (!request_move (request, to, NULL, &error))
    {
      if (submission->asks)
        call_fail (call, error);
      else
        life_answer (request, error);
      life_end (broker, request);
    }
  else if (submission->asks)
    call_return (call, g_variant_new ("(os)", path, request_state_name (request->state)));
  submission_free (submission);
}

/* The last look, with what it would supersede, of which is known now what became. */
static void
finish_known (Request *old, gpointer data)
{
  Submission *submission = data;
  Request *same = same_find (submission);
  g_autoptr (GError) error = NULL;

  /* Another call may have been quicker. */
  if (same_give_by_key (submission))
    return;
  if (same != NULL)
    {
      if (same_join (submission, same, &error))
        submission_give (submission, same);
      else
        submission_fail (submission, error);
      return;
    }
  /* Nothing is begun for a caller that has left: it learns of no request, and a retry makes its own. */
  if (!broker_check_caller (submission->broker, submission->call, &error) ||
      !supersede (submission, &error))
    {
      submission_fail (submission, error);
      return;
    }
  keep (submission);
}

static void
finish (Submission *submission)
{
  g_autoptr (Request) old = NULL;

  if (submission_find_superseded (submission, &old, NULL) && old != NULL)
    hand_over_when_known (submission->broker, old, finish_known, submission);
  else
    finish_known (NULL, submission);
}

/* --- the executor and the disk --- */

static void
spooled (const FilesDone *done, const GError *error, gpointer data)
{
  Submission *submission = data;

  if (error != NULL)
    {
      submission_lose (submission, error);
      return;
    }
  submission->is_spooled = TRUE;
  finish (submission);
}

static void
prepared (const Handover *reply, const GError *error, gpointer data)
{
  Submission *submission = data;
  Broker *broker = submission->broker;
  g_autoptr (GError) local = NULL;

  if (error != NULL)
    {
      submission_lose (submission, error);
      return;
    }
  submission->request = request_new (submission->id, submission->uid, &broker->request_hooks);
  if (!prepare_take (submission->request, submission->raw, reply, &submission->asks, &local) ||
      !(same_find (submission) != NULL || submission->has_place ||
        take_place (submission, &local)))
    submission_fail (submission, local);
  else if (submission->files->n == 0 || same_find (submission) != NULL)
    finish (submission);
  else
    {
      /* A call with this key that came to nothing may have left copies that could not be removed. */
      if (!g_hash_table_contains (broker->requests, submission->id))
        files_drop (broker->spool, submission->id);
      files_spool (submission->files, submission->uid, broker->spool, submission->id, spooled,
                   submission);
    }
}

/* The digest of what is superseded goes into the statement; it is the queue's own word. */
static gboolean
digest_of_superseded (const Submission *submission, char **out_digest, GError **error)
{
  g_autoptr (Request) old = NULL;

  if (!submission_find_superseded (submission, &old, error))
    return FALSE;
  *out_digest = old != NULL ? digest_to_string (record_digest (old->record)) : g_strdup ("");
  return TRUE;
}

static void
prepare (Submission *submission)
{
  g_autofree char *digest = NULL;
  g_autoptr (GError) error = NULL;

  if (!digest_of_superseded (submission, &digest, &error))
    {
      submission_fail (submission, error);
      return;
    }
  submission->raw = g_variant_ref_sink (
      g_variant_new ("(sus@(ssss)s@a(sv)s(ss))", submission->id, (guint32) submission->uid,
                     submission->part, submission->run, submission->action, submission->arguments,
                     submission->claim,
                     submission->supersedes != NULL ? submission->supersedes : "", digest));
  if (prepare_refused (submission->broker->catalog, submission->raw, submission->files, &error))
    {
      submission_lose (submission, error);
      return;
    }
  prepare_send (submission->broker->executor, submission->broker->catalog, submission->raw,
                submission->files, prepared, submission);
}

/* --- with a key --- */

static void
key_asked (const Handover *reply, const GError *error, gpointer data)
{
  Submission *submission = data;
  const char *state = NULL;
  g_autoptr (GError) local = NULL;

  if (error != NULL)
    {
      submission_fail (submission, error);
      return;
    }
  g_variant_get (reply->body, "(&s&s&s&s&s)", &state, NULL, NULL, NULL, NULL);
  if (strcmp (state, "none") == 0)
    {
      prepare (submission);
      return;
    }
  us_error_set (&local, US_ERROR_INVALID_ARGUMENT, US_REASON_KEY_REUSED,
                "idempotency-key was used before, and what became of it is kept in the ledger "
                "alone: %s",
                state);
  submission_lose (submission, local);
}

static void
keyed_go_on (Submission *submission, const guint8 (*digests)[32])
{
  g_autoptr (GError) error = NULL;

  submission->key_digest = key_digest (submission->action, submission->supersedes,
                                       submission->arguments, digests, submission->files->n, &error);
  if (submission->key_digest != NULL && same_give_by_key (submission))
    return;
  /* It may have been known when its turn came, and be forgotten now. */
  if (submission->key_digest == NULL ||
      (!submission->has_place && !find_place (submission, &error)))
    {
      submission_fail (submission, error);
      return;
    }
  executor_call (submission->broker->executor, HANDOVER_QUERY, EXECUTOR_NO_AGENT,
                 g_variant_new (WIRE_QUERY, submission->id), NULL, 0, WIRE_QUERY_REPLY, NULL,
                 key_asked, submission);
}

static void
digested (const FilesDone *done, const GError *error, gpointer data)
{
  if (error != NULL)
    submission_fail (data, error);
  else
    keyed_go_on (data, done->digests);
}

/* Its turn has come.  Files of what nobody knows yet are read once there is room for it. */
static void
keyed_begin (gpointer data)
{
  Submission *submission = data;
  Files *files = submission->files;
  g_autofree char *id = NULL;
  g_autofree char *digest = NULL;
  g_autoptr (GError) error = NULL;
  gboolean known = FALSE;

  if (submission->broker->is_ending)
    us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "the service is ending");
  else
    known = queue_find_key (submission->broker->queue, submission->uid, submission->key, &id,
                            &digest, &error);

  if (error != NULL || (!known && !find_place (submission, &error)))
    submission_fail (submission, error);
  else if (files->n == 0)
    keyed_go_on (submission, NULL);
  else
    files_digest (files, submission->uid, digested, submission);
}

/* --- the call --- */

static char *
turn_of (const Submission *submission)
{
  return g_strdup_printf ("%u %s", (guint) submission->uid, submission->key);
}

void
handle_submit (Broker *broker, Call *call, Request *request)
{
  Submission *submission = submission_new (broker, call);
  g_autoptr (GError) error = NULL;

  if (!submission_read (submission, &error) ||
      (submission->key == NULL && !find_place (submission, &error)))
    {
      submission_fail (submission, error);
      return;
    }

  if (submission->key == NULL)
    {
      submission->id = random_id ();
      prepare (submission);
      return;
    }
  submission->id = key_request_id (broker->id_key, submission->uid, submission->key);
  submission->turn = turn_of (submission);
  if (turns_take (broker->turns, submission->turn, keyed_begin, submission))
    keyed_begin (submission);
}
