/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Halt and resume, a person's words.  A halt is kept in the ledger and outlives a reboot.  What
 * halts by itself (the ledger behind the mark, or no mark) also ends only here: resume accepts the
 * ledger as it is, after making every approval that was not used void.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"

static JsonTree *
halt_details (uid_t by, const char *why)
{
  JsonTree *details = json_tree_new_object ();

  audit_add_uid (details, "by", by);
  json_tree_add_string (details, "why", why);
  return details;
}

static gboolean
halt_write (Ledger *ledger, gboolean halted, const char *why, GError **error)
{
  return query_run (ledger, error, NULL, "UPDATE meta SET halted = ?, why = ? WHERE id = 1", "is",
                    (gint64) (halted ? 1 : 0), why);
}

gboolean
ledger_halt (Ledger *ledger, uid_t by, const char *why, GError **error)
{
  g_auto (Transaction) transaction = { 0 };

  return transaction_begin (ledger, &transaction, error) && halt_write (ledger, TRUE, why, error) &&
         audit_append (ledger, AUDIT_ADMIN, "halted", halt_details (by, why), error) &&
         transaction_commit_safe (&transaction, error);
}

gboolean
ledger_resume (Ledger *ledger, uid_t by, const char *why, GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  JsonTree *details = NULL;

  if (!transaction_begin (ledger, &transaction, error))
    return FALSE;
  if (transaction_check_running (&transaction, NULL))
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_WRONG_STATE, "nothing is halted");

  /* the new key comes first, and only the mark makes things run again; all under the lock still */
  if (transaction.mark != MARK_HOLDS && !seal_key_renew (ledger, error))
    return FALSE;
  details = halt_details (by, why);
  json_tree_add_boolean (details, "ledger-accepted", transaction.mark != MARK_HOLDS);
  if (!halt_write (ledger, FALSE, "", error) ||
      !audit_append (ledger, AUDIT_ADMIN, "resumed", details, error))
    return FALSE;
  if (transaction.mark == MARK_HOLDS)
    return transaction_commit_safe (&transaction, error);

  return transaction_write (&transaction, error) && mark_write (ledger, error);
}
