/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening the ledger: the file is ours alone, SQLite is told to trust nothing in it, and whatever
 * is not exactly as expected is refused.  It must never be opened by two connections of one
 * process: closing any descriptor of the file would drop the locks of the other.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEDGER_NAME "ledger.db"
#define LOCK_NAME "lock"
#define BUSY_TIMEOUT_MS 5000

static gboolean
open_failed (GError **error, const char *path)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "%s: %s", path,
                       g_strerror (errno));
}

/* file_create: only where there is none: closing a descriptor of an open ledger drops its locks. */
static gboolean
file_create (const char *directory, const char *path, GError **error)
{
  autofd fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  autofd dirfd = -1;

  if (fd < 0)
    return errno == EEXIST || open_failed (error, path);
  dirfd = open (directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dirfd < 0 || fsync (dirfd) != 0)
    return open_failed (error, directory);
  return TRUE;
}

/* file_ensure: the file exists, is regular, ours, and nobody else may touch it. */
static gboolean
file_ensure (const char *directory, const char *path, GError **error)
{
  struct stat st;

  if (!file_create (directory, path, error))
    return FALSE;
  if (lstat (path, &st) != 0)
    return open_failed (error, path);
  if (!S_ISREG (st.st_mode) || st.st_uid != geteuid () || (st.st_mode & 077) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER,
                         "%s is not a private file of ours", path);
  return TRUE;
}

static gboolean
database_pragma (Ledger *ledger, const char *sql, const char *expected, GError **error)
{
  g_autoptr (sqlite3_stmt) query = query_new (ledger, error, sql, "");
  g_autofree char *value = NULL;
  gboolean row = FALSE;

  if (query == NULL || !query_next (ledger, query, &row, error))
    return FALSE;
  if (expected == NULL)
    return TRUE;
  value = row ? query_text (query, 0) : g_strdup ("");
  if (strcmp (value, expected) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "\"%s\" gave \"%s\"", sql,
                         value);
  return TRUE;
}

