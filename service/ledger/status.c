/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of requests, read: what became of one, and whether it may still become anything.  A
 * request has no row until it is consumed or closed.  Nothing here writes.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"

void
ledger_status_clear (LedgerStatus *status)
{
  g_clear_pointer (&status->why, g_free);
  g_clear_pointer (&status->by, g_free);
  g_clear_pointer (&status->reason, g_free);
  g_clear_pointer (&status->result, g_free);
}

static LedgerState
state_of_outcome (const char *outcome)
{
  if (strcmp (outcome, "done") == 0)
    return LEDGER_DONE;
  if (strcmp (outcome, "failed") == 0)
    return LEDGER_FAILED;
  return LEDGER_UNKNOWN;
}

const char sql_status[] =
    "SELECT consumed, outcome, why, \"by\", reason, result FROM request WHERE id = ?";

/* status_read: an outcome that is missing comes as LEDGER_EXECUTING, whoever may be alive. */
static gboolean
status_read (Ledger *ledger, const char *request, LedgerStatus *out_status, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  g_autofree char *outcome = NULL;
  LedgerStatus status = { .state = LEDGER_NONE };
  gboolean row = FALSE;

  query = query_new (ledger, error, sql_status, "s", request);
  if (query == NULL || !query_next (ledger, query, &row, error))
    return FALSE;

  if (row && sqlite3_column_int64 (query, 0) == 0)
    status.state = LEDGER_CLOSED;
  else if (row && sqlite3_column_type (query, 1) == SQLITE_NULL)
    status.state = LEDGER_EXECUTING;
  else if (row)
    {
      outcome = query_text (query, 1);
      status.state = state_of_outcome (outcome);
    }
  status.why = row ? query_text (query, 2) : g_strdup ("");
  status.by = row ? query_text (query, 3) : g_strdup ("");
  status.reason = row ? query_text (query, 4) : g_strdup ("");
  status.result = row ? query_text (query, 5) : g_strdup ("");
  *out_status = status;
  return TRUE;
}

gboolean
ledger_was_resolved (Ledger *ledger, const char *request, gboolean *out_resolved, GError **error)
{
  return audit_has (ledger, request, "resolved", out_resolved, error);
}

gboolean
ledger_query (Ledger *ledger, const char *request, LedgerStatus *out_status, GError **error)
{
  g_auto (LedgerStatus) status = { 0 };

  if (!status_read (ledger, request, &status, error))
    return FALSE;
  if (status.state == LEDGER_EXECUTING && !request_is_locked (ledger, request))
    {
      /* its worker may have ended properly between the two looks */
      ledger_status_clear (&status);
      if (!status_read (ledger, request, &status, error))
        return FALSE;
      if (status.state == LEDGER_EXECUTING)
        status.state = LEDGER_UNKNOWN;
    }
  *out_status = status;
  memset (&status, 0, sizeof status);
  return TRUE;
}

static gboolean
open_refuse (const LedgerStatus *status, const char *request, GError **error)
{
  if (status->state == LEDGER_NONE)
    return TRUE;
  if (status->state == LEDGER_CLOSED)
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_CLOSED, "request %s is closed (%s)",
                         request, status->why);
  return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_ALREADY_CONSUMED,
                       "request %s was handed over before", request);
}

gboolean
ledger_check_open (Ledger *ledger, const char *request, GError **error)
{
  g_auto (LedgerStatus) status = { 0 };

  return status_read (ledger, request, &status, error) && open_refuse (&status, request, error);
}

gboolean
ledger_check_superseded (Ledger *ledger,
                         const char *request,
                         const guint8 digest[PAE_DIGEST_SIZE],
                         GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  guint8 known[PAE_DIGEST_SIZE];
  gboolean row = FALSE;

  query = query_new (ledger, error, "SELECT consumed, successor, digest FROM request WHERE id = ?",
                     "s", request);
  if (query == NULL || !query_next (ledger, query, &row, error))
    return FALSE;
  if (!row)
    return TRUE;
  if (sqlite3_column_int64 (query, 0) != 0)
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_ALREADY_CONSUMED,
                         "request %s, which is to be superseded, was handed over before", request);
  if (sqlite3_column_type (query, 1) != SQLITE_NULL)
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_ALREADY_CONSUMED,
                         "another request, which superseded %s, was handed over before", request);
  if (query_digest (query, 2, known) && !digest_equal (known, digest))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_RECORD_CHANGED,
                         "request %s, which is to be superseded, had another record", request);
  return TRUE;
}

const char sql_intent[] = "SELECT id FROM request WHERE consumed = 1 AND intent = ? AND id <> ? "
                          "AND (outcome IS NULL OR outcome = 'unknown') LIMIT 1";

gboolean
ledger_check_intent (Ledger *ledger,
                     const guint8 intent[PAE_DIGEST_SIZE],
                     const char *request,
                     GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  g_autofree char *other = NULL;
  gboolean row = FALSE;

  query = query_new (ledger, error, sql_intent, "ds", intent, request);
  if (query == NULL || !query_next (ledger, query, &row, error))
    return FALSE;
  if (!row)
    return TRUE;
  other = query_text (query, 0);
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_INTENT_UNKNOWN,
                       "it is not known what became of the same action in request %s", other);
}
