/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passkeys as files: a folder of the person's own, one file a key.  Every file is written beside,
 * synced and renamed, so that a crash leaves the old one or the new one; what one that was killed left
 * beside goes when the next one writes.  A folder or file that others can read or write is refused,
 * never repaired.  Called by software.c.
 */
#include "module/card/key/store.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/fd.h"
#include "service/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define SUFFIX ".passkey"
#define UNFINISHED ".new" /* behind a point and an id */
#define FILE_MAX (64 * 1024)

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DIR, closedir)

typedef struct
{
  Store parent;
  char *path;
  int dirfd;
} FileStore;

static gboolean
failed (FileStore *store, const char *name, const char *doing, GError **error)
{
  int number = errno;

  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_STORE, "cannot %s %s%s%s: %s",
                       doing, store->path, name != NULL ? "/" : "", name != NULL ? name : "",
                       g_strerror (number));
}

/* What others could read, they could guess passphrases for. */
static gboolean
check_private (FileStore *store, const char *name, int fd, GError **error)
{
  struct stat info;

  if (fstat (fd, &info) < 0)
    return failed (store, name, "look at", error);
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_STORE,
                         "%s%s%s is open to others (mode %04o): make it %s and its passkeys new",
                         store->path, name != NULL ? "/" : "", name != NULL ? name : "",
                         info.st_mode & 07777u, name != NULL ? "0600" : "0700");
  return TRUE;
}

static gboolean
wrap (FileStore *store, const char *name, GError *local, GError **error)
{
  us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_STORE, "%s%s%s: %s", store->path,
                name != NULL ? "/" : "", name != NULL ? name : "", local->message);
  g_error_free (local);
  return FALSE;
}

/* read_names: of all that is in the folder, or NULL: what could not be read to its end is no list. */
static GPtrArray *
read_names (FileStore *store, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  autofd fd = openat (store->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_autoptr (DIR) dir = fd >= 0 ? fdopendir (fd) : NULL;
  const struct dirent *entry = NULL;

  if (dir != NULL)
    fd_steal (&fd);
  while (dir != NULL)
    {
      errno = 0;
      entry = readdir (dir);
      if (entry == NULL)
        break;
      g_ptr_array_add (names, g_strdup (entry->d_name));
    }
  if (dir != NULL && errno == 0)
    return g_steal_pointer (&names);
  failed (store, NULL, "read", error);
  return NULL;
}

static GPtrArray *
file_list (Store *base, GError **error)
{
  FileStore *store = (FileStore *) base;
  g_autoptr (GPtrArray) all = read_names (store, error);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; all != NULL && i < all->len; i++)
    {
      const char *name = g_ptr_array_index (all, i);

      if (name[0] != '.' && g_str_has_suffix (name, SUFFIX))
        g_ptr_array_add (names, g_strndup (name, strlen (name) - strlen (SUFFIX)));
    }
  g_ptr_array_sort (names, store_compare_names);
  return all != NULL ? g_steal_pointer (&names) : NULL;
}

static GBytes *
file_load (Store *base, const char *name, GError **error)
{
  FileStore *store = (FileStore *) base;
  g_autofree char *file = g_strconcat (name, SUFFIX, NULL);
  g_autoptr (GError) local = NULL;
  autofd fd = file_open_trusted (store->dirfd, file, geteuid (), &local);
  GBytes *bytes = NULL;

  if (fd < 0)
    {
      if (!g_error_matches (local, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        wrap (store, file, g_steal_pointer (&local), error);
      return NULL;
    }
  if (!check_private (store, file, fd, error))
    return NULL;
  bytes = fd_read_all (fd, FILE_MAX, &local);
  if (bytes == NULL)
    wrap (store, file, g_steal_pointer (&local), error);
  return bytes;
}

/* --- writing: whoever does holds store_file_lock() --- */

/* Of one that was killed.  It may hold a key that is to be forgotten. */
static gboolean
remove_unfinished (FileStore *store, GError **error)
{
  g_autoptr (GPtrArray) names = read_names (store, error);

  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);

      if (name[0] == '.' && g_str_has_suffix (name, UNFINISHED) &&
          unlinkat (store->dirfd, name, 0) < 0)
        return failed (store, name, "remove", error);
    }
  return names != NULL;
}