static gboolean
database_configure (Ledger *ledger, GError **error)
{
  static const struct
  {
    int option, value;
  } options[] = {
    { SQLITE_DBCONFIG_DEFENSIVE, 1 },      { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
    { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 }, { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
    { SQLITE_DBCONFIG_DQS_DDL, 0 },        { SQLITE_DBCONFIG_DQS_DML, 0 },
    { SQLITE_DBCONFIG_ENABLE_FKEY, 1 },
  };
  static const struct
  {
    const char *sql, *expected;
  } pragmas[] = {
    { "PRAGMA mmap_size = 0", NULL },
    { "PRAGMA temp_store = MEMORY", NULL },
    { "PRAGMA cell_size_check = ON", NULL },
    { "PRAGMA journal_mode = WAL", "wal" },
    { "PRAGMA journal_size_limit = 4194304", NULL },
    { "PRAGMA synchronous = FULL", NULL },
    { "PRAGMA synchronous", "2" },
    { "PRAGMA foreign_keys", "1" },
    { "PRAGMA user_version", NULL }, /* the first read, which makes the log */
  };

  int persist = 1;

  for (gsize i = 0; i < G_N_ELEMENTS (options); i++)
    {
      int now = -1;

      if (sqlite3_db_config (ledger->db, options[i].option, options[i].value, &now) != SQLITE_OK ||
          now != options[i].value)
        return query_failed (ledger, "cannot configure", error);
    }
  /* the last to close would unlink the log by its name, whosever it is by then */
  if (sqlite3_file_control (ledger->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist) != SQLITE_OK)
    return query_failed (ledger, "cannot keep the log", error);
  log_watch (ledger);
  sqlite3_limit (ledger->db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_busy_timeout (ledger->db, BUSY_TIMEOUT_MS);

  for (gsize i = 0; i < G_N_ELEMENTS (pragmas); i++)
    if (!database_pragma (ledger, pragmas[i].sql, pragmas[i].expected, error))
      return FALSE;
  return TRUE;
}

static gboolean
database_open (Ledger *ledger, const char *state_dir, GError **error)
{
  /* SQLITE_OPEN_NOFOLLOW looks at every component: a directory may be reached by a link */
  g_autofree char *directory = realpath (state_dir, NULL);
  g_autofree char *path = NULL;

  if (directory == NULL)
    return open_failed (error, state_dir);
  path = g_build_filename (directory, LEDGER_NAME, NULL);
  if (!file_ensure (directory, path, error))
    return FALSE;

  if (sqlite3_open_v2 (path, &ledger->db,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE |
                           SQLITE_OPEN_PRIVATECACHE,
                       log_vfs ()) != SQLITE_OK)
    return query_failed (ledger, path, error);
  return database_configure (ledger, error) && log_settle (directory, path, error);
}

static gboolean
runtime_open (Ledger *ledger, const char *runtime_dir, GError **error)
{
  ledger->runtime_fd = open (runtime_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (ledger->runtime_fd < 0)
    return open_failed (error, runtime_dir);
  ledger->lock_fd =
      openat (ledger->runtime_fd, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (ledger->lock_fd < 0 || flock (ledger->lock_fd, LOCK_EX) != 0)
    return open_failed (error, LOCK_NAME);
  return TRUE;
}

Ledger *
ledger_open (const char *state_dir, const char *runtime_dir, GError **error)
{
  g_autoptr (Ledger) ledger = g_new0 (Ledger, 1);

  ledger->runtime_fd = -1;
  ledger->lock_fd = -1;
  ledger->request_fd = -1;

  /* the lock is held to the end, so that of two first starts one makes everything */
  if (!runtime_open (ledger, runtime_dir, error) || !database_open (ledger, state_dir, error) ||
      !schema_ensure (ledger, error) || !mark_begin_boot (ledger, error))
    return NULL;
  flock (ledger->lock_fd, LOCK_UN);
  return g_steal_pointer (&ledger);
}

void
ledger_close (Ledger *ledger)
{
  if (ledger == NULL)
    return;
  request_unlock (ledger);
  log_write_back (ledger);
  query_forget_all (ledger);
  sqlite3_close (ledger->db);
  fd_clear (&ledger->lock_fd);
  fd_clear (&ledger->runtime_fd);
  secret_free (ledger->key);
  g_free (ledger->id);
  g_free (ledger);
}

const char *
ledger_id (const Ledger *ledger)
{
  return ledger->id;
}

gboolean
ledger_head (Ledger *ledger, guint64 *out_seq, guint8 out_head[PAE_DIGEST_SIZE], GError **error)
{
  return audit_head (ledger, out_seq, out_head, error);
}

void
ledger_summary_clear (LedgerSummary *summary)
{
  g_clear_pointer (&summary->stopped, g_free);
}

/* What stops everything, as the administrator wrote it where it was one. */
static gboolean
read_stopped (Ledger *ledger, char **out_stopped, GError **error)
{
  g_autoptr (GError) stopped = NULL;
  g_autoptr (sqlite3_stmt) query = NULL;
  g_autofree char *why = NULL;
  gboolean row = FALSE;

  query = query_new (ledger, error, "SELECT why FROM meta WHERE id = 1 AND halted", "");
  if (query == NULL || !query_next (ledger, query, &row, error))
    return FALSE;
  why = row ? query_text (query, 0) : NULL;
  ledger_check_running (ledger, &stopped);
  if (us_error_has_reason (stopped, US_REASON_HALTED) && why != NULL)
    *out_stopped = g_strdup_printf ("%s: %s", US_REASON_HALTED, why);
  else
    *out_stopped = g_strdup (stopped != NULL ? stopped->message : "");
  return TRUE;
}

gboolean
ledger_summary (Ledger *ledger, LedgerSummary *out_summary, GError **error)
{
  g_autoptr (sqlite3_stmt) passkeys = NULL;
  g_autoptr (sqlite3_stmt) requests = NULL;
  g_auto (LedgerSummary) summary = { 0 };
  guint64 n = 0;

  passkeys = query_new (ledger, error, "SELECT count (*) FROM passkey WHERE state = 'active'", "");
  if (passkeys == NULL || !query_count (ledger, passkeys, &n, error))
    return FALSE;
  summary.passkeys = (guint) n;

  requests = query_new (ledger, error, "SELECT count (*) FROM request", "");
  if (requests == NULL || !query_count (ledger, requests, &summary.requests, error) ||
      !audit_head (ledger, &summary.seq, summary.head, error) ||
      !read_stopped (ledger, &summary.stopped, error))
    return FALSE;

  *out_summary = summary;
  summary.stopped = NULL;
  return TRUE;
}
