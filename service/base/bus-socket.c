/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recvmsg(2) and sendmsg(2), with descriptors that belong to nobody else and never for a wait. */
#include "service/base/bus-socket.h"

#include "service/base/fd.h"

#include <string.h>
#include <sys/socket.h>

#define FDS_MAX 253 /* of one read, by the kernel */

static guint
descriptors_of (struct msghdr *message, int *out_fds)
{
  guint n = 0;

  for (struct cmsghdr *part = CMSG_FIRSTHDR (message); part != NULL;
       part = CMSG_NXTHDR (message, part))
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
      {
        gsize size = part->cmsg_len - CMSG_LEN (0);

        memcpy (out_fds + n, CMSG_DATA (part), size);
        n += (guint) (size / sizeof (int));
      }
  return n;
}

gboolean
bus_socket_read (int fd, BusFrames *frames, gboolean *out_ended)
{
  union
  {
    char bytes[CMSG_SPACE (FDS_MAX * sizeof (int))];
    struct cmsghdr alignment;
  } control;
  struct iovec part = { 0 };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes };
  g_autoptr (GError) error = NULL;
  int fds[FDS_MAX];
  guint n_fds = 0;
  ssize_t n = 0;

  part.iov_base = bus_frames_space (frames, &part.iov_len);
  n = recvmsg (fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 && errno == EINTR)
    return TRUE;
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return FALSE;
  if (n > 0)
    n_fds = descriptors_of (&message, fds);
  if (n > 0 && bus_frames_filled (frames, (gsize) n, fds, n_fds, &error) &&
      (message.msg_flags & MSG_CTRUNC) == 0)
    return TRUE;
  if (error != NULL)
    g_warning ("the connection to the bus: %s", error->message);
  else if (n > 0)
    g_warning ("the connection to the bus: no room for descriptors");
  *out_ended = TRUE;
  return FALSE;
}

gboolean
bus_socket_write (int fd, BusParcel *parcel, gboolean *out_ended)
{
  union
  {
    char bytes[CMSG_SPACE (FDS_MAX * sizeof (int))];
    struct cmsghdr alignment;
  } control = { .bytes = { 0 } };
  guint n_fds = parcel->fds != NULL ? parcel->fds->len : 0;

  while (parcel->sent < parcel->size)
    {
      struct iovec part = { parcel->bytes + parcel->sent, parcel->size - parcel->sent };
      struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
      ssize_t n = 0;

      if (parcel->sent == 0 && n_fds > 0)
        {
          message.msg_control = control.bytes;
          message.msg_controllen = CMSG_SPACE (n_fds * sizeof (int));
          CMSG_FIRSTHDR (&message)->cmsg_level = SOL_SOCKET;
          CMSG_FIRSTHDR (&message)->cmsg_type = SCM_RIGHTS;
          CMSG_FIRSTHDR (&message)->cmsg_len = CMSG_LEN (n_fds * sizeof (int));
          memcpy (CMSG_DATA (CMSG_FIRSTHDR (&message)), parcel->fds->data, n_fds * sizeof (int));
        }
      n = sendmsg (fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          *out_ended = errno != EAGAIN && errno != EWOULDBLOCK;
          return FALSE;
        }
      parcel->sent += (gsize) n;
      g_clear_pointer (&parcel->fds, g_array_unref);
    }
  return TRUE;
}
