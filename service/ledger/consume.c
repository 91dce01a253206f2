/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The consumption of an approval.  Everything here happens under the ledger's lock, so that nothing
 * that another worker does can come between a check and the row.  The order, and why:
 *   1. all checks again, since the caller's were made before the lock;
 *   2. the lock of the request, so that from its first instant the row is seen as executing;
 *   3. row, used answers, superseded request and audit entry, and their durable COMMIT;
 *   4. the mark (see transaction.c).
 * If 4 fails the row stays: the approval is used up.  Since no module was or will be called for it,
 * that there was no effect is certain, and the outcome is recorded as failed, with the reason.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"

#include <string.h>

static gboolean
consumption_check (Transaction *transaction, const Consumption *consumption, GError **error)
{
  Ledger *ledger = transaction->ledger;

  if (!transaction_check_running (transaction, error) || !seal_key_check (ledger, error) ||
      !ledger_check_open (ledger, consumption->request, error))
    return FALSE;
  if (consumption->still_holds != NULL &&
      !consumption->still_holds (consumption->data, error))
    return FALSE;
  if (consumption->supersedes != NULL &&
      !ledger_check_superseded (ledger, consumption->supersedes, consumption->supersedes_digest,
                                error))
    return FALSE;
  if (!ledger_check_intent (ledger, record_intent (consumption->record), consumption->request,
                            error) ||
      !ledger_check_limits (ledger, consumption->record, consumption->limits, error))
    return FALSE;
  if (clock_boottime () >= consumption->deadline)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_DEADLINE_PASSED,
                         "the approval has expired");
  return TRUE;
}

/*
 * consumption_record: what is kept of the record: all of it, but where nobody was asked and nothing
 * was changed.  Then it is nobody's approval and no trace of an effect, an agent can make as many as
 * its limit lets it, and of a record up to 256 KiB the digest is kept.
 */
static GBytes *
consumption_record (const Consumption *consumption)
{
  if (consumption->answers->len == 0 &&
      strcmp (record_action_effect (consumption->record), "read") == 0)
    return g_bytes_new_static ("", 0);
  return g_bytes_ref (record_bytes (consumption->record));
}

const char sql_consume[] =
    "INSERT INTO request (id, consumed, why, \"by\", reason, record, digest, "
    "intent, agent, action, created) VALUES (?, 1, '', '', '', ?, ?, ?, ?, ?, ?)";

static gboolean
request_insert (Ledger *ledger, const Consumption *consumption, GError **error)
{
  const Record *record = consumption->record;
  g_autoptr (GBytes) kept = consumption_record (consumption);

  return query_run (ledger, error, NULL, sql_consume, "sbddisi", consumption->request, kept,
                    record_digest (record), record_intent (record),
                    (gint64) record_agent_uid (record), record_action_id (record), clock_wall ());
}

static gboolean
superseded_note (Ledger *ledger, const Consumption *consumption, GError **error)
{
  JsonTree *details = json_tree_new_object ();

  json_tree_add_string (details, "request", consumption->supersedes);
  audit_add_digest (details, "record", consumption->supersedes_digest);
  json_tree_add_string (details, "successor", consumption->request);
  return audit_append (ledger, AUDIT_EXECUTOR, "superseded", details, error);
}

/* superseded_end: of two requests of which one supersedes the other, only one is ever consumed; and
 * of several that supersede the same one, too. */
static gboolean
superseded_end (Ledger *ledger, const Consumption *consumption, GError **error)
{
  g_autoptr (GBytes) none = g_bytes_new_static ("", 0);
  g_auto (LedgerStatus) status = { 0 };

  if (consumption->supersedes == NULL)
    return TRUE;
  if (!ledger_query (ledger, consumption->supersedes, &status, error) ||
      (status.state == LEDGER_NONE && !superseded_note (ledger, consumption, error)))
    return FALSE;
  return query_run (ledger, error, NULL,
                    "INSERT INTO request (id, consumed, why, \"by\", reason, record, digest, "
                    "successor, created) VALUES (?, 0, 'superseded', '', '', ?, ?, ?, ?) "
                    "ON CONFLICT (id) DO UPDATE SET successor = excluded.successor",
                    "sbdsi", consumption->supersedes, none, consumption->supersedes_digest,
                    consumption->request, clock_wall ());
}

static JsonTree *
consumption_details (const Consumption *consumption)
{
  JsonTree *details = json_tree_new_object ();
  g_autoptr (GString) approvers = g_string_new (NULL);

  for (guint i = 0; i < consumption->answers->len; i++)
    {
      const Answer *answer = g_ptr_array_index (consumption->answers, i);

      g_string_append_printf (approvers, "%s%s", i > 0 ? " " : "", answer->name);
    }
  json_tree_add_string (details, "request", consumption->request);
  audit_add_digest (details, "record", record_digest (consumption->record));
  audit_add_digest (details, "intent", record_intent (consumption->record));
  audit_add_uid (details, "agent", record_agent_uid (consumption->record));
  json_tree_add_string (details, "action", record_action_id (consumption->record));
  json_tree_add_string (details, "approvers", approvers->str);
  if (consumption->supersedes != NULL)
    json_tree_add_string (details, "supersedes", consumption->supersedes);
  return details;
}

static gboolean
consumption_write (Transaction *transaction, const Consumption *consumption, GError **error)
{
  Ledger *ledger = transaction->ledger;

  for (guint i = 0; i < consumption->answers->len; i++)
    if (!answer_mark_used (transaction, g_ptr_array_index (consumption->answers, i), error))
      return FALSE;
  return request_insert (ledger, consumption, error) &&
         limits_record (transaction, consumption, error) &&
         superseded_end (ledger, consumption, error) &&
         audit_append (ledger, AUDIT_EXECUTOR, "consumed", consumption_details (consumption),
                       error);
}

gboolean
ledger_consume (Ledger *ledger, const Consumption *consumption, GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  g_autoptr (GError) local = NULL;

  if (!transaction_begin (ledger, &transaction, error) ||
      !consumption_check (&transaction, consumption, error) ||
      !request_lock (ledger, consumption->request, error))
    return FALSE;

  if (!consumption_write (&transaction, consumption, error))
    {
      request_unlock (ledger);
      return FALSE;
    }
  if (transaction_commit (&transaction, &local))
    return TRUE;

  if (transaction.committed)
    ledger_finish (ledger, consumption->request, "failed",
                   "nothing was done: this boot's mark could not be written", NULL);
  request_unlock (ledger);
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}
