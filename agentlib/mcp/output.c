/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A queue of bytes before a descriptor.  The descriptor may be shared with others, so that its mode
 * is not changed: a socket is told with each piece not to wait, and anything else is written to
 * only when it is ready, and no more than it then takes at once.
 */
#include "agentlib/mcp/output.h"

#include <errno.h>
#include <glib-unix.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

struct Output
{
  int fd;
  gsize max;
  OutputChanged changed;
  gpointer data;
  GByteArray *kept;
  gsize start; /* of what is not out yet */
  guint ready_id;
  gboolean broken;
};

Output *
output_new (int fd, gsize max, OutputChanged changed, gpointer data)
{
  Output *output = g_new0 (Output, 1);

  output->fd = fd;
  output->max = max;
  output->changed = changed;
  output->data = data;
  output->kept = g_byte_array_new ();
  return output;
}

void
output_free (Output *output)
{
  if (output == NULL)
    return;
  g_clear_handle_id (&output->ready_id, g_source_remove);
  g_byte_array_unref (output->kept);
  g_free (output);
}

gboolean
output_is_empty (const Output *output)
{
  return output->start == output->kept->len;
}

static void
output_break (Output *output)
{
  output->broken = TRUE;
  output->start = 0;
  g_byte_array_set_size (output->kept, 0);
  g_clear_handle_id (&output->ready_id, g_source_remove);
  output->changed (TRUE, output->data);
}

/* What a pipe says to be ready for is this much; a write of it does not wait. */
static ssize_t
write_ready (int fd, const void *bytes, gsize len)
{
  struct pollfd ready = { .fd = fd, .events = POLLOUT };

  if (TEMP_FAILURE_RETRY (poll (&ready, 1, 0)) == 1 && ready.revents != 0)
    return TEMP_FAILURE_RETRY (write (fd, bytes, MIN (len, PIPE_BUF)));
  errno = EAGAIN;
  return -1;
}

static ssize_t
write_some (int fd, const void *bytes, gsize len)
{
  ssize_t put = TEMP_FAILURE_RETRY (send (fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL));

  return put < 0 && errno == ENOTSOCK ? write_ready (fd, bytes, len) : put;
}

/* FALSE where it can't be written to any more. */
static gboolean
output_write (Output *output)
{
  while (!output_is_empty (output))
    {
      ssize_t put = write_some (output->fd, output->kept->data + output->start,
                                output->kept->len - output->start);

      if (put < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK;
      output->start += (gsize) put;
    }
  g_byte_array_set_size (output->kept, 0);
  output->start = 0;
  return TRUE;
}

static gboolean
on_ready (gint fd, GIOCondition condition, gpointer data)
{
  Output *output = data;

  if (!output_write (output))
    {
      output->ready_id = 0;
      output_break (output);
      return G_SOURCE_REMOVE;
    }
  if (!output_is_empty (output))
    return G_SOURCE_CONTINUE;
  output->ready_id = 0;
  output->changed (FALSE, output->data);
  return G_SOURCE_REMOVE;
}

void
output_send (Output *output, const char *bytes, gsize len)
{
  if (output->broken)
    return;
  if (output->start > output->max)
    {
      g_byte_array_remove_range (output->kept, 0, (guint) output->start);
      output->start = 0;
    }
  g_byte_array_append (output->kept, (const guint8 *) bytes, (guint) len);
  if (!output_write (output) || output->kept->len - output->start > output->max)
    output_break (output);
  else if (!output_is_empty (output) && output->ready_id == 0)
    output->ready_id = g_unix_fd_add (output->fd, G_IO_OUT | G_IO_HUP | G_IO_ERR, on_ready, output);
}
