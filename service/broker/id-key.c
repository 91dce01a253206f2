/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of the broker's secret: mode 0600, written whole under another name and moved to its
 * place, so that a crash leaves the old one or none.  A disk that fails is never taken for a file
 * that is not there, nor one of another size: the ids that follow from a new one would be others.
 */
#include "service/broker/id-key.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNFINISHED ID_KEY_NAME ".new"

static gboolean
set_failed (GError **error, const char *name)
{
  int number = errno;

  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "%s: %s", name,
                       g_strerror (number));
}

/* key_read: NULL without an error where there is none. */
static Secret *
key_read (int dirfd, const char *dir, GError **error)
{
  g_autoptr (Secret) key = NULL;
  struct stat status;
  autofd fd = openat (dirfd, ID_KEY_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

  if (fd < 0 && errno == ENOENT)
    return NULL;
  if (fd < 0 || fstat (fd, &status) != 0)
    {
      set_failed (error, ID_KEY_NAME);
      return NULL;
    }
  if (!S_ISREG (status.st_mode) || status.st_uid != geteuid () || (status.st_mode & 077) != 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNTRUSTED_FILE,
                    ID_KEY_NAME " is not a private file of ours");
      return NULL;
    }
  if (status.st_size != ID_KEY_SIZE)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNTRUSTED_FILE,
                    "%s/" ID_KEY_NAME " has %" G_GINT64_FORMAT " bytes, not %d: put it back, or "
                    "remove it so that a new one is made",
                    dir, (gint64) status.st_size, ID_KEY_SIZE);
      return NULL;
    }
  key = secret_new_read (fd, ID_KEY_SIZE, error);
  if (key != NULL && secret_size (key) != ID_KEY_SIZE)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, ID_KEY_NAME " ended early");
      return NULL;
    }
  return g_steal_pointer (&key);
}

static gboolean
key_write (int dirfd, Secret *key, GError **error)
{
  autofd fd = -1;

  if (unlinkat (dirfd, UNFINISHED, 0) != 0 && errno != ENOENT)
    return set_failed (error, UNFINISHED);
  fd = openat (dirfd, UNFINISHED, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return set_failed (error, UNFINISHED);
  if (!fd_write_all (fd, secret_data (key), secret_size (key), error))
    return FALSE;
  if (fsync (fd) != 0 || renameat (dirfd, UNFINISHED, dirfd, ID_KEY_NAME) != 0 ||
      fsync (dirfd) != 0)
    return set_failed (error, ID_KEY_NAME);
  return TRUE;
}

Secret *
id_key_open (const char *dir, GError **error)
{
  autofd dirfd = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_autoptr (GError) local = NULL;
  g_autoptr (Secret) key = NULL;

  if (dirfd < 0)
    {
      set_failed (error, dir);
      return NULL;
    }
  key = key_read (dirfd, dir, &local);
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }
  if (key != NULL)
    return g_steal_pointer (&key);

  key = secret_new (ID_KEY_SIZE);
  if (key == NULL || getrandom (secret_data (key), ID_KEY_SIZE, 0) != ID_KEY_SIZE)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                    "no locked memory or no randomness for " ID_KEY_NAME);
      return NULL;
    }
  return key_write (dirfd, key, error) ? g_steal_pointer (&key) : NULL;
}
