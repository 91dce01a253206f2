/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One packet of the service's own protocol, written and read.  The receiver trusts nothing of it:
 * header, count, seals, sizes and the normal form of the body are checked in this order, and each
 * failure closes whatever descriptors came along.  It must never read from a descriptor that is
 * not a sealed memfd, nor hand out a body of another type than was asked for.
 */
#include "service/base/handover.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define MAGIC "undersgn"
#define VERSION 1
#define MAX_FDS (1 + HANDOVER_MAX_FILES)
#define ERROR_MAX_MESSAGE 2000

/* In the byte order of the machine: both ends run on it.  There is no padding. */
typedef struct
{
  char magic[8];
  guint16 version;
  guint16 kind;
  guint32 n_files;
  guint64 size;
} Header;

G_STATIC_ASSERT (sizeof (Header) == 24);

/* The descriptors of one packet, the body's first; closed unless taken. */
typedef struct
{
  int fds[MAX_FDS + 1];
  guint n;
} Descriptors;

static void
descriptors_clear (Descriptors *descriptors)
{
  for (guint i = 0; i < descriptors->n; i++)
    fd_clear (&descriptors->fds[i]);
  descriptors->n = 0;
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Descriptors, descriptors_clear)

void
handover_clear (Handover *handover)
{
  for (guint i = 0; i < handover->n_fds; i++)
    fd_clear (&handover->fds[i]);
  handover->n_fds = 0;
  g_clear_pointer (&handover->body, g_variant_unref);
}

static gboolean
kind_is_known (guint kind)
{
  return kind == HANDOVER_REPLY || kind == HANDOVER_ERROR ||
         (kind >= HANDOVER_PREPARE && kind <= HANDOVER_MAY_PAUSE) ||
         (kind >= HANDOVER_ENROL && kind <= HANDOVER_PRUNE) ||
         (kind >= HANDOVER_MODULE_DESCRIBE && kind <= HANDOVER_MODULE_EXECUTE);
}

static gboolean
set_unreachable (GError **error, const char *doing)
{
  int number = errno;

  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "cannot %s: %s", doing,
                       number == EAGAIN ? "the peer is too slow" : g_strerror (number));
}

static gboolean
set_bad_message (GError **error, const char *why)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE, "%s", why);
}

/* --- sending --- */

static gboolean
packet_send (int sock, const Header *header, const int *fds, guint n_fds, GError **error)
{
  union
  {
    struct cmsghdr align;
    char bytes[CMSG_SPACE (MAX_FDS * sizeof (int))];
  } control = { 0 };
  Header copy = *header;
  struct iovec part = { .iov_base = &copy, .iov_len = sizeof copy };
  struct msghdr message = { .msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = CMSG_SPACE (n_fds * sizeof (int)) };
  struct cmsghdr *rights = CMSG_FIRSTHDR (&message);
  ssize_t n = 0;

  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN (n_fds * sizeof (int));
  memcpy (CMSG_DATA (rights), fds, n_fds * sizeof (int));

  do
    n = sendmsg (sock, &message, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);

  if (n < 0)
    return set_unreachable (error, "send a message");
  if (n != (ssize_t) sizeof copy)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "a message was cut");
  return TRUE;
}

gboolean
handover_send (
    int sock, HandoverKind kind, GVariant *body, const int *fds, guint n_fds, GError **error)
{
  g_autoptr (GVariant) sunk = g_variant_ref_sink (body);
  g_autoptr (GVariant) normal = g_variant_get_normal_form (sunk);
  int all[MAX_FDS] = { 0 };
  Header header = { .version = VERSION, .kind = (guint16) kind, .n_files = n_fds };
  autofd body_fd = -1;

  header.size = g_variant_get_size (normal);
  if (n_fds > HANDOVER_MAX_FILES || header.size > HANDOVER_MAX_BODY)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_TOO_LARGE,
                         "a message has %u files and a body of %" G_GUINT64_FORMAT
                         " bytes, at most %d and %d are accepted",
                         n_fds, header.size, HANDOVER_MAX_FILES, HANDOVER_MAX_BODY);

  body_fd = memfd_new_sealed ("undersign-body", g_variant_get_data (normal), header.size, error);
  if (body_fd < 0)
    return FALSE;

  memcpy (header.magic, MAGIC, sizeof header.magic);
  all[0] = body_fd;
  for (guint i = 0; i < n_fds; i++)
    all[1 + i] = fds[i];
  return packet_send (sock, &header, all, 1 + n_fds, error);
}

/* error_message: valid UTF-8, short, one that handover_receive_reply() accepts. */
static char *
error_message (const GError *reason)
{
  g_autofree char *valid = g_utf8_make_valid (reason->message, -1);
  gsize len = strlen (valid);

  if (len > ERROR_MAX_MESSAGE)
    {
      const char *end = g_utf8_find_prev_char (valid, valid + ERROR_MAX_MESSAGE);

      len = (gsize) (end - valid);
    }
  return g_strndup (valid, len);
}

