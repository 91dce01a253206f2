/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sockets that systemd made for this service.  A listener calls this once, first of all; it must
 * never make a socket itself, since owner and mode of it are the unit's to say.
 */
#include "service/base/listen.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static gboolean
environment_is_number (const char *name, gint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, number);

  return g_strcmp0 (g_getenv (name), text) == 0;
}

static gboolean
socket_option_is (int fd, int option, int value)
{
  int got = -1;
  socklen_t len = sizeof got;

  return getsockopt (fd, SOL_SOCKET, option, &got, &len) == 0 && got == value;
}

static gboolean
listen_fd_set_up (int fd, GError **error)
{
  int flags = 0;

  if (!socket_option_is (fd, SO_DOMAIN, AF_UNIX) || !socket_option_is (fd, SO_TYPE, SOCK_SEQPACKET) ||
      !socket_option_is (fd, SO_ACCEPTCONN, 1))
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "a socket passed in is not a listening Unix SOCK_SEQPACKET one");

  /* Not blocking: of two workers that wait during a reload one finds nothing to accept. */
  flags = fcntl (fd, F_GETFL);
  if (flags < 0 || fcntl (fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
      fcntl (fd, F_SETFD, FD_CLOEXEC) < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "cannot set up a listening socket: %s", g_strerror (errno));
  return TRUE;
}

gboolean
listen_fds_take (guint count, GError **error)
{
  gboolean ours = environment_is_number ("LISTEN_PID", getpid ());
  gboolean all = environment_is_number ("LISTEN_FDS", count);

  (void) unsetenv ("LISTEN_PID");
  (void) unsetenv ("LISTEN_FDS");
  (void) unsetenv ("LISTEN_FDNAMES");

  if (!ours || !all)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "exactly %u socket%s must be passed in, by LISTEN_FDS and LISTEN_PID", count,
                         count == 1 ? "" : "s");
  for (guint i = 0; i < count; i++)
    if (!listen_fd_set_up (LISTEN_FD + (int) i, error))
      return FALSE;
  return TRUE;
}
