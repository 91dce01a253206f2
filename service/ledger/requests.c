/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the rows of requests end: by an outcome, a person's word on one, or without execution.  The
 * id is the primary key, so that whichever comes first stands for good.  A row is never deleted and
 * never turns from closed to consumed.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"

static JsonTree *
outcome_details (const char *request, const char *result)
{
  JsonTree *details = json_tree_new_object ();

  json_tree_add_string (details, "request", request);
  json_tree_add_string (details, "result", result);
  return details;
}

const char sql_finish[] = "UPDATE request SET outcome = ?, result = ? "
                          "WHERE id = ? AND consumed = 1 AND outcome IS NULL";

gboolean
ledger_finish (
    Ledger *ledger, const char *request, const char *outcome, const char *result, GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  guint changed = 0;

  if (!transaction_begin (ledger, &transaction, error) ||
      !query_run (ledger, error, &changed, sql_finish, "sss", outcome, result, request))
    return FALSE;
  if (changed != 1)
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_WRONG_STATE,
                         "request %s is not executing", request);
  if (!audit_append (ledger, AUDIT_EXECUTOR, outcome, outcome_details (request, result), error) ||
      !transaction_commit_safe (&transaction, error))
    return FALSE;
  request_unlock (ledger);
  return TRUE;
}

gboolean
ledger_resolve (Ledger *ledger,
                const char *request,
                const char *outcome,
                const char *note,
                uid_t by,
                GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  g_auto (LedgerStatus) status = { 0 };
  JsonTree *details = NULL;

  if (!transaction_begin (ledger, &transaction, error) ||
      !mark_refuse (transaction.mark, error) || !ledger_query (ledger, request, &status, error))
    return FALSE;
  if (status.state == LEDGER_NONE)
    return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                         "request %s was never handed over", request);
  if (status.state != LEDGER_UNKNOWN)
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_WRONG_STATE,
                         "the outcome of request %s is not unknown", request);

  details = outcome_details (request, note);
  json_tree_add_string (details, "outcome", outcome);
  audit_add_uid (details, "by", by);
  return audit_append (ledger, AUDIT_ADMIN, "resolved", details, error) &&
         query_run (ledger, error, NULL,
                    "UPDATE request SET outcome = ?, result = ? WHERE id = ? AND consumed = 1",
                    "sss", outcome, note, request) &&
         transaction_commit_safe (&transaction, error);
}

static JsonTree *
closing_details (const Closing *closing, const guint8 digest[PAE_DIGEST_SIZE])
{
  JsonTree *details = json_tree_new_object ();

  json_tree_add_string (details, "request", closing->request);
  audit_add_digest (details, "record", digest);
  json_tree_add_string (details, "by", closing->by);
  json_tree_add_string (details, "reason", closing->reason);
  if (closing->denial != NULL)
    {
      guint8 statement[PAE_DIGEST_SIZE];

      pae_sha256 (PAE_TYPE_STATEMENT, closing->denial->statement, statement);
      audit_add_uid (details, "uid", closing->denial->uid);
      audit_add_bytes (details, "credential", closing->denial->credential);
      audit_add_digest (details, "statement", statement);
      audit_add_number (details, "waited", closing->denial->waited);
    }
  return details;
}

/*
 * closing_record: what is kept of the record.  A denial is a person's word, and what it was about
 * is kept whole.  Other ends an agent can bring about as often as it likes, so that of those there
 * is the digest: the disk is for evidence of all agents.
 */
static GBytes *
closing_record (const Closing *closing)
{
  if (strcmp (closing->why, "denied") == 0)
    return g_bytes_ref (closing->record);
  return g_bytes_new_static ("", 0);
}

gboolean
ledger_close_request (Ledger *ledger, const Closing *closing, GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  g_autoptr (GBytes) kept = closing_record (closing);
  const char *source = closing->denial != NULL ? AUDIT_SIGNED : AUDIT_BROKER;
  guint8 digest[PAE_DIGEST_SIZE];

  pae_sha256 (PAE_TYPE_RECORD, closing->record, digest);
  if (!transaction_begin (ledger, &transaction, error) ||
      !ledger_check_open (ledger, closing->request, error))
    return FALSE;
  if (closing->denial != NULL && (!passkey_use (&transaction, closing->denial, error) ||
                                  !answer_insert (&transaction, closing->denial, "deny", error)))
    return FALSE;

  return query_run (
             ledger, error, NULL,
             "INSERT INTO request (id, consumed, why, \"by\", reason, record, digest, created) "
             "VALUES (?, 0, ?, ?, ?, ?, ?, ?)",
             "ssssbdi", closing->request, closing->why, closing->by, closing->reason,
             kept, g_bytes_get_size (closing->record) > 0 ? digest : NULL,
             clock_wall ()) &&
         audit_append (ledger, source, closing->why, closing_details (closing, digest), error) &&
         transaction_commit_safe (&transaction, error);
}
