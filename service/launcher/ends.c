/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes terminals and sockets.  Called by launch.c.  What comes through them is never read here. */
#include "service/launcher/ends.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static gboolean
failed (GError **error, const char *what)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot make a %s: %s", what,
                       g_strerror (errno));
}

gboolean
ends_terminal (guint16 rows, guint16 columns, int *out_master, int *out_slave, GError **error)
{
  const struct winsize size = { .ws_row = rows, .ws_col = columns };
  const char *path = NULL;

  *out_master = posix_openpt (O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*out_master < 0 || unlockpt (*out_master) != 0 ||
      ioctl (*out_master, TIOCSWINSZ, &size) != 0)
    return failed (error, "terminal");
  path = ptsname (*out_master);
  *out_slave = path != NULL ? open (path, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
  return *out_slave >= 0 || failed (error, "terminal");
}

gboolean
ends_link (int *out_near, int *out_far, GError **error)
{
  int pair[2] = { -1, -1 };

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return failed (error, "socket");
  *out_near = pair[0];
  *out_far = pair[1];
  return TRUE;
}

/* Who leaves shuts their end first, so that a word is either read or not taken. */
gboolean
ends_say (int near, const char *word)
{
  return send (near, word, strlen (word), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t) strlen (word);
}
