/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sealed memfds: made for sending, checked before anything of a received one is read.  Whoever
 * takes a descriptor from another process calls memfd_check() first.  Nothing here follows a path,
 * and nothing accepts a descriptor whose content could still change or could block a reader.
 */
#include "service/base/memfd.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#ifndef MFD_NOEXEC_SEAL
#  define MFD_NOEXEC_SEAL 8U
#endif

#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

/* Kernels before 6.3 do not know MFD_NOEXEC_SEAL, and some newer ones demand it. */
static int
memfd_open (const char *name)
{
  int fd = memfd_create (name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

  if (fd < 0 && errno == EINVAL)
    fd = memfd_create (name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return fd;
}

int
memfd_new_sealed (const char *name, const void *data, gsize len, GError **error)
{
  autofd fd = memfd_open (name);

  if (fd < 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot create a memfd: %s",
                    g_strerror (errno));
      return -1;
    }
  if (!fd_write_all (fd, data, len, error))
    return -1;
  if (fcntl (fd, F_ADD_SEALS, SEALS) < 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot seal a memfd: %s",
                    g_strerror (errno));
      return -1;
    }

  return fd_steal (&fd);
}

static gboolean
refuse_unsealed (GError **error, const char *why)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_NOT_SEALED,
                       "the file is not a fully sealed memfd: %s", why);
}

gboolean
memfd_check (int fd, gsize max_size, gsize *out_size, GError **error)
{
  struct statfs file_system;
  struct stat info;
  int seals = fcntl (fd, F_GET_SEALS);
  int flags = fcntl (fd, F_GETFL);

  if (seals < 0 || flags < 0)
    return refuse_unsealed (error, "it has no seals");
  if ((seals & SEALS) != SEALS)
    return refuse_unsealed (error, "a seal is missing");
  if ((flags & O_ACCMODE) == O_WRONLY)
    return refuse_unsealed (error, "it cannot be read");
  if (fstat (fd, &info) < 0 || !S_ISREG (info.st_mode) || info.st_size < 0)
    return refuse_unsealed (error, "it is not a regular file");
  /* A page of a hugetlb memfd may not exist when it is touched: reading it could raise SIGBUS. */
  if (fstatfs (fd, &file_system) < 0 || file_system.f_type != TMPFS_MAGIC)
    return refuse_unsealed (error, "it is not of ordinary pages");
  if ((guint64) info.st_size > max_size)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the file has %" G_GUINT64_FORMAT " bytes, at most %" G_GSIZE_FORMAT
                         " are accepted",
                         (guint64) info.st_size, max_size);

  *out_size = (gsize) info.st_size;
  return TRUE;
}

typedef struct
{
  void *address;
  gsize size;
} Mapping;

static void
mapping_free (gpointer data)
{
  Mapping *mapping = data;

  munmap (mapping->address, mapping->size);
  g_free (mapping);
}

GBytes *
memfd_read (int fd, gsize max_size, GError **error)
{
  Mapping *mapping = NULL;
  void *address = NULL;
  gsize size = 0;

  if (!memfd_check (fd, max_size, &size, error))
    return NULL;
  if (size == 0)
    return g_bytes_new (NULL, 0);

  address = mmap (NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot map a memfd: %s",
                    g_strerror (errno));
      return NULL;
    }

  mapping = g_new (Mapping, 1);
  *mapping = (Mapping){ .address = address, .size = size };
  return g_bytes_new_with_free_func (address, size, mapping_free, mapping);
}

/*
 * A lock of an open file description of its own: a memfd is sent as the same description that it
 * was made with, and a lock is never in the way of its holder.
 */
int
memfd_lease (int fd, GError **error)
{
  struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  autofd lease = open (path, O_RDONLY | O_CLOEXEC);

  if (lease < 0 || fcntl (lease, F_OFD_SETLK, &lock) != 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot lease a memfd: %s",
                    g_strerror (errno));
      return -1;
    }
  return fd_steal (&lease);
}

gboolean
memfd_is_leased (int fd)
{
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

  return fcntl (fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_RDLCK;
}