gboolean
handover_send_error (int sock, const GError *reason, GError **error)
{
  g_autofree char *message = error_message (reason);
  g_autofree char *internal = NULL;

  if (reason->domain == US_ERROR)
    return handover_send (
        sock, HANDOVER_ERROR,
        g_variant_new (WIRE_ERROR, us_error_name ((UsError) reason->code), message), NULL, 0,
        error);

  internal = g_strconcat (US_REASON_INTERNAL ": ", message, NULL);
  return handover_send (sock, HANDOVER_ERROR,
                        g_variant_new (WIRE_ERROR, us_error_name (US_ERROR_UNAVAILABLE), internal),
                        NULL, 0, error);
}

/* --- receiving --- */

/* Takes the descriptors of every control message, even of a packet that is refused afterwards. */
static gboolean
descriptors_take (struct msghdr *message, Descriptors *descriptors)
{
  gboolean ok = TRUE;

  for (struct cmsghdr *c = CMSG_FIRSTHDR (message); c != NULL; c = CMSG_NXTHDR (message, c))
    {
      guint n = 0;

      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        {
          ok = FALSE;
          continue;
        }

      n = (guint) ((c->cmsg_len - CMSG_LEN (0)) / sizeof (int));
      for (guint i = 0; i < n; i++)
        {
          int fd = -1;

          memcpy (&fd, CMSG_DATA (c) + i * sizeof fd, sizeof fd);
          if (descriptors->n < G_N_ELEMENTS (descriptors->fds))
            descriptors->fds[descriptors->n++] = fd;
          else
            {
              fd_clear (&fd);
              ok = FALSE;
            }
        }
    }
  return ok;
}

static gboolean
packet_receive (int sock, Header *out_header, Descriptors *out_descriptors, GError **error)
{
  union
  {
    struct cmsghdr align;
    char bytes[CMSG_SPACE ((MAX_FDS + 1) * sizeof (int))];
  } control = { 0 };
  struct iovec part = { .iov_base = out_header, .iov_len = sizeof *out_header };
  struct msghdr message = { .msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes };
  gboolean ok = FALSE;
  ssize_t n = 0;

  do
    n = recvmsg (sock, &message, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return set_unreachable (error, "receive a message");

  ok = descriptors_take (&message, out_descriptors);
  if (n == 0 && out_descriptors->n == 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                         "the peer closed the connection");
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return set_bad_message (error, "the packet is too long or has too many descriptors");
  if (!ok)
    return set_bad_message (error, "the packet has control data of another kind");
  if (n != (ssize_t) sizeof *out_header)
    return set_bad_message (error, "the header is too short");
  return TRUE;
}

static gboolean
header_check (const Header *header, guint n_received, GError **error)
{
  if (memcmp (header->magic, MAGIC, sizeof header->magic) != 0)
    return set_bad_message (error, "the header does not begin with the magic bytes");
  if (header->version != VERSION)
    return set_bad_message (error, "the header is of another version");
  if (!kind_is_known (header->kind))
    return set_bad_message (error, "the kind is unknown");
  if (header->n_files > HANDOVER_MAX_FILES)
    return set_bad_message (error, "there are too many files");
  if (n_received != 1 + header->n_files)
    return set_bad_message (error, "the number of descriptors is not the announced one");
  if (header->size > HANDOVER_MAX_BODY)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the body is announced with %" G_GUINT64_FORMAT
                         " bytes, at most %d are accepted",
                         header->size, HANDOVER_MAX_BODY);
  return TRUE;
}

static gboolean
descriptors_check (const Header *header, const Descriptors *descriptors, GError **error)
{
  gsize size = 0;
  gsize total = 0;

  if (!memfd_check (descriptors->fds[0], HANDOVER_MAX_BODY, &size, error))
    return FALSE;
  if (size != header->size)
    return set_bad_message (error, "the body is not of the announced size");

  for (guint i = 1; i < descriptors->n; i++)
    {
      if (!memfd_check (descriptors->fds[i], HANDOVER_FILE_MAX, &size, error))
        return FALSE;
      total += size;
    }
  if (total > HANDOVER_FILES_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the files have %" G_GSIZE_FORMAT " bytes, at most %d are accepted", total,
                         HANDOVER_FILES_MAX);
  return TRUE;
}

gboolean
handover_receive (int sock, Handover *out_handover, int *out_body_fd, GError **error)
{
  g_auto (Descriptors) descriptors = { .n = 0 };
  Handover handover = { 0 };
  Header header = { .size = 0 };

  if (!packet_receive (sock, &header, &descriptors, error) ||
      !header_check (&header, descriptors.n, error) ||
      !descriptors_check (&header, &descriptors, error))
    return FALSE;

  handover.kind = (HandoverKind) header.kind;
  *out_body_fd = fd_steal (&descriptors.fds[0]);
  for (guint i = 1; i < descriptors.n; i++)
    handover.fds[handover.n_fds++] = fd_steal (&descriptors.fds[i]);
  *out_handover = handover;
  return TRUE;
}

