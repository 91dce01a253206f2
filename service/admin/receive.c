/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a pipe in the main loop.  Called by credential.c.  It must never wait: the caller has the
 * pipe, too, whether it blocks is his to choose, and he may take out again what was seen in it.  So
 * its content is moved into a pipe of our own, which needs no more than what is there.
 */
#include "service/admin/receive.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <unistd.h>

#define AT_ONCE (64 * 1024)

typedef struct
{
  int fd;     /* the caller's */
  int own[2]; /* of a pipe that is empty but while something is moved */
  Secret *buffer;
  gsize len, max;
  guint seconds;
  guint source, timer, watch;
  ReceiveDone done;
  gpointer data;
} Receive;

static GList *pending;

static void
receive_free (Receive *receive)
{
  g_clear_handle_id (&receive->source, g_source_remove);
  g_clear_handle_id (&receive->timer, g_source_remove);
  g_clear_handle_id (&receive->watch, g_bus_unwatch_name);
  g_clear_pointer (&receive->buffer, secret_free);
  fd_clear (&receive->own[0]);
  fd_clear (&receive->own[1]);
  pending = g_list_remove (pending, receive);
  g_free (receive);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Receive, receive_free)

/* The last of it: what was received, or why nothing was. */
static void
receive_end (Receive *ended, const GError *error)
{
  g_autoptr (Receive) receive = ended;
  g_autoptr (Secret) secret = NULL;
  g_autoptr (GError) local = NULL;

  g_clear_handle_id (&receive->source, g_source_remove);
  if (error == NULL)
    secret = secret_new_from (secret_data (receive->buffer), receive->len);
  if (error == NULL && secret == NULL)
    us_error_set (&local, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot lock memory");
  receive->done (secret, error != NULL ? error : local, receive->data);
}

static gboolean
on_late (gpointer data)
{
  Receive *receive = data;
  g_autoptr (GError) error = NULL;

  receive->timer = 0;
  us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                "\"secret\" did not end within %u seconds", receive->seconds);
  receive_end (receive, error);
  return G_SOURCE_REMOVE;
}

static void
on_left (GDBusConnection *bus, const char *name, gpointer data)
{
  g_autoptr (GError) error = NULL;

  us_error_set (&error, US_ERROR_REFUSED, US_REASON_IDENTITY, "the caller left");
  receive_end (data, error);
}

/* receive_some: how much was there now; 0 at the end of it, -1 with errno. */
static ssize_t
receive_some (Receive *receive)
{
  ssize_t moved = splice (receive->fd, NULL, receive->own[1], NULL, AT_ONCE, SPLICE_F_NONBLOCK);
  ssize_t got = 0;

  for (ssize_t left = moved; left > 0 && receive->len <= receive->max; left -= got)
    {
      const gsize room = receive->max + 1 - receive->len;

      got = read (receive->own[0], secret_data (receive->buffer) + receive->len,
                  MIN ((gsize) left, room));
      if (got <= 0)
        return -1;
      receive->len += (gsize) got;
    }
  return moved;
}

gboolean
receive_check_size (gsize len, gsize max, GError **error)
{
  return (len > 0 && len <= max) ||
         us_error_set (error, US_ERROR_INVALID_ARGUMENT,
                       len == 0 ? US_REASON_BAD_VALUE : US_REASON_TOO_LARGE,
                       "\"secret\" must have 1 to %" G_GSIZE_FORMAT " bytes", max);
}

static gboolean
on_readable (int fd, GIOCondition condition, gpointer data)
{
  Receive *receive = data;
  const ssize_t got = receive_some (receive);
  const int number = errno;
  g_autoptr (GError) error = NULL;

  if ((got < 0 && (number == EAGAIN || number == EINTR)) ||
      (got > 0 && receive->len <= receive->max))
    return G_SOURCE_CONTINUE;
  receive->source = 0;
  if (got < 0)
    us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                  "\"secret\" cannot be read: %s", g_strerror (number));
  else
    receive_check_size (receive->len, receive->max, &error);
  receive_end (receive, error);
  return G_SOURCE_REMOVE;
}

gboolean
receive_begin (const ReceivePipe *pipe, ReceiveDone done, gpointer data, GError **error)
{
  g_autoptr (Receive) receive = NULL;
  Receive *begun = NULL;

  if (g_list_length (pending) >= RECEIVE_MAX)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "%d secrets are being read", RECEIVE_MAX);
  receive = g_new0 (Receive, 1);
  *receive = (Receive){ .fd = pipe->fd,
                        .own = { -1, -1 },
                        .buffer = secret_new (pipe->max + 1),
                        .max = pipe->max,
                        .seconds = pipe->seconds,
                        .done = done,
                        .data = data };
  pending = g_list_prepend (pending, receive);
  if (receive->buffer == NULL)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot lock memory");
  if (pipe2 (receive->own, O_CLOEXEC | O_NONBLOCK) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "no descriptor: %s",
                         g_strerror (errno));
  begun = g_steal_pointer (&receive);
  begun->source = g_unix_fd_add (begun->fd, G_IO_IN | G_IO_HUP | G_IO_ERR, on_readable, begun);
  begun->timer = g_timeout_add_seconds (begun->seconds, on_late, begun);
  begun->watch = g_bus_watch_name_on_connection (
      pipe->bus, pipe->sender, G_BUS_NAME_WATCHER_FLAGS_NONE, NULL, on_left, begun, NULL);
  return TRUE;
}

void
receive_end_all (void)
{
  g_autoptr (GError) error = NULL;

  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "the service ends");
  while (pending != NULL)
    receive_end (pending->data, error);
}
