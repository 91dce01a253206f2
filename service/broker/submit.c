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
#include "service/broker/key.h"
#include "service/broker/life.h"
#include "service/broker/options.h"
#include "service/broker/prepare.h"

#include <string.h>

#define ARGUMENTS_MAX (1024 * 1024) /* bytes; the record has narrower limits of its own */

typedef struct
{
  Broker *broker;
  Call *call;
  uid_t uid;
  char *id;
  char *key;        /* NULL for none */
  char *key_digest; /* NULL for none */
  char *turn;       /* of broker->turns; NULL where it has none */
  char *supersedes; /* request id, NULL for none */
  char *claim;
  char *action;
  GVariant *run;       /* (ssss) of WIRE_REQUEST */
  char *part;
  GVariant *arguments; /* a(sv) */
  GVariant *raw;       /* WIRE_REQUEST */
  Files *files;
  gboolean has_place;  /* of limits_reserve() */
  gboolean is_spooled;
  gboolean asks;
  Request *request;    /* what was prepared */
} Submission;

static void keyed_begin (Submission *submission);
static gboolean take_place (Submission *submission, GError **error);

/* --- one at a time with one key --- */

/* turn_take: FALSE where another call with the key is under way: keyed_begin() is called when that
 * has ended. */
static gboolean
turn_take (Submission *submission)
{
  GHashTable *turns = submission->broker->turns;
  GQueue *queue = NULL;

  submission->turn = g_strdup_printf ("%u %s", (guint) submission->uid, submission->key);
  queue = g_hash_table_lookup (turns, submission->turn);
  if (queue == NULL)
    {
      queue = g_queue_new ();
      g_hash_table_insert (turns, g_strdup (submission->turn), queue);
    }
  g_queue_push_tail (queue, submission);
  return queue->length == 1;
}

static void
turn_leave (GHashTable *turns, Submission *submission)
{
  GQueue *queue = g_hash_table_lookup (turns, submission->turn);
  gboolean was_first = g_queue_peek_head (queue) == submission;

  g_queue_remove (queue, submission);
  if (g_queue_is_empty (queue))
    g_hash_table_remove (turns, submission->turn);
  else if (was_first)
    keyed_begin (g_queue_peek_head (queue));
}

static void
submission_free (Submission *submission)
{
  Broker *broker = submission->broker;

  if (submission->has_place)
    limits_release (broker->limits, submission->uid, submission->files->bytes);
  if (submission->is_spooled)
    files_drop (broker->spool, submission->id);
  if (submission->turn != NULL)
    turn_leave (broker->turns, submission);
  g_free (submission->turn);
  g_free (submission->id);
  g_free (submission->key);
  g_free (submission->key_digest);
  g_free (submission->supersedes);
  g_free (submission->claim);
  g_free (submission->action);
  g_free (submission->part);
  g_clear_pointer (&submission->run, g_variant_unref);
  g_clear_pointer (&submission->arguments, g_variant_unref);
  g_clear_pointer (&submission->raw, g_variant_unref);
  files_unref (submission->files);
  request_unref (submission->request);
  g_free (submission);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Submission, submission_free)

static void
submission_fail (Submission *submission, const GError *error)
{
  call_fail (submission->call, error);
  submission_free (submission);
}

/* Answers with a request that was there already. */
static void
submission_give (Submission *submission, const Request *request)
{
  g_autofree char *path = request_path (request);

  call_return (submission->call,
               g_variant_new ("(os)", path, request_state_name (request->state)));
  submission_free (submission);
}

/* --- a request that is there already --- */

/* Whether it is one that waits, for the same run and part.  Two keys are two wishes. */
static gboolean
may_be_same (const Submission *submission, const Request *other)
{
  const char *run = NULL;

  g_variant_get_child (submission->run, 0, "&s", &run);
  return other->uid == submission->uid && other->state == REQUEST_PENDING &&
         strcmp (record_run_id (other->record), run) == 0 &&
         strcmp (record_agent_part (other->record), submission->part) == 0 &&
         g_strcmp0 (other->id, submission->supersedes) != 0 &&
         (submission->key == NULL || other->key[0] == '\0');
}

