/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ANSWER: one person's signed word on one prepared request.  An approval is verified and stored
 * together with the new counter; whether it suffices is said, but decided only at execution.  A
 * signed denial closes the request at once, whatever else is there.
 */
#include "service/executor/executor.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"
#include "service/executor/journal.h"
#include "service/executor/prepared.h"
#include "service/executor/votes.h"

#include <poll.h>
#include <string.h>

/*
 * is_awaited: the broker sends one answer of a person after the other, so that their counters grow as
 * long as none is served that it has given up: what was signed next may be stored by then.
 */
static gboolean
is_awaited (gconstpointer data, GError **error)
{
  const Session *session = data;
  struct pollfd peer = { .fd = session->sock };

  return poll (&peer, 1, 0) == 0 ||
         us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                       "nobody waits for this answer any more");
}

static Answer *
answer_of (const Session *session, GVariant *body, const Sealed *sealed)
{
  g_autoptr (Answer) answer = g_new0 (Answer, 1);
  GBytes **const bytes[] = { &answer->statement, &answer->credential,
                             &answer->assertion.client_data, &answer->assertion.auth_data,
                             &answer->assertion.signature };
  static const gsize places[] = { 2, 3, 7, 8, 9 };

  answer->request = g_strdup (sealed->request);
  memcpy (answer->digest, sealed->record, PAE_DIGEST_SIZE);
  for (gsize i = 0; i < G_N_ELEMENTS (bytes); i++)
    {
      g_autoptr (GVariant) array = g_variant_get_child_value (body, places[i]);

      *bytes[i] = bytes_of (array);
    }
  g_variant_get_child (body, 4, "s", &answer->nonce);
  g_variant_get_child (body, 5, "s", &answer->issued);
  g_variant_get_child (body, 6, "s", &answer->expires);
  answer->is_awaited = is_awaited;
  answer->data = session;
  return g_steal_pointer (&answer);
}

/* answer_complete: whose it is, as enrolled; the verification has looked it up before. */
static gboolean
answer_complete (Executor *executor, Answer *answer, guint32 counter, GError **error)
{
  g_autoptr (Passkey) passkey = ledger_passkey (executor->ledger, answer->credential, error);

  if (passkey == NULL)
    return FALSE;
  answer->name = g_strdup (passkey->name);
  answer->uid = passkey->uid;
  answer->counter = counter;
  return TRUE;
}

static GVariant *
approval_store (Session *session,
                const Prepared *prepared,
                const Answer *answer,
                GPtrArray *requirements,
                GArray *votes,
                GError **error)
{
  Executor *executor = session->executor;
  const Verified verified = { answer, votes };
  g_autoptr (GError) local = NULL;
  guint taken = 0;
  guint needed = 0;

  if (!ledger_add_answer (executor->ledger, answer, error))
    return NULL;
  journal_note (&session->note, JOURNAL_APPROVED, AUDIT_SIGNED, answer->request, "approved",
                answer->name, NULL);
  if (answers_evaluate (executor, prepared, requirements, &verified, NULL, &taken, &needed, &local))
    return g_variant_new (WIRE_ANSWER_REPLY, "approved", taken, needed);
  if (needed > 0)
    return g_variant_new (WIRE_ANSWER_REPLY, "pending", taken, needed);
  g_propagate_error (error, g_steal_pointer (&local));
  return NULL;
}

static GVariant *
denial_store (Session *session,
              const Prepared *prepared,
              const Answer *answer,
              const char *reason,
              GError **error)
{
  Closing closing = {
    .request = prepared->proposal->id,
    .record = record_bytes (prepared->record),
    .why = "denied",
    .by = answer->name,
    .reason = reason,
    .denial = answer,
  };

  if (!ledger_close_request (session->executor->ledger, &closing, error))
    return NULL;
  journal_note (&session->note, JOURNAL_DENIED, AUDIT_SIGNED, closing.request, "denied", closing.by,
                reason);
  return g_variant_new (WIRE_ANSWER_REPLY, "denied", 0, 0);
}

/* waited: seconds since PREPARE, as the deadline tells it that was set then. */
static guint64
waited (const Prepared *prepared, const PolicyDecision *decision)
{
  guint64 lifetime = decision_lifetime (decision) * G_USEC_PER_SEC;
  guint64 begin = prepared->deadline > lifetime ? prepared->deadline - lifetime : 0;
  guint64 now = clock_boottime ();

  return now > begin ? (now - begin) / G_USEC_PER_SEC : 0;
}

