/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Answers.  The statement is never parsed: it is built again from what is known here (request,
 * record, seal, passkey) and the three strings that have no authority (nonce, issued, expires), and
 * must come out as the very bytes that were signed.  The same checks are made when an answer comes
 * and, by another worker, when it is used; only the counter is looked at once, when it comes.
 */
#include "service/executor/prepared.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/executor/votes.h"
#include "service/record/statement.h"

#include <string.h>

static GBytes *
statement_rebuild (const Sealed *sealed,
                   const char *decision,
                   const Answer *answer,
                   const Passkey *passkey,
                   GError **error)
{
  g_autoptr (Statement) statement = g_new0 (Statement, 1);
  gsize len = 0;
  const guint8 *id = g_bytes_get_data (passkey->credential, &len);

  statement->decision = g_strdup (decision);
  statement->request = g_strdup (sealed->request);
  statement->record = digest_to_string (sealed->record);
  statement->approver_name = g_strdup (passkey->name);
  statement->approver_uid = (guint32) passkey->uid;
  statement->credential = base64url_encode (id, len);
  statement->rp = g_strdup (passkey->rp);
  statement->seal = base64url_encode (sealed->seal, PAE_DIGEST_SIZE);
  statement->nonce = g_strdup (answer->nonce);
  statement->issued = g_strdup (answer->issued);
  statement->expires = g_strdup (answer->expires);
  statement->supersedes_request = g_strdup (sealed->supersedes);
  statement->supersedes_digest = g_strdup (sealed->supersedes_digest);
  return statement_encode (statement, error);
}

/* answer_match: the passkey, and what it must have signed; NULL where it is not what came. */
static Passkey *
answer_match (Executor *executor,
              const Sealed *sealed,
              const char *decision,
              const Answer *answer,
              guint8 out_challenge[PAE_DIGEST_SIZE],
              GError **error)
{
  g_autoptr (Passkey) passkey = NULL;
  g_autoptr (GBytes) statement = NULL;

  if (g_bytes_get_size (answer->statement) > STATEMENT_MAX_BYTES ||
      g_bytes_get_size (answer->credential) > PASSKEY_CREDENTIAL_MAX)
    {
      us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ASSERTION_SIZE,
                    "a statement is %d bytes at most, a credential id %d", STATEMENT_MAX_BYTES,
                    PASSKEY_CREDENTIAL_MAX);
      return NULL;
    }
  passkey = ledger_passkey (executor->ledger, answer->credential, error);
  if (passkey == NULL)
    return NULL;

  statement = statement_rebuild (sealed, decision, answer, passkey, error);
  if (statement == NULL)
    return NULL;
  if (!g_bytes_equal (statement, answer->statement))
    {
      us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_STATEMENT_CHANGED,
                    "what was signed is not the statement on this request");
      return NULL;
    }
  if (!passkey->active)
    {
      us_error_set (error, US_ERROR_NOT_APPROVER, US_REASON_CREDENTIAL_REVOKED,
                    "this passkey of %s is not active", passkey->name);
      return NULL;
    }
  statement_challenge (statement, out_challenge);
  return g_steal_pointer (&passkey);
}

gboolean
answer_verify (Executor *executor,
               const Prepared *prepared,
               const char *decision,
               const Answer *answer,
               GPtrArray *requirements,
               GArray *votes,
               guint32 *out_counter,
               GError **error)
{
  guint8 challenge[PAE_DIGEST_SIZE];
  g_autoptr (Passkey) passkey =
      answer_match (executor, &prepared->sealed, decision, answer, challenge, error);

  /* here, too, that name and uid, as enrolled, still are each other's */
  return passkey != NULL &&
         votes_of (executor, prepared->record, requirements, passkey, (gpointer) answer, votes,
                   error) &&
         passkey_verify (passkey, challenge, &answer->assertion, out_counter, error);
}