/* A pending one of the same intent, too. */
static Request *
find_same (const Submission *submission)
{
  const Record *record = submission->request->record;
  GHashTableIter iter;
  gpointer value = NULL;

  g_hash_table_iter_init (&iter, submission->broker->requests);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      Request *other = value;

      if (may_be_same (submission, other) &&
          digest_equal (record_intent (other->record), record_intent (record)))
        return other;
    }
  return NULL;
}

/* As far as words go, not files: whether find_same() may find one. */
static gboolean
seems_same (const Submission *submission)
{
  static const guint8 unread[HANDOVER_MAX_FILES][32];
  g_autofree char *call = key_digest (submission->action, NULL, submission->arguments, unread,
                                      submission->files->n, NULL);
  GHashTableIter iter;
  gpointer value = NULL;

  g_hash_table_iter_init (&iter, submission->broker->requests);
  while (call != NULL && g_hash_table_iter_next (&iter, NULL, &value))
    {
      const Request *other = value;
      g_autoptr (GVariant) raw = request_raw (other);
      g_autoptr (GVariant) arguments = g_variant_get_child_value (raw, 5);
      g_autofree char *others = NULL;

      if (!may_be_same (submission, other) ||
          strcmp (record_action_id (other->record), submission->action) != 0)
        continue;
      others = key_digest (submission->action, NULL, arguments, unread, HANDOVER_MAX_FILES, NULL);
      if (g_strcmp0 (others, call) == 0)
        return TRUE;
    }
  return FALSE;
}

/* Who asks for another's place has it or an error: two requests that wait are not made one. */
static gboolean
check_same (const Submission *submission, const Request *same, GError **error)
{
  if (submission->supersedes == NULL || g_strcmp0 (same->supersedes, submission->supersedes) == 0)
    return TRUE;
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                       "supersedes: the same action waits already, as %s: withdraw one of the two",
                       same->id);
}

/* The same wish, now with a key: it is remembered with the request. */
static gboolean
adopt_key (const Submission *submission, Request *same, GError **error)
{
  if (submission->key == NULL)
    return TRUE;
  if (queue_adopted_keys (submission->broker->queue, submission->uid) >= QUEUE_ADOPTED_MAX)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "%d keys of this agent were given to requests that waited already: the "
                         "same action waits and can be asked for without a key",
                         QUEUE_ADOPTED_MAX);
  g_free (same->key);
  g_free (same->key_digest);
  same->key = g_strdup (submission->key);
  same->key_digest = g_strdup (submission->key_digest);
  same->key_names_id = FALSE;
  if (request_persist (same, error))
    return TRUE;
  same->key[0] = '\0';
  return FALSE;
}

/* Gives what the key stands for, at once or when it is known whether something takes its place: the
 * key is that one's then. */
static void
give_known (Submission *submission, Request *known)
{
  if (known->state == REQUEST_REFUSED &&
      g_hash_table_contains (submission->broker->requests, known->id))
    {
      life_wait (known, submission->call);
      submission_free (submission);
    }
  else
    submission_give (submission, known);
}

static void
submission_fail_used (Submission *submission, const char *how)
{
  g_autoptr (GError) error = NULL;

  us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_KEY_REUSED,
                "idempotency-key was used %s", how);
  submission_fail (submission, error);
}

/* Ends the submission with the request that its key already stands for, or because that cannot be
 * told; FALSE: there is none. */
