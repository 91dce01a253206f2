/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one way to write.  The order is: lock, BEGIN IMMEDIATE, compare with the mark, the changes
 * with their audit entry, COMMIT (durable: synchronous=FULL), mark, unlock.
 *
 * Why the mark comes after the commit: written before, a commit that fails would leave a mark that
 * no ledger can reach, and halt the machine for nothing.  Written after, a crash between the two
 * leaves a mark one step behind; a ledger restored to just that step is then not noticed.  That is
 * harmless, since a module is only ever called after the mark was written: what such a copy forgets
 * had no effect.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <errno.h>
#include <sys/file.h>

/* file_check: a worker waits with an open file; it must not write to one that was replaced. */
static gboolean
file_check (Ledger *ledger, GError **error)
{
  int moved = 1;

  if (sqlite3_file_control (ledger->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK ||
      moved != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER,
                         "the file was replaced while it was open");
  return TRUE;
}

gboolean
transaction_begin (Ledger *ledger, Transaction *out_transaction, GError **error)
{
  Transaction transaction = { .ledger = ledger };

  while (flock (ledger->lock_fd, LOCK_EX) != 0)
    if (errno != EINTR)
      return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "cannot lock: %s",
                           g_strerror (errno));
  transaction.locked = TRUE;

  transaction.open = query_run (ledger, error, NULL, "BEGIN IMMEDIATE", "");
  if (!transaction.open || !file_check (ledger, error) ||
      !mark_state (ledger, &transaction.mark, error))
    {
      transaction_clear (&transaction);
      return FALSE;
    }
  *out_transaction = transaction;
  return TRUE;
}

const char sql_halted[] = "SELECT halted FROM meta WHERE id = 1";

/* What the administrator wrote is not for those who ask: an agent would read it as an instruction. */
static gboolean
halt_check (Ledger *ledger, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  gboolean row = FALSE;

  query = query_new (ledger, error, sql_halted, "");
  if (query == NULL || !query_next (ledger, query, &row, error))
    return FALSE;
  if (!row)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "the file has no state");
  if (sqlite3_column_int64 (query, 0) == 0)
    return TRUE;
  return us_error_set (error, US_ERROR_HALTED, US_REASON_HALTED,
                       "an administrator has stopped all execution");
}

gboolean
transaction_check_running (Transaction *transaction, GError **error)
{
  return halt_check (transaction->ledger, error) && mark_refuse (transaction->mark, error);
}

gboolean
ledger_check_running (Ledger *ledger, GError **error)
{
  MarkState state = MARK_ABSENT;

  return halt_check (ledger, error) && mark_state (ledger, &state, error) &&
         mark_refuse (state, error);
}

/*
 * Where it was the sync of a commit that failed, the changes are undone here, but they stand in the log,
 * and who opens the file after a crash takes them for kept.  The next commit writes over them.
 */
static void
take_back (Transaction *transaction)
{
  g_autoptr (GError) error = NULL;

  if (sqlite3_get_autocommit (transaction->ledger->db) == 0)
    query_run (transaction->ledger, NULL, NULL, "ROLLBACK", "");
  transaction->open = FALSE;
  if (!schema_touch (transaction->ledger, &error))
    g_warning ("what the ledger could not keep may be there after a crash: %s", error->message);
}

gboolean
transaction_write (Transaction *transaction, GError **error)
{
  if (!query_run (transaction->ledger, error, NULL, "COMMIT", ""))
    {
      take_back (transaction);
      return FALSE;
    }
  transaction->open = FALSE;
  transaction->committed = TRUE;
  return TRUE;
}

gboolean
transaction_commit (Transaction *transaction, GError **error)
{
  Ledger *ledger = transaction->ledger;
  gboolean marked = FALSE;

  if (!transaction_write (transaction, error))
    {
      transaction_clear (transaction);
      return FALSE;
    }

  /* A mark that did not hold is not made to hold by writing: only a person's resume does that. */
  if (transaction->mark == MARK_HOLDS || transaction->mark == MARK_NO_KEY)
    marked = mark_write (ledger, error);
  else
    marked = mark_refuse (transaction->mark, error);
  transaction_clear (transaction);
  return marked;
}

gboolean
transaction_commit_safe (Transaction *transaction, GError **error)
{
  g_autoptr (GError) local = NULL;

  if (transaction_commit (transaction, &local) || transaction->committed)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

void
transaction_clear (Transaction *transaction)
{
  if (transaction->open && sqlite3_get_autocommit (transaction->ledger->db) == 0)
    query_run (transaction->ledger, NULL, NULL, "ROLLBACK", "");
  if (transaction->locked)
    flock (transaction->ledger->lock_fd, LOCK_UN);
  transaction->open = FALSE;
  transaction->locked = FALSE;
}
