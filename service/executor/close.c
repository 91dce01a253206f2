/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CLOSE and QUERY: the broker's word that a request has ended without running, and what the ledger
 * says of a request.  Closing only ever forbids, so it needs no seal, no policy and no mark, and
 * works while everything else is halted.
 */
#include "service/executor/executor.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/wire.h"
#include "service/executor/journal.h"
#include "service/executor/prepared.h"

#include <string.h>

#define BY_MAX 256

static const char *const whys[] = { "denied",     "withdrawn",   "expired",
                                    "superseded", "unreachable", NULL };
static const char *const reasons[] = { "wrong-target", "wrong-content", "not-now",
                                       "suspicious",   "other",         NULL };

gboolean
denial_reason_check (const char *reason, GError **error)
{
  if (*reason != '\0' && !g_strv_contains (reasons, reason))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "a denial has one of the five reasons");
  return TRUE;
}

static gboolean
closing_check (const Closing *closing, GError **error)
{
  if (!request_id_check (closing->request, error))
    return FALSE;
  if (!g_strv_contains (whys, closing->why))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "a request is not closed for this");
  if (*closing->reason != '\0' && strcmp (closing->why, "denied") != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "only a denial has a reason");
  if (!denial_reason_check (closing->reason, error))
    return FALSE;
  if (strlen (closing->by) > BY_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "a user name is %d bytes at most", BY_MAX);
  if (g_bytes_get_size (closing->record) > RECORD_MAX_BYTES)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "a record is %d bytes at most", RECORD_MAX_BYTES);
  return TRUE;
}

GVariant *
handle_close (Session *session, GVariant *body, GError **error)
{
  g_autoptr (GVariant) record_array = NULL;
  g_autoptr (GBytes) record = NULL;
  Closing closing = { 0 };

  g_variant_get (body, "(&s@ay&s&s&s)", &closing.request, &record_array, &closing.why, &closing.by,
                 &closing.reason);
  record = bytes_of (record_array);
  closing.record = record;
  if (!closing_check (&closing, error) ||
      !ledger_close_request (session->executor->ledger, &closing, error))
    return NULL;
  journal_note (&session->note,
                strcmp (closing.why, "denied") == 0 ? JOURNAL_DENIED : JOURNAL_ENDED, AUDIT_BROKER,
                closing.request, closing.why, closing.by, closing.reason);
  return g_variant_new (WIRE_EMPTY);
}

const char *
ledger_state_name (LedgerState state)
{
  switch (state)
    {
    case LEDGER_NONE:
      return "none";
    case LEDGER_CLOSED:
      return "closed";
    case LEDGER_EXECUTING:
      return "executing";
    case LEDGER_DONE:
      return "done";
    case LEDGER_FAILED:
      return "failed";
    case LEDGER_UNKNOWN:
    default:
      return "unknown";
    }
}

GVariant *
handle_query (Session *session, GVariant *body, GError **error)
{
  g_auto (LedgerStatus) status = { 0 };
  const char *request = NULL;
  gboolean resolved = FALSE;

  g_variant_get (body, "(&s)", &request);
  if (!request_id_check (request, error) ||
      !ledger_query (session->executor->ledger, request, &status, error))
    return NULL;
  if ((status.state == LEDGER_DONE || status.state == LEDGER_FAILED) &&
      !ledger_was_resolved (session->executor->ledger, request, &resolved, error))
    return NULL;
  return g_variant_new (WIRE_QUERY_REPLY, ledger_state_name (status.state), status.why,
                        resolved ? WIRE_QUERY_RESOLVED : status.by, status.reason, status.result);
}