static gboolean
give_by_key (Submission *submission)
{
  Broker *broker = submission->broker;
  g_autofree char *id = NULL;
  g_autofree char *digest = NULL;
  g_autoptr (Request) known = NULL;
  g_autoptr (GError) error = NULL;

  if (submission->key == NULL ||
      (!queue_find_key (broker->queue, submission->uid, submission->key, &id, &digest, &error) &&
       error == NULL))
    return FALSE;
  if (error != NULL)
    {
      submission_fail (submission, error);
      return TRUE;
    }

  known = broker_request (broker, id, &error);
  if (known == NULL && us_error_has_reason (error, US_REASON_UNREACHABLE))
    submission_fail (submission, error);
  else if (strcmp (digest, submission->key_digest) != 0)
    submission_fail_used (submission, "for another action or other arguments");
  else if (known == NULL)
    submission_fail_used (submission, "before, and what became of it is not kept here any more");
  else
    give_known (submission, known);
  return TRUE;
}

/* An error of the ledger, the executor or the disk, where another call with the key was quicker:
 * what that call made is the answer. */
static void
submission_lose (Submission *submission, const GError *error)
{
  if (!give_by_key (submission))
    submission_fail (submission, error);
}

/* --- the last step --- */

static gboolean
check_may_be_superseded (const Request *old, GError **error)
{
  if (old->state == REQUEST_PENDING || old->state == REQUEST_REFUSED ||
      request_state_was_closed (old->state))
    return TRUE;
  return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_TOO_LATE,
                       "what it would supersede is %s", request_state_name (old->state));
}

/* Closes what is superseded; it may have moved since Submit() was called. */
static gboolean
supersede (const Submission *submission, GError **error)
{
  Broker *broker = submission->broker;
  g_autoptr (Request) old = NULL;

  if (submission->supersedes == NULL)
    return TRUE;
  old = broker_request (broker, submission->supersedes, error);
  if (old == NULL)
    return FALSE;
  if (old->state == REQUEST_PENDING)
    {
      RequestChange change = { .successor = submission->id };

      return request_move (old, REQUEST_SUPERSEDED, &change, error);
    }
  return check_may_be_superseded (old, error);
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

static void
finish (Submission *submission)
{
  Request *same = find_same (submission);
  g_autoptr (GError) error = NULL;

  /* Another call may have been quicker. */
  if (give_by_key (submission))
    return;
  if (same != NULL)
    {
      if (check_same (submission, same, &error) && adopt_key (submission, same, &error))
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
      !(find_same (submission) != NULL || submission->has_place ||
        take_place (submission, &local)))
    submission_fail (submission, local);
  else if (submission->files->n == 0 || find_same (submission) != NULL)
    finish (submission);
  else
    files_spool (submission->files, submission->uid, broker->spool, submission->id, spooled,
                 submission);
}

/* The digest of what is superseded goes into the statement; it is the queue's own word. */
static gboolean
digest_of_superseded (const Submission *submission, char **out_digest, GError **error)
{
  g_autoptr (Request) old = NULL;

  if (submission->supersedes == NULL)
    {
      *out_digest = g_strdup ("");
      return TRUE;
    }
  old = broker_request (submission->broker, submission->supersedes, error);
  if (old == NULL)
    return FALSE;
  *out_digest = digest_to_string (record_digest (old->record));
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

  if (take_place (submission, &local) || seems_same (submission))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

static void
keyed_go_on (Submission *submission, const guint8 (*digests)[32])
{
  g_autoptr (GError) error = NULL;

  submission->key_digest = key_digest (submission->action, submission->supersedes,
                                       submission->arguments, digests, submission->files->n, &error);
  if (submission->key_digest != NULL && give_by_key (submission))
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
keyed_begin (Submission *submission)
{
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

/* --- reading the call --- */

static gboolean
read_options (Submission *submission, GVariant *dictionary, GError **error)
{
  g_autoptr (GVariant) claim = NULL;
  g_autoptr (GVariant) key = NULL;
  g_autoptr (GVariant) supersedes = NULL;
  const Option options[] = {
    { "claim", "s", FALSE, &claim },
    { "idempotency-key", "s", FALSE, &key },
    { "supersedes", "o", FALSE, &supersedes },
    { NULL, NULL, FALSE, NULL },
  };

  if (!options_read (dictionary, options, error))
    return FALSE;
  submission->claim = claim != NULL ? g_variant_dup_string (claim, NULL) : g_strdup ("");
  if (strlen (submission->claim) > RECORD_MAX_CLAIM)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "claim has more than %d bytes", RECORD_MAX_CLAIM);
  if (key != NULL)
    {
      if (!key_check (g_variant_get_string (key, NULL), error))
        return FALSE;
      submission->key = g_variant_dup_string (key, NULL);
    }
  if (supersedes != NULL)
    {
      submission->supersedes = g_strdup (request_id_of (g_variant_get_string (supersedes, NULL)));
      if (submission->supersedes == NULL)
        return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                             "supersedes is not a request of this agent");
    }
  return TRUE;
}

static gboolean
check_superseded (const Submission *submission, GError **error)
{
  g_autoptr (Request) old = NULL;

  if (submission->supersedes == NULL)
    return TRUE;
  old = broker_request (submission->broker, submission->supersedes, NULL);
  if (old == NULL || old->uid != submission->uid)
    return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                         "supersedes is not a request of this agent");
  return check_may_be_superseded (old, error);
}

/* As an array, in which a name that stands twice stays there for the executor to refuse. */
static GVariant *
arguments_array (GVariant *dictionary)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(sv)"));
  for (gsize i = 0; i < g_variant_n_children (dictionary); i++)
    {
      g_autoptr (GVariant) value = NULL;
      const char *name = NULL;

      g_variant_get_child (dictionary, i, "{&sv}", &name, &value);
      g_variant_builder_add (&builder, "(sv)", name, value);
    }
  return g_variant_ref_sink (g_variant_builder_end (&builder));
}