/* @file: what it is to be, for the error */
static gboolean
write_new (
    FileStore *store, const char *temporary, const char *file, GBytes *bytes, GError **error)
{
  autofd fd =
      openat (store->dirfd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  gsize len;
  const guint8 *data = g_bytes_get_data (bytes, &len);

  if (fd < 0)
    return failed (store, file, "make", error);
  if (!fd_write_all (fd, data, len, NULL) || fchmod (fd, 0600) < 0 || fsync (fd) < 0)
    return failed (store, file, "write", error);
  return TRUE;
}

/* is_there: for what is to be replaced; with errno where it is not. */
static gboolean
is_there (FileStore *store, const char *file)
{
  struct stat info;

  return fstatat (store->dirfd, file, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static gboolean
file_save (Store *base,
           const char *name,
           const char *label,
           GBytes *bytes,
           gboolean replace,
           GError **error)
{
  FileStore *store = (FileStore *) base;
  g_autofree char *unique = random_id ();
  g_autofree char *temporary = g_strconcat (".", unique, UNFINISHED, NULL);
  g_autofree char *file = g_strconcat (name, SUFFIX, NULL);

  if (replace && !is_there (store, file))
    return failed (store, file, "replace", error);
  if (!write_new (store, temporary, file, bytes, error))
    {
      unlinkat (store->dirfd, temporary, 0);
      return FALSE;
    }
  if (renameat2 (store->dirfd, temporary, store->dirfd, file, replace ? 0 : RENAME_NOREPLACE) < 0)
    {
      failed (store, file, "put in place", error);
      unlinkat (store->dirfd, temporary, 0);
      return FALSE;
    }
  if (fsync (store->dirfd) < 0)
    {
      failed (store, NULL, "sync", error);
      if (!replace) /* one that nobody is told of */
        unlinkat (store->dirfd, file, 0);
      return FALSE;
    }
  return TRUE;
}

static gboolean
file_remove (Store *base, const char *name, GError **error)
{
  FileStore *store = (FileStore *) base;
  g_autofree char *file = g_strconcat (name, SUFFIX, NULL);

  if (!remove_unfinished (store, error))
    return FALSE;
  if (unlinkat (store->dirfd, file, 0) < 0)
    return errno == ENOENT || errno == ENAMETOOLONG ? store_absent (error)
                                                    : failed (store, file, "remove", error);
  if (fsync (store->dirfd) < 0)
    return failed (store, file, "remove", error);
  return TRUE;
}

static void
file_free (Store *base)
{
  FileStore *store = (FileStore *) base;

  fd_clear (&store->dirfd);
  g_free (store->path);
  g_free (store);
}

static const StoreClass file_class = {
  .place = "file",
  .list = file_list,
  .load = file_load,
  .save = file_save,
  .remove = file_remove,
  .free = file_free,
};

/* Each folder that is made here is there for good before anything is in it. */
static gboolean
make_folder (const char *path)
{
  g_autofree char *parent = g_path_get_dirname (path);
  autofd fd = -1;

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return TRUE;
  if (strcmp (parent, path) == 0 || !make_folder (parent))
    return FALSE;
  fd = open (parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd >= 0 && (mkdir (path, 0700) == 0 || errno == EEXIST) && fsync (fd) == 0;
}

Store *
store_file_open (const char *path, GError **error)
{
  FileStore *store = g_new0 (FileStore, 1);
  g_autoptr (Store) base = &store->parent;
  g_autoptr (GError) local = NULL;

  store->parent.klass = &file_class;
  store->path = g_strdup (path);
  store->dirfd = -1;
  if (!make_folder (path))
    {
      failed (store, NULL, "make", error);
      return NULL;
    }
  store->dirfd = dir_open_trusted (AT_FDCWD, path, geteuid (), &local);
  if (store->dirfd < 0)
    {
      wrap (store, NULL, g_steal_pointer (&local), error);
      return NULL;
    }
  if (!check_private (store, NULL, store->dirfd, error))
    return NULL;
  return g_steal_pointer (&base);
}

int
store_file_lock (Store *base, GError **error)
{
  FileStore *store = (FileStore *) base;
  autofd fd = -1;

  g_assert (base->klass == &file_class);
  fd = openat (store->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || flock (fd, LOCK_EX) < 0)
    {
      failed (store, NULL, "lock", error);
      return -1;
    }
  remove_unfinished (store, NULL); /* what stays is in nobody's way */
  return fd_steal (&fd);
}

gboolean
store_absent (GError **error)
{
  return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_CREDENTIAL_UNKNOWN,
                       "this passkey is not kept on this computer");
}

int
store_compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

void
store_free (Store *store)
{
  if (store != NULL)
    store->klass->free (store);
}