gboolean
handover_decode (Handover *handover, int body_fd, const char *type, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GVariant) body = NULL;

  g_assert (handover->body == NULL);

  bytes = memfd_read (body_fd, HANDOVER_MAX_BODY, error);
  if (bytes == NULL)
    return FALSE;
  body = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (type), bytes, FALSE));
  if (!g_variant_is_normal_form (body))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "the body is not a value of type %s in normal form", type);

  handover->body = g_steal_pointer (&body);
  return TRUE;
}

void
handover_discard (int sock)
{
  /* No room for control data: the kernel closes the descriptors. */
  while (recv (sock, NULL, 0, 0) < 0 && errno == EINTR)
    continue;
}

/* --- calling --- */

/* A message of an error begins with its reason: a lower-case word, then ": ". */
static gboolean
message_has_reason (const char *message)
{
  const char *end = message;

  while (g_ascii_islower (*end) || *end == '-')
    end++;
  return end > message && end[0] == ':' && end[1] == ' ';
}

/* error_from_peer: FALSE, always, with the peer's error or, where it is malformed, our own. */
static gboolean
error_from_peer (Handover *reply, int body_fd, GError **error)
{
  const char *name = NULL;
  const char *message = NULL;

  if (reply->n_fds == 0 && handover_decode (reply, body_fd, WIRE_ERROR, NULL))
    g_variant_get (reply->body, "(&s&s)", &name, &message);
  if (message == NULL || !message_has_reason (message) ||
      strlen (message) > strlen (US_REASON_INTERNAL ": ") + ERROR_MAX_MESSAGE)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                         "the error of the peer is malformed");

  g_set_error_literal (error, US_ERROR, (int) us_error_from_name (name), message);
  return FALSE;
}

gboolean
handover_receive_reply (int sock, const char *reply_type, Handover *out_reply, GError **error)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GError) local = NULL;
  autofd body_fd = -1;

  if (!handover_receive (sock, &reply, &body_fd, &local) ||
      (reply.kind == HANDOVER_REPLY && !handover_decode (&reply, body_fd, reply_type, &local)))
    {
      /* To the caller a peer that sends rubbish is a part of the service that is not there. */
      local->code = US_ERROR_UNAVAILABLE;
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  if (reply.kind == HANDOVER_ERROR)
    return error_from_peer (&reply, body_fd, error);
  if (reply.kind != HANDOVER_REPLY)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                         "the peer sent a message that is no reply");

  *out_reply = reply;
  reply = (Handover){ 0 };
  return TRUE;
}

/* connect_to: @out_full: (nullable): as in handover_connect_now(), and then the connection does not block
 * until it is there. */
static int
connect_to (const char *path, guint timeout_seconds, gboolean *out_full, GError **error)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  struct timeval timeout = { .tv_sec = timeout_seconds };
  int flags = out_full != NULL ? SOCK_NONBLOCK : 0;
  autofd sock = -1;

  if (strlen (path) >= sizeof address.sun_path)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                    "the path of the socket %s is too long", path);
      return -1;
    }
  strcpy (address.sun_path, path);

  sock = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
  if (sock < 0 || setsockopt (sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) < 0 ||
      setsockopt (sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0 ||
      connect (sock, (struct sockaddr *) &address, sizeof address) < 0 ||
      (flags != 0 && fcntl (sock, F_SETFL, 0) < 0))
    {
      int number = errno;
      g_autofree char *doing = g_strdup_printf ("connect to %s", path);

      errno = number;
      if (out_full != NULL && sock >= 0 && number == EAGAIN)
        *out_full = TRUE;
      else
        set_unreachable (error, doing);
      return -1;
    }
  return fd_steal (&sock);
}

int
handover_connect (const char *path, guint timeout_seconds, GError **error)
{
  return connect_to (path, timeout_seconds, NULL, error);
}

int
handover_connect_now (const char *path, guint timeout_seconds, gboolean *out_full, GError **error)
{
  *out_full = FALSE;
  return connect_to (path, timeout_seconds, out_full, error);
}

gboolean
handover_call (const char *path,
               HandoverKind kind,
               GVariant *body,
               const int *fds,
               guint n_fds,
               const char *reply_type,
               Handover *out_reply,
               int *out_sock,
               GError **error)
{
  g_autoptr (GVariant) sunk = g_variant_ref_sink (body);
  autofd sock = handover_connect (path, HANDOVER_TIMEOUT, error);

  if (sock < 0 || !handover_send (sock, kind, sunk, fds, n_fds, error) ||
      !handover_receive_reply (sock, reply_type, out_reply, error))
    return FALSE;

  if (out_sock != NULL)
    *out_sock = fd_steal (&sock);
  return TRUE;
}

gboolean
handover_peer_uid (int sock, uid_t *out_uid, GError **error)
{
  struct ucred credentials = { 0 };
  socklen_t len = sizeof credentials;

  if (getsockopt (sock, SOL_SOCKET, SO_PEERCRED, &credentials, &len) < 0 ||
      len != sizeof credentials || credentials.uid == (uid_t) -1)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_PEER,
                         "the peer's credentials are not known");

  *out_uid = credentials.uid;
  return TRUE;
}
