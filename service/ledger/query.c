/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prepared statements.  The text of every statement is a constant of the file that uses it; values
 * are only ever bound.  Any result that is not exactly the expected one is an error.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

/* Those between query_new() and query_end(): nobody else has them until then, stepped or not. */
static _Thread_local struct
{
  sqlite3_stmt *all[QUERY_MAX];
  guint n;
} taken;

gboolean
query_failed (Ledger *ledger, const char *what, GError **error)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "%s: %s (%d)", what,
                       sqlite3_errmsg (ledger->db), sqlite3_extended_errcode (ledger->db));
}

static int
bind_bytes (sqlite3_stmt *query, int i, GBytes *bytes)
{
  gsize len = 0;
  const void *data = NULL;

  if (bytes == NULL)
    return sqlite3_bind_null (query, i);
  data = g_bytes_get_data (bytes, &len);
  /* a NULL pointer would bind NULL, not an empty blob */
  return sqlite3_bind_blob64 (query, i, len > 0 ? data : "", len, SQLITE_TRANSIENT);
}

static int
bind_one (sqlite3_stmt *query, int i, char letter, va_list *args)
{
  const guint8 *digest = NULL;

  switch (letter)
    {
    case 's':
      return sqlite3_bind_text (query, i, va_arg (*args, const char *), -1, SQLITE_TRANSIENT);
    case 'i':
      return sqlite3_bind_int64 (query, i, va_arg (*args, gint64));
    case 'b':
      return bind_bytes (query, i, va_arg (*args, GBytes *));
    case 'd':
      digest = va_arg (*args, const guint8 *);
      if (digest == NULL)
        return sqlite3_bind_null (query, i);
      return sqlite3_bind_blob (query, i, digest, PAE_DIGEST_SIZE, SQLITE_TRANSIENT);
    default:
      g_assert_not_reached ();
    }
}

static gboolean
query_is_taken (const sqlite3_stmt *query)
{
  for (guint i = 0; i < taken.n; i++)
    if (taken.all[i] == query)
      return TRUE;
  return FALSE;
}

void
query_end (sqlite3_stmt *query)
{
  for (guint i = 0; i < taken.n; i++)
    if (taken.all[i] == query)
      taken.all[i] = taken.all[--taken.n];
  /* what went wrong with it was said when it did */
  (void) sqlite3_reset (query);
  (void) sqlite3_clear_bindings (query);
}

/* query_kept: one of that text that nobody has, or NULL. */
static sqlite3_stmt *
query_kept (Ledger *ledger, const char *sql)
{
  sqlite3_stmt *query = NULL;

  while ((query = sqlite3_next_stmt (ledger->db, query)) != NULL)
    if (!query_is_taken (query) && strcmp (sqlite3_sql (query), sql) == 0)
      return query;
  return NULL;
}

void
query_prepare (Ledger *ledger, const char *sql)
{
  sqlite3_stmt *query = NULL;

  if (query_kept (ledger, sql) == NULL)
    (void) sqlite3_prepare_v3 (ledger->db, sql, -1, 0, &query, NULL);
}

void
query_forget_all (Ledger *ledger)
{
  sqlite3_stmt *query = NULL;

  while (ledger->db != NULL && (query = sqlite3_next_stmt (ledger->db, NULL)) != NULL)
    {
      query_end (query);
      sqlite3_finalize (query);
    }
}

static sqlite3_stmt *
query_new_va (Ledger *ledger, GError **error, const char *sql, const char *format, va_list *args)
{
  g_autoptr (sqlite3_stmt) query = NULL;

  if (taken.n == QUERY_MAX)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "%d statements are under way",
                    QUERY_MAX);
      return NULL;
    }
  query = query_kept (ledger, sql);
  if (query == NULL && sqlite3_prepare_v3 (ledger->db, sql, -1, 0, &query, NULL) != SQLITE_OK)
    {
      query_failed (ledger, "cannot prepare a statement", error);
      return NULL;
    }
  taken.all[taken.n++] = query;
  g_assert (sqlite3_bind_parameter_count (query) == (int) strlen (format));

  for (int i = 0; format[i] != '\0'; i++)
    if (bind_one (query, i + 1, format[i], args) != SQLITE_OK)
      {
        query_failed (ledger, "cannot bind a value", error);
        return NULL;
      }
  return g_steal_pointer (&query);
}

sqlite3_stmt *
query_new (Ledger *ledger, GError **error, const char *sql, const char *format, ...)
{
  sqlite3_stmt *query = NULL;
  va_list args;

  va_start (args, format);
  query = query_new_va (ledger, error, sql, format, &args);
  va_end (args);
  return query;
}

gboolean
query_next (Ledger *ledger, sqlite3_stmt *query, gboolean *out_row, GError **error)
{
  int result = sqlite3_step (query);

  if (result != SQLITE_ROW && result != SQLITE_DONE)
    return query_failed (ledger, "a statement failed", error);
  *out_row = result == SQLITE_ROW;
  return TRUE;
}

gboolean
query_run (
    Ledger *ledger, GError **error, guint *out_changes, const char *sql, const char *format, ...)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  va_list args;

  va_start (args, format);
  query = query_new_va (ledger, error, sql, format, &args);
  va_end (args);

  if (query == NULL)
    return FALSE;
  if (sqlite3_step (query) != SQLITE_DONE)
    return query_failed (ledger, "a statement failed", error);
  if (out_changes != NULL)
    *out_changes = (guint) sqlite3_changes (ledger->db);
  return TRUE;
}

/* query_count: of a query with one row, which is over then: one that is not holds on to what the
 * ledger was when it began, and whatever is read after it is as old. */
gboolean
query_count (Ledger *ledger, sqlite3_stmt *query, guint64 *out_count, GError **error)
{
  gboolean row = FALSE;

  if (!query_next (ledger, query, &row, error))
    return FALSE;
  if (!row || sqlite3_column_type (query, 0) != SQLITE_INTEGER ||
      sqlite3_column_int64 (query, 0) < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "a count is not a number");
  *out_count = (guint64) sqlite3_column_int64 (query, 0);
  sqlite3_reset (query);
  return TRUE;
}

char *
query_text (sqlite3_stmt *query, int column)
{
  const char *text = (const char *) sqlite3_column_text (query, column);

  return g_strdup (text != NULL ? text : "");
}

GBytes *
query_bytes (sqlite3_stmt *query, int column)
{
  const void *data = sqlite3_column_blob (query, column);

  return g_bytes_new (data, (gsize) sqlite3_column_bytes (query, column));
}

gboolean
query_digest (sqlite3_stmt *query, int column, guint8 out_digest[PAE_DIGEST_SIZE])
{
  const void *data = sqlite3_column_blob (query, column);

  if (data == NULL || sqlite3_column_bytes (query, column) != PAE_DIGEST_SIZE)
    return FALSE;
  memcpy (out_digest, data, PAE_DIGEST_SIZE);
  return TRUE;
}