static gboolean
decision_check (const char *word, const char *reason, GError **error)
{
  gboolean approve = strcmp (word, "approve") == 0;

  if (!approve && strcmp (word, "deny") != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "a decision is approve or deny");
  if (approve && *reason != '\0')
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "only a denial has a reason");
  return denial_reason_check (reason, error);
}

/*
 * set_stands_no_more: why a request can't be approved any more.  Whatever the policy of now finds
 * wrong with it, it is another one than was prepared.  Not so where the initiator is no user: the
 * directory may be away.
 */
static void
set_stands_no_more (GError **error, const GError *found)
{
  if (refusal_is_final (found) && !us_error_has_reason (found, US_REASON_RECORD_CHANGED) &&
      !us_error_has_reason (found, US_REASON_BAD_SEAL) &&
      !us_error_has_reason (found, US_REASON_DEADLINE_PASSED) &&
      !us_error_has_reason (found, US_REASON_IDENTITY))
    us_error_set (error, US_ERROR_REFUSED, US_REASON_RECORD_CHANGED,
                  "it could not be asked for any more: %s", found->message);
  else
    g_propagate_error (error, g_error_copy (found));
}

static GVariant *
answer_take (Session *session, GVariant *body, GVariant *prepared_body, GError **error)
{
  Executor *executor = session->executor;
  g_autoptr (Prepared) prepared = NULL;
  g_autoptr (PolicyDecision) decision = NULL;
  g_autoptr (Answer) answer = NULL;
  g_autoptr (GArray) votes = g_array_new (FALSE, FALSE, sizeof (Vote));
  g_autoptr (GError) found = NULL;
  const char *word = NULL;
  const char *reason = NULL;
  gboolean approve = FALSE;
  guint32 counter = 0;

  g_variant_get_child (body, 1, "&s", &word);
  g_variant_get_child (body, 10, "&s", &reason);
  approve = strcmp (word, "approve") == 0;
  if (!decision_check (word, reason, error))
    return NULL;

  prepared = prepared_open (session, prepared_body, &found);
  if (prepared != NULL)
    decision = decide (executor, prepared->record, &found);
  if (decision == NULL)
    {
      set_stands_no_more (error, found);
      return NULL;
    }
  /* a denial is taken while halted, too */
  if (approve ? !proposal_check_ledger (executor, prepared->proposal, error)
              : !ledger_check_open (executor->ledger, prepared->proposal->id, error))
    return NULL;

  answer = answer_of (session, body, &prepared->sealed);
  if (!answer_verify (executor, prepared, word, answer, decision->requirements, votes, &counter,
                      error) ||
      !answer_complete (executor, answer, counter, error))
    return NULL;
  answer->waited = waited (prepared, decision);
  return approve ? approval_store (session, prepared, answer, decision->requirements, votes, error)
                 : denial_store (session, prepared, answer, reason, error);
}

/* The request cannot run any more: what others have approved, and this approval if it is one, comes
 * to nothing. */
static void
approval_void_note (Session *session, GVariant *body, GVariant *prepared_body, const GError *refusal)
{
  g_auto (Sealed) sealed = { 0 };
  g_autoptr (Answer) approval = NULL;

  if (!sealed_open (session, prepared_body, &sealed, NULL))
    return;
  approval = answer_of (session, body, &sealed);
  approval_refused_note (session, &sealed, approval, refusal);
}

GVariant *
handle_answer (Session *session, GVariant *body, GError **error)
{
  g_autoptr (GVariant) prepared_body = g_variant_get_child_value (body, 0);
  g_autoptr (GError) refusal = NULL;
  GVariant *reply = answer_take (session, body, prepared_body, &refusal);
  const char *word = NULL;

  if (reply != NULL)
    return reply;
  g_variant_get_child (body, 1, "&s", &word);
  if (strcmp (word, "approve") == 0 && us_error_has_reason (refusal, US_REASON_RECORD_CHANGED))
    approval_void_note (session, body, prepared_body, refusal);
  g_propagate_error (error, g_steal_pointer (&refusal));
  return NULL;
}
