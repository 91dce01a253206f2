/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One wish is one request.  A call is given another's request only where it asks for the very same,
 * and what a key stands for is told by the queue alone; what can't be read is never taken for "there
 * is none".
 */
#include "service/broker/same.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/broker/key.h"
#include "service/broker/life.h"

#include <string.h>

/* --- one that waits --- */

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

Request *
same_find (const Submission *submission)
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

gboolean
same_seems_there (const Submission *submission)
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

gboolean
same_join (const Submission *submission, Request *same, GError **error)
{
  return check_same (submission, same, error) && adopt_key (submission, same, error);
}

/* --- by its key --- */

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

gboolean
same_give_by_key (Submission *submission)
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
