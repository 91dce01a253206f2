/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Answers: statement and assertion of one person on one request and record.  An answer is kept until
 * it is pruned, or its person answers anew: it is the evidence that anybody can check without this
 * software.  Whether it still counts is decided anew at each execution, by the caller.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"

void
answer_free (Answer *answer)
{
  if (answer == NULL)
    return;
  g_free (answer->request);
  g_free (answer->name);
  g_clear_pointer (&answer->credential, g_bytes_unref);
  g_clear_pointer (&answer->statement, g_bytes_unref);
  g_free (answer->nonce);
  g_free (answer->issued);
  g_free (answer->expires);
  assertion_clear (&answer->assertion);
  g_free (answer);
}

Answer *
answer_read_row (sqlite3_stmt *query, const char *request, const guint8 digest[PAE_DIGEST_SIZE])
{
  Answer *answer = g_new0 (Answer, 1);

  answer->request = g_strdup (request);
  memcpy (answer->digest, digest, PAE_DIGEST_SIZE);
  answer->name = query_text (query, 0);
  answer->uid = (uid_t) sqlite3_column_int64 (query, 1);
  answer->credential = query_bytes (query, 2);
  answer->statement = query_bytes (query, 3);
  answer->nonce = query_text (query, 4);
  answer->issued = query_text (query, 5);
  answer->expires = query_text (query, 6);
  answer->assertion.client_data = query_bytes (query, 7);
  answer->assertion.auth_data = query_bytes (query, 8);
  answer->assertion.signature = query_bytes (query, 9);
  answer->counter = (guint32) sqlite3_column_int64 (query, 10);
  return answer;
}

const char sql_answers[] = "SELECT " ANSWER_COLUMNS " FROM answer WHERE request = ? "
                           "AND digest = ? AND decision = 'approve' ORDER BY id";

GPtrArray *
ledger_answers (Ledger *ledger,
                const char *request,
                const guint8 digest[PAE_DIGEST_SIZE],
                GError **error)
{
  g_autoptr (GPtrArray) answers = g_ptr_array_new_with_free_func ((GDestroyNotify) answer_free);
  g_autoptr (sqlite3_stmt) query = NULL;
  gboolean row = FALSE;

  query = query_new (ledger, error, sql_answers, "sd", request, digest);
  if (query == NULL)
    return NULL;
  while (query_next (ledger, query, &row, error))
    {
      if (!row)
        return g_steal_pointer (&answers);
      g_ptr_array_add (answers, answer_read_row (query, request, digest));
    }
  return NULL;
}

const char sql_answer_stored[] = "SELECT 1 FROM answer WHERE request = ? AND digest = ? "
                                 "AND credential = ? AND statement = ? AND decision = 'approve'";

/*
 * answer_is_stored: on the very same statement, whose nonce is of one attempt.  The signature is not
 * compared: the caller has verified it, and of an ES256 signature anybody can make a second one.
 */
static gboolean
answer_is_stored (Ledger *ledger, const Answer *answer, gboolean *out_stored, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;

  query = query_new (ledger, error, sql_answer_stored, "sdbb", answer->request, answer->digest,
                     answer->credential, answer->statement);
  return query != NULL && query_next (ledger, query, out_stored, error);
}

/* a person who answers again with the same passkey replaces the answer, never adds one */
const char sql_answer_insert[] =
    "INSERT INTO answer (request, digest, decision, name, uid, credential, "
    "statement, nonce, issued, expires, client_data, auth_data, signature, counter) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (request, digest, decision, credential) DO UPDATE SET "
    "name = excluded.name, uid = excluded.uid, statement = excluded.statement, "
    "nonce = excluded.nonce, issued = excluded.issued, expires = excluded.expires, "
    "client_data = excluded.client_data, auth_data = excluded.auth_data, "
    "signature = excluded.signature, counter = excluded.counter";

gboolean
answer_insert (Transaction *transaction, const Answer *answer, const char *decision, GError **error)
{
  return query_run (transaction->ledger, error, NULL, sql_answer_insert, "sdssibbsssbbbi",
                    answer->request, answer->digest, decision, answer->name, (gint64) answer->uid,
                    answer->credential, answer->statement, answer->nonce, answer->issued,
                    answer->expires, answer->assertion.client_data, answer->assertion.auth_data,
                    answer->assertion.signature, (gint64) answer->counter);
}

const char sql_answer_used[] =
    "UPDATE answer SET used = 1 WHERE request = ? AND digest = ? AND credential = ? "
    "AND statement = ? AND signature = ? AND uid = ? AND decision = 'approve'";

gboolean
answer_mark_used (Transaction *transaction, const Answer *answer, GError **error)
{
  g_autoptr (Passkey) passkey = passkey_of (transaction->ledger, answer, error);
  guint changed = 0;

  if (passkey == NULL ||
      !query_run (transaction->ledger, error, &changed, sql_answer_used, "sdbbbi", answer->request,
                  answer->digest, answer->credential, answer->statement,
                  answer->assertion.signature, (gint64) answer->uid))
    return FALSE;
  if (changed != 1)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_STATEMENT_CHANGED,
                         "%s has answered anew meanwhile", answer->name);
  return TRUE;
}

static JsonTree *
answer_details (const Answer *answer)
{
  JsonTree *details = json_tree_new_object ();
  guint8 digest[PAE_DIGEST_SIZE];

  pae_sha256 (PAE_TYPE_STATEMENT, answer->statement, digest);
  json_tree_add_string (details, "request", answer->request);
  audit_add_digest (details, "record", answer->digest);
  json_tree_add_string (details, "name", answer->name);
  audit_add_uid (details, "uid", answer->uid);
  audit_add_bytes (details, "credential", answer->credential);
  audit_add_digest (details, "statement", digest);
  audit_add_number (details, "waited", answer->waited);
  return details;
}

gboolean
ledger_add_answer (Ledger *ledger, const Answer *answer, GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  gboolean stored = FALSE;

  if (!transaction_begin (ledger, &transaction, error) ||
      !transaction_check_running (&transaction, error) ||
      !ledger_check_open (ledger, answer->request, error) ||
      !answer_is_stored (ledger, answer, &stored, error))
    return FALSE;
  if (stored)
    return TRUE;

  return passkey_use (&transaction, answer, error) &&
         answer_insert (&transaction, answer, "approve", error) &&
         audit_append (ledger, AUDIT_SIGNED, "approved", answer_details (answer), error) &&
         transaction_commit_safe (&transaction, error);
}
