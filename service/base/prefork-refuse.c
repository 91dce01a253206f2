/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a listener without a worker says to those who call: that nothing was done.  It is the one
 * thing that a listener does with a connection, prefork.c alone calls it, and it never looks at what
 * was sent.
 */
#include "service/base/prefork-refuse.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/handover.h"

#include <errno.h>
#include <sys/socket.h>

static void
refuse (int sock)
{
  g_autoptr (GError) error = NULL;
  char byte = 0;

  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                "no worker can be started, and nothing was done");
  /* From here on the peer cannot send, so that nothing is left unread: it would overtake the answer.
   * There is no room for control data, and the kernel closes what files came along. */
  (void) shutdown (sock, SHUT_RD);
  while (recv (sock, &byte, sizeof byte, MSG_DONTWAIT) > 0)
    continue;
  (void) handover_send_error (sock, error, NULL);
}

gboolean
prefork_refuse (int listen_fd, GError **error)
{
  for (guint i = 0; i < PREFORK_REFUSE_MAX; i++)
    {
      autofd sock = accept4 (listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

      if (sock >= 0)
        refuse (sock);
      else if (errno == EAGAIN)
        return TRUE;
      else if (errno != EINTR && errno != ECONNABORTED)
        return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                             "cannot refuse connections: %s", g_strerror (errno));
    }
  return TRUE;
}
