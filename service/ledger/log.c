/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The write-ahead log, when it is synced and when it is written back.  Only ledger.c calls this.  A
 * commit is durable by the one sync of the log that SQLite makes at synchronous=FULL; nothing here
 * may take that away.  What is kept off the way of whoever waits for a hand-over:
 *   - that SQLite syncs the directory once for each process that commits, since it takes every log
 *     that it opens for one that it has just made.  See log_settle();
 *   - that the log is written back to the file, with two more syncs, in the middle of a commit.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_VFS "undersign-ledger"
#define LOG_SUFFIX "-wal"
#define LOG_PAGES_MAX 250 /* of 4 KiB: what a first start has to read again */

static sqlite3_vfs *system_vfs;

/* log_open: a log that is there is opened as such, and only one that is not is made. */
static int
log_open (sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
  if ((flags & SQLITE_OPEN_WAL) != 0 &&
      system_vfs->xOpen (system_vfs, name, file, flags & ~SQLITE_OPEN_CREATE, out_flags) ==
          SQLITE_OK)
    return SQLITE_OK;
  return system_vfs->xOpen (system_vfs, name, file, flags, out_flags);
}

const char *
log_vfs (void)
{
  static sqlite3_vfs vfs;

  if (system_vfs != NULL)
    return LOG_VFS;
  system_vfs = sqlite3_vfs_find (NULL);
  vfs = *system_vfs;
  vfs.pNext = NULL;
  vfs.zName = LOG_VFS;
  vfs.xOpen = log_open;
  return sqlite3_vfs_register (&vfs, 0) == SQLITE_OK ? LOG_VFS : "";
}

/*
 * log_settle: the log's name is as durable as what will be written to it.  A log is empty until the
 * first commit to it, so that whoever makes that commit has come by here after the file was made
 * and has synced the directory, or was killed and has made none.  One that is not there yet is made
 * by this process, for which SQLite then syncs.  Under the ledger's lock, after the first read,
 * before the first write.
 */
gboolean
log_settle (const char *directory, const char *path, GError **error)
{
  g_autofree char *log = g_strconcat (path, LOG_SUFFIX, NULL);
  autofd fd = -1;
  struct stat st;

  if (lstat (log, &st) != 0)
    return errno == ENOENT || us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "%s: %s",
                                            log, g_strerror (errno));
  if (st.st_size > 0)
    return TRUE;
  fd = open (directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || fsync (fd) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "%s: %s", directory,
                         g_strerror (errno));
  return TRUE;
}

static int
log_grew (void *data, sqlite3 *db, const char *name, int pages)
{
  Ledger *ledger = data;

  ledger->log_pages = pages;
  return SQLITE_OK;
}

/* log_watch: in the place of SQLite's own hook, which would write a long log back at once. */
void
log_watch (Ledger *ledger)
{
  sqlite3_wal_hook (ledger->db, log_grew, ledger);
}

/* log_write_back: where it is long.  If it fails nothing is lost: what is in the log is committed,
 * and the next one tries again. */
void
log_write_back (Ledger *ledger)
{
  if (ledger->log_pages >= LOG_PAGES_MAX)
    sqlite3_wal_checkpoint_v2 (ledger->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

void
ledger_leave_log (Ledger *ledger)
{
  sqlite3_db_config (ledger->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}
