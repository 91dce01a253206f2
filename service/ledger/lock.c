/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who executes: the worker of a request holds a lock on request-ID.lock in the runtime directory
 * from before the commit that consumes until the outcome is written, or until it dies.  A consumed
 * request without an outcome whose lock is free is therefore unknown.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

static char *
lock_name (const char *request)
{
  return g_strdup_printf ("request-%s.lock", request);
}

gboolean
request_lock (Ledger *ledger, const char *request, GError **error)
{
  g_autofree char *name = lock_name (request);
  autofd fd = openat (ledger->runtime_fd, name,
                      O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

  g_assert (ledger->request_fd < 0);
  if (fd < 0 || flock (fd, LOCK_EX | LOCK_NB) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "%s: %s", name,
                         g_strerror (errno));
  ledger->request_fd = fd_steal (&fd);
  ledger->request_lock = g_steal_pointer (&name);
  return TRUE;
}

void
request_unlock (Ledger *ledger)
{
  if (ledger->request_fd < 0)
    return;
  unlinkat (ledger->runtime_fd, ledger->request_lock, 0);
  fd_clear (&ledger->request_fd);
  g_clear_pointer (&ledger->request_lock, g_free);
}

gboolean
request_is_locked (Ledger *ledger, const char *request)
{
  g_autofree char *name = lock_name (request);
  autofd fd = openat (ledger->runtime_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

  if (fd < 0)
    return errno != ENOENT;
  return flock (fd, LOCK_SH | LOCK_NB) != 0;
}
