/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A VFS that leaves everything to that of the system, but for the methods of an open file that read,
 * write, sync and lock.  For tests only.
 */
#include "tests/broker/disk.h"

#include <sqlite3.h>

/* The methods of a file, and those that they stand for. */
typedef struct
{
  sqlite3_io_methods methods;
  const sqlite3_io_methods *real;
} Methods;

static sqlite3_vfs *real_vfs;
static GHashTable *tables; /* real methods → Methods */
static DiskFault planned;
static guint left;
static gboolean only_once, has_struck;

static const sqlite3_io_methods *
real_of (const sqlite3_file *file)
{
  return ((const Methods *) file->pMethods)->real;
}

/* strikes: whether this operation is one that fails. */
static gboolean
strikes (DiskFault fault)
{
  if (planned != fault || left > 0 || (only_once && has_struck))
    return FALSE;
  has_struck = TRUE;
  return TRUE;
}

static int
disk_read (sqlite3_file *file, void *data, int len, sqlite3_int64 at)
{
  if (strikes (DISK_BROKEN))
    return SQLITE_IOERR_READ;
  if (planned == DISK_BROKEN && left > 0)
    left--;
  return real_of (file)->xRead (file, data, len, at);
}

static int
disk_write (sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
  if (planned == DISK_READ_ONLY && has_struck)
    return SQLITE_IOERR_WRITE;
  return strikes (DISK_FULL) ? SQLITE_FULL : real_of (file)->xWrite (file, data, len, at);
}

static int
disk_sync (sqlite3_file *file, int flags)
{
  if (strikes (DISK_UNSYNCED) || strikes (DISK_READ_ONLY))
    return SQLITE_IOERR_FSYNC;
  return real_of (file)->xSync (file, flags);
}

/* The lock that a transaction which writes holds: the first of those of a write-ahead log. */
static int
disk_lock (sqlite3_file *file, int first, int n, int flags)
{
  if (planned == DISK_FULL && left > 0 && first == 0 && (flags & SQLITE_SHM_UNLOCK) != 0 &&
      (flags & SQLITE_SHM_EXCLUSIVE) != 0)
    left--;
  return real_of (file)->xShmLock (file, first, n, flags);
}

static int
disk_open (sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
  int rc = real_vfs->xOpen (real_vfs, name, file, flags, out_flags);
  Methods *methods = NULL;

  if (file->pMethods == NULL)
    return rc;
  methods = g_hash_table_lookup (tables, file->pMethods);
  if (methods == NULL)
    {
      methods = g_new0 (Methods, 1);
      methods->methods = *file->pMethods;
      methods->real = file->pMethods;
      methods->methods.xRead = disk_read;
      methods->methods.xWrite = disk_write;
      methods->methods.xSync = disk_sync;
      methods->methods.xShmLock = disk_lock;
      g_hash_table_insert (tables, (gpointer) file->pMethods, methods);
    }
  file->pMethods = &methods->methods;
  return rc;
}

void
disk_install (void)
{
  static sqlite3_vfs vfs;

  if (real_vfs != NULL)
    return;
  real_vfs = sqlite3_vfs_find (NULL);
  g_assert_nonnull (real_vfs);
  tables = g_hash_table_new (NULL, NULL);
  vfs = *real_vfs;
  vfs.pNext = NULL;
  vfs.zName = "disk";
  vfs.xOpen = disk_open;
  g_assert_cmpint (sqlite3_vfs_register (&vfs, 1), ==, SQLITE_OK);
}

void
disk_fail (DiskFault fault, guint after, gboolean once)
{
  planned = fault;
  left = after;
  only_once = once;
  has_struck = FALSE;
}

gboolean
disk_has_struck (void)
{
  return has_struck;
}

gboolean
disk_heal (void)
{
  planned = DISK_WELL;
  return has_struck;
}
