/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that only their owner can change.  A path is opened once; type, owner and mode are read
 * from the descriptor that is then read, so nothing can be swapped between check and use.  Where
 * the system says no (ENOENT, EACCES) the error is a GFileError, where we say no it is ours.
 */
#include "service/base/file.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define READ_CHUNK (64 * 1024)

static gboolean
set_errno_error (GError **error, const char *doing, const char *what)
{
  int number = errno;

  g_set_error (error, G_FILE_ERROR, (int) g_file_error_from_errno (number), "cannot %s %s: %s",
               doing, what, g_strerror (number));
  return FALSE;
}

/* After openat() refused: for the message only.  Leaves errno as it was. */
static gboolean
is_symlink (int dirfd, const char *path)
{
  int number = errno;
  struct stat info;
  gboolean yes = fstatat (dirfd, path, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK (info.st_mode);

  errno = number;
  return yes;
}

/* open_trusted: @type is S_IFREG or S_IFDIR. */
static int
open_trusted (int dirfd, const char *path, mode_t type, uid_t owner, GError **error)
{
  int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  struct stat info;
  autofd fd = openat (dirfd, path, type == S_IFDIR ? flags | O_DIRECTORY : flags);
  const char *fault = NULL;

  if (fd < 0 && is_symlink (dirfd, path))
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNTRUSTED_FILE, "%s is a symbolic link",
                    path);
      return -1;
    }
  if (fd < 0 || fstat (fd, &info) < 0)
    {
      set_errno_error (error, "open", path);
      return -1;
    }

  if ((info.st_mode & S_IFMT) != type)
    fault = type == S_IFDIR ? "is not a directory" : "is not a regular file";
  else if (info.st_uid != owner)
    fault = "does not belong to the user that it must belong to";
  else if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    fault = "can be written by others than its owner";

  if (fault != NULL)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNTRUSTED_FILE, "%s %s", path, fault);
      return -1;
    }
  return fd_steal (&fd);
}

int
file_open_trusted (int dirfd, const char *path, uid_t owner, GError **error)
{
  return open_trusted (dirfd, path, S_IFREG, owner, error);
}

int
dir_open_trusted (int dirfd, const char *path, uid_t owner, GError **error)
{
  return open_trusted (dirfd, path, S_IFDIR, owner, error);
}

static GBytes *
read_all (int fd, const char *what, gsize max, GError **error)
{
  g_autoptr (GByteArray) data = g_byte_array_new ();

  for (;;)
    {
      gsize have = data->len;
      /* one byte more than there may be tells that there is too much */
      gsize room = MIN (READ_CHUNK, max - have + 1);
      ssize_t n = 0;

      g_byte_array_set_size (data, (guint) (have + room));
      do
        n = read (fd, data->data + have, room);
      while (n < 0 && errno == EINTR);
      if (n < 0)
        {
          set_errno_error (error, "read", what);
          return NULL;
        }

      g_byte_array_set_size (data, (guint) (have + (gsize) n));
      if (data->len > max)
        {
          us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                        "%s is larger than %" G_GSIZE_FORMAT " bytes", what, max);
          return NULL;
        }
      if (n == 0)
        return g_byte_array_free_to_bytes (g_steal_pointer (&data));
    }
}

GBytes *
fd_read_all (int fd, gsize max, GError **error)
{
  g_return_val_if_fail (max < G_MAXUINT - READ_CHUNK, NULL);

  return read_all (fd, "the file", max, error);
}

gboolean
file_refuse_given (const char *path, GError **error)
{
  int number = errno;
  gboolean is_id = number == ENOENT && g_str_has_prefix (path, "sha256:");

  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                       "cannot open %s: %s%s", path, g_strerror (number),
                       is_id ? "; a file is wanted here, no id and no digest" : "");
}

GBytes *
file_read_given (const char *path, gsize max, GError **error)
{
  g_autoptr (GError) local = NULL;
  GBytes *bytes = NULL;
  autofd fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

  if (fd < 0)
    file_refuse_given (path, &local);
  else
    bytes = read_all (fd, path, max, &local);
  if (bytes != NULL)
    return bytes;
  if (local->domain == US_ERROR)
    g_propagate_error (error, g_steal_pointer (&local));
  else
    us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s", local->message);
  return NULL;
}

GBytes *
file_read_trusted (int dirfd, const char *path, uid_t owner, gsize max, GError **error)
{
  autofd fd = open_trusted (dirfd, path, S_IFREG, owner, error);

  g_return_val_if_fail (max < G_MAXUINT - READ_CHUNK, NULL);

  return fd >= 0 ? read_all (fd, path, max, error) : NULL;
}

gboolean
fd_write_all (int fd, const void *data, gsize len, GError **error)
{
  const guint8 *next = data;

  while (len > 0)
    {
      ssize_t n = write (fd, next, len);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return set_errno_error (error, "write", "the file");
      next += n;
      len -= (gsize) n;
    }
  return TRUE;
}

/* --- making --- */

/* By its descriptor: what somebody else may have put at the unfinished name gets no other one.  A
 * link, where renaming would replace what is there. */
static gboolean
link_fd (int fd, int dirfd, const char *name)
{
  char source[sizeof "/proc/self/fd/" + 11];

  g_snprintf (source, sizeof source, "/proc/self/fd/%d", fd);
  return linkat (AT_FDCWD, source, dirfd, name, AT_SYMLINK_FOLLOW) == 0;
}

static char *
unfinished_name (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);

  return g_strdup_printf (".%s.new", name);
}

void
file_publish_tidy (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *name = unfinished_name (path);
  g_autofree char *unfinished = g_build_filename (folder, name, NULL);

  unlink (unfinished);
}

gboolean
file_publish (const char *path, const char *text, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *unfinished = unfinished_name (path);
  autofd dirfd = -1;
  autofd fd = -1;
  gboolean done = FALSE;

  if (g_mkdir_with_parents (folder, 0755) != 0)
    return set_errno_error (error, "make", folder);
  dirfd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dirfd < 0)
    return set_errno_error (error, "open", folder);
  unlinkat (dirfd, unfinished, 0); /* of one that was killed */
  fd = openat (dirfd, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0)
    return set_errno_error (error, "make", path);
  done = fchmod (fd, 0644) == 0 && fd_write_all (fd, text, strlen (text), NULL) &&
         fsync (fd) == 0 && link_fd (fd, dirfd, name);
  if (!done)
    set_errno_error (error, "make", path);
  unlinkat (dirfd, unfinished, 0);
  if (done)
    fsync (dirfd); /* it has its name; one that is lost with the power is made again */
  return done;
}