gboolean
answer_verify_sealed (Executor *executor,
                      const Sealed *sealed,
                      const char *decision,
                      const Answer *answer,
                      GError **error)
{
  guint8 challenge[PAE_DIGEST_SIZE];
  g_autoptr (Passkey) passkey = answer_match (executor, sealed, decision, answer, challenge, error);
  guint32 counter = 0;
  uid_t uid = 0;

  if (passkey == NULL)
    return FALSE;
  if (!executor->config->names->user_by_name (passkey->name, &uid) || uid != passkey->uid)
    return us_error_set (error, US_ERROR_NOT_APPROVER, US_REASON_IDENTITY,
                         "name and uid of this passkey are no longer each other's");
  return passkey_verify (passkey, challenge, &answer->assertion, &counter, error);
}

/* votes_withdraw: an answer that failed after its votes were counted has none. */
static void
votes_withdraw (GArray *votes, gconstpointer item)
{
  for (guint i = votes->len; i > 0; i--)
    if (g_array_index (votes, Vote, i - 1).item == item)
      g_array_remove_index (votes, i - 1);
}

/*
 * answer_is: whether a stored answer is just the one that was verified.  All that the verification
 * looks at is compared, the signature too: of an ES256 signature anybody can make a second one, and
 * the ledger keeps the first.  Who signed is no input to it, but found by the credential.
 */
static gboolean
answer_is (const Answer *stored, const Verified *verified)
{
  const Answer *answer = verified != NULL ? verified->answer : NULL;

  return answer != NULL && strcmp (stored->request, answer->request) == 0 &&
         digest_equal (stored->digest, answer->digest) &&
         g_bytes_equal (stored->statement, answer->statement) &&
         g_bytes_equal (stored->credential, answer->credential) &&
         strcmp (stored->nonce, answer->nonce) == 0 &&
         strcmp (stored->issued, answer->issued) == 0 &&
         strcmp (stored->expires, answer->expires) == 0 &&
         g_bytes_equal (stored->assertion.client_data, answer->assertion.client_data) &&
         g_bytes_equal (stored->assertion.auth_data, answer->assertion.auth_data) &&
         g_bytes_equal (stored->assertion.signature, answer->assertion.signature);
}

/* votes_take: the votes of the answer that was verified, for the same one as it is stored. */
static void
votes_take (GArray *votes, const Verified *verified, gpointer item)
{
  for (guint i = 0; i < verified->votes->len; i++)
    {
      Vote vote = g_array_index (verified->votes, Vote, i);

      vote.item = item;
      g_array_append_val (votes, vote);
    }
}

gboolean
answers_evaluate (Executor *executor,
                  const Prepared *prepared,
                  GPtrArray *requirements,
                  const Verified *verified,
                  GPtrArray **out_used,
                  guint *out_taken,
                  guint *out_needed,
                  GError **error)
{
  g_autoptr (GPtrArray) answers = NULL;
  g_autoptr (GPtrArray) matched = NULL;
  g_autoptr (GPtrArray) used = g_ptr_array_new_with_free_func ((GDestroyNotify) answer_free);
  g_autoptr (GArray) votes = g_array_new (FALSE, FALSE, sizeof (Vote));
  g_autoptr (GError) first = NULL;
  guint32 counter = 0;

  answers = ledger_answers (executor->ledger, prepared->proposal->id,
                            record_digest (prepared->record), error);
  if (answers == NULL)
    return FALSE;

  for (guint i = 0; i < answers->len; i++)
    if (answer_is (answers->pdata[i], verified))
      votes_take (votes, verified, answers->pdata[i]);
    else if (!answer_verify (executor, prepared, "approve", answers->pdata[i], requirements, votes,
                             &counter, first == NULL ? &first : NULL))
      votes_withdraw (votes, answers->pdata[i]);

  if (!votes_match (votes, requirements, &matched, out_taken, out_needed,
                    first == NULL ? error : NULL))
    {
      if (first != NULL)
        g_propagate_error (error, g_steal_pointer (&first));
      return FALSE;
    }

  for (guint i = answers->len; i > 0; i--)
    if (g_ptr_array_find (matched, answers->pdata[i - 1], NULL))
      g_ptr_array_add (used, g_ptr_array_steal_index (answers, i - 1));
  if (out_used != NULL)
    *out_used = g_steal_pointer (&used);
  return TRUE;
}