static gboolean
read_run (Submission *submission, const char *id, GError **error)
{
  const Run *run =
      runs_use (submission->broker->runs, submission->uid, id, clock_wall (), error);
  g_autofree char *uid = NULL;

  if (run == NULL)
    return FALSE;
  uid = run->initiator[0] != '\0' ? g_strdup_printf ("%u", (guint) run->initiator_uid)
                                  : g_strdup ("");
  submission->part = g_strdup (run->part);
  submission->run = g_variant_ref_sink (
      g_variant_new ("(ssss)", run->id, run->label, run->initiator, uid));
  return TRUE;
}

static gboolean
check_limits (Submission *submission, GError **error)
{
  Broker *broker = submission->broker;
  guint64 now = clock_boottime ();

  if (limits_paused (broker->limits, submission->uid, now, NULL))
    return us_error_set (error, US_ERROR_PAUSED, US_REASON_PAUSED,
                         "requests of this agent are not taken for a while");
  return limits_submit (broker->limits, submission->uid, now, error);
}

static gboolean
read_call (Submission *submission, GError **error)
{
  GVariant *body = call_body (submission->call);
  g_autoptr (GVariant) arguments = g_variant_get_child_value (body, 2);
  g_autoptr (GVariant) options = g_variant_get_child_value (body, 3);
  const char *run = NULL;

  if (!check_limits (submission, error))
    return FALSE;
  if (g_variant_get_size (arguments) > ARGUMENTS_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the arguments have more than %d bytes", ARGUMENTS_MAX);

  g_variant_get_child (body, 0, "&s", &run);
  g_variant_get_child (body, 1, "s", &submission->action);
  if (!read_options (submission, options, error) || !read_run (submission, run, error) ||
      !check_superseded (submission, error))
    return FALSE;
  submission->arguments = arguments_array (arguments);
  submission->files = files_new_steal (call_fds (submission->call), error);
  return submission->files != NULL &&
         (submission->key != NULL || find_place (submission, error));
}

void
handle_submit (Broker *broker, Call *call, Request *request)
{
  Submission *submission = g_new0 (Submission, 1);
  g_autoptr (GError) error = NULL;

  submission->broker = broker;
  submission->call = call;
  submission->uid = call_uid (call);
  if (!read_call (submission, &error))
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
  if (turn_take (submission))
    keyed_begin (submission);
}
