/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packets of the hand-over, through a real socket.  The first line has a letter for each descriptor
 * that comes along:
 *   b body, the rest of the input         f file of three bytes, both sealed memfds
 *   B body of 4 MiB and a byte            F file of 25 MiB and a byte
 *   M file of 22 MiB
 *   u memfd without seals                 h half sealed
 *   w sealed, but opened for writing      p pipe
 *   d sealed memfd of hugetlb pages, or a file without seals where there are none
 * and for what is done with the packet:
 *   a announce the size of the body       c add the sender's credentials
 *   l a byte too many in the header       r read it as a reply, of type "(s)"
 *   e nothing is sent, and the sender is gone; t it stays
 *   k the reply to a call, through a socket with a name
 * Then stand the 24 bytes of the header, then the body.  What is taken has the announced number of
 * descriptors, all of them sealed; nothing that came along stays open where it was refused.
 */
#include "service/base/fd.h"
#include "service/base/handover.h"
#include "service/base/memfd.h"
#include "tests/fuzz/refusal.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#define HEADER_SIZE 24
#define SIZE_AT 16
#define MAX_SENT 24
#define REPLY_TYPE "(s)"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

typedef struct
{
  const uint8_t *letters;
  gsize n_letters;
  guint8 header[HEADER_SIZE + 1];
  gsize header_len;
  const uint8_t *body;
  gsize body_len;
  int fds[MAX_SENT];
  guint n_fds;
} Packet;

static gboolean
packet_has (const Packet *packet, char letter)
{
  return packet->n_letters > 0 && memchr (packet->letters, letter, packet->n_letters) != NULL;
}

/* --- descriptors --- */

static int
memfd_of_size (gsize len, int seals)
{
  int fd = memfd_create ("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert (fd >= 0 && ftruncate (fd, (off_t) len) == 0);
  g_assert (fcntl (fd, F_ADD_SEALS, seals) == 0);
  return fd;
}

static int
memfd_for_writing (void)
{
  autofd fd = memfd_new_sealed ("fuzz", "abc", 3, NULL);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);

  return open (path, O_WRONLY | O_CLOEXEC);
}

static int
memfd_of_huge_pages (void)
{
  int fd = memfd_create ("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

  if (fd >= 0)
    fcntl (fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  return fd >= 0 ? fd : memfd_of_size (3, 0);
}

static int
descriptor_of (const Packet *packet, char letter)
{
  const int all = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  int ends[2] = { -1, -1 };

  switch (letter)
    {
    case 'b':
      return memfd_new_sealed ("fuzz", packet->body, packet->body_len, NULL);
    case 'f':
      return memfd_new_sealed ("fuzz", "abc", 3, NULL);
    case 'B':
      return memfd_of_size (HANDOVER_MAX_BODY + 1, all);
    case 'F':
      return memfd_of_size (HANDOVER_FILE_MAX + 1, all);
    case 'M':
      return memfd_of_size (22 * 1024 * 1024, all);
    case 'u':
      return memfd_of_size (3, 0);
    case 'h':
      return memfd_of_size (3, F_SEAL_GROW | F_SEAL_SHRINK);
    case 'w':
      return memfd_for_writing ();
    case 'd':
      return memfd_of_huge_pages ();
    case 'p':
      g_assert (pipe2 (ends, O_CLOEXEC) == 0);
      close (ends[1]);
      return ends[0];
    default:
      return -1;
    }
}

/* --- sending --- */

static void
packet_read (Packet *packet, const uint8_t *data, gsize size)
{
  const uint8_t *end = size > 0 ? memchr (data, '\n', size) : NULL;
  gsize first = end != NULL ? (gsize) (end - data) + 1 : size;
  guint64 announced = 0;

  packet->letters = data;
  packet->n_letters = first;
  packet->header_len = MIN (size - first, HEADER_SIZE);
  if (packet->header_len > 0)
    memcpy (packet->header, data + first, packet->header_len);
  packet->body = data + first + packet->header_len;
  packet->body_len = size - first - packet->header_len;

  announced = packet->body_len;
  if (packet_has (packet, 'a'))
    memcpy (packet->header + SIZE_AT, &announced, sizeof announced);
  if (packet_has (packet, 'l') && packet->header_len == HEADER_SIZE)
    packet->header_len++;
  for (gsize i = 0; i < first && packet->n_fds < MAX_SENT; i++)
    {
      int fd = descriptor_of (packet, (char) data[i]);

      if (fd >= 0)
        packet->fds[packet->n_fds++] = fd;
    }
}

static void
control_add (struct msghdr *message, int type, const void *data, gsize len)
{
  /* Each part before it took CMSG_SPACE(), and so is this aligned. */
  struct cmsghdr *control = (struct cmsghdr *) (gpointer) ((char *) message->msg_control +
                                                           message->msg_controllen);

  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = type;
  control->cmsg_len = CMSG_LEN (len);
  memcpy (CMSG_DATA (control), data, len);
  message->msg_controllen += CMSG_SPACE (len);
}

static void
packet_send (int sock, const Packet *packet)
{
  union
  {
    struct cmsghdr align;
    char bytes[CMSG_SPACE (MAX_SENT * sizeof (int)) + CMSG_SPACE (sizeof (struct ucred))];
  } control = { 0 };
  struct iovec part = { .iov_base = (void *) packet->header, .iov_len = packet->header_len };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes };
  const struct ucred credentials = { getpid (), getuid (), getgid () };

  if (packet_has (packet, 'e') || packet_has (packet, 't'))
    return;
  if (packet_has (packet, 'c'))
    control_add (&message, SCM_CREDENTIALS, &credentials, sizeof credentials);
  if (packet->n_fds > 0)
    control_add (&message, SCM_RIGHTS, packet->fds, packet->n_fds * sizeof (int));
  g_assert (sendmsg (sock, &message, MSG_NOSIGNAL) == (ssize_t) packet->header_len);
}

/* --- receiving --- */

static guint
open_descriptors (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
check_refusal (const GError *error, gboolean reply)
{
  static const char *const reasons[] = { US_REASON_BAD_MESSAGE, US_REASON_NOT_SEALED,
                                         US_REASON_TOO_LARGE, US_REASON_UNREACHABLE };
  gboolean known = FALSE;

  for (gsize i = 0; i < G_N_ELEMENTS (reasons); i++)
    known = known || us_error_has_reason (error, reasons[i]);
  /* A reply may be an error of the peer's, with a reason of its own. */
  g_assert (known || (reply && error->domain == US_ERROR));
  refusal_seen (error);
}

/* What was taken can be sent on, and comes through as it was. */
static void
check_sent_on (Handover *handover, int body_fd)
{
  g_auto (Handover) back = { 0 };
  autofd back_fd = -1;
  int ends[2] = { -1, -1 };
  gboolean ok = FALSE;

  if (!handover_decode (handover, body_fd, REPLY_TYPE, NULL))
    return;
  g_assert (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  ok = handover_send (ends[0], handover->kind, g_variant_ref (handover->body), handover->fds,
                      handover->n_fds, NULL) &&
       handover_receive (ends[1], &back, &back_fd, NULL) &&
       handover_decode (&back, back_fd, REPLY_TYPE, NULL);
  g_assert (ok && back.kind == handover->kind && back.n_fds == handover->n_fds);
  g_assert (g_variant_equal (back.body, handover->body));
  fd_clear (&ends[0]);
  fd_clear (&ends[1]);
}

/* So can a refusal, whose text may be cut. */
static void
check_refusal_sent (const GError *error)
{
  g_auto (Handover) back = { 0 };
  g_autoptr (GError) arrived = NULL;
  g_autoptr (GError) foreign = g_error_new (G_FILE_ERROR, 0, "%s", error->message);
  int ends[2] = { -1, -1 };

  g_assert (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  g_assert (handover_send_error (ends[0], error, NULL));
  g_assert (!handover_receive_reply (ends[1], REPLY_TYPE, &back, &arrived));
  g_assert (arrived->code == error->code && g_str_has_prefix (error->message, arrived->message));
  g_clear_error (&arrived);
  g_assert (handover_send_error (ends[0], foreign, NULL));
  g_assert (!handover_receive_reply (ends[1], REPLY_TYPE, &back, &arrived));
  g_assert (us_error_has_reason (arrived, US_REASON_INTERNAL));
  fd_clear (&ends[0]);
  fd_clear (&ends[1]);
}

static void
receive (int sock, const Packet *packet, gboolean reply)
{
  g_auto (Handover) handover = { 0 };
  g_autoptr (GError) error = NULL;
  autofd body_fd = -1;
  gboolean ok = reply ? handover_receive_reply (sock, REPLY_TYPE, &handover, &error)
                      : handover_receive (sock, &handover, &body_fd, &error);
  gsize size = 0;

  g_assert (ok == (error == NULL));
  if (!ok)
    {
      check_refusal (error, reply);
      check_refusal_sent (error);
      return;
    }
  g_assert (reply || (body_fd >= 0 && memfd_check (body_fd, HANDOVER_MAX_BODY, &size, NULL)));
  g_assert (!reply || (handover.kind == HANDOVER_REPLY && handover.body != NULL));
  g_assert (handover.n_fds + 1 == packet->n_fds);
  for (guint i = 0; i < handover.n_fds; i++)
    {
      guint8 digest[32];

      g_assert (memfd_check (handover.fds[i], HANDOVER_FILE_MAX, &size, NULL));
      g_assert (memfd_sha256 (handover.fds[i], HANDOVER_FILE_MAX, &size, digest, NULL));
    }
  if (!reply)
    check_sent_on (&handover, body_fd);
}

/* --- a call --- */

typedef struct
{
  const Packet *packet;
  int listener;
} Server;

static gpointer
serve (gpointer data)
{
  const Server *server = data;
  autofd sock = accept4 (server->listener, NULL, NULL, SOCK_CLOEXEC);
  uid_t uid = (uid_t) -1;

  g_assert (sock >= 0 && handover_peer_uid (sock, &uid, NULL) && uid == getuid ());
  handover_discard (sock);
  packet_send (sock, server->packet);
  return NULL;
}

/* More than wait there: that is told apart from nobody there. */
static void
crowd (const char *path, const char *nowhere)
{
  int waiting[16];
  gboolean full = FALSE;
  guint n = 0;

  g_assert (handover_connect_now (nowhere, 1, &full, NULL) < 0 && !full);
  while (n < G_N_ELEMENTS (waiting) &&
         (waiting[n] = handover_connect_now (path, 1, &full, NULL)) >= 0)
    n++;
  g_assert (full && n > 0);
  while (n > 0)
    fd_clear (&waiting[--n]);
}

static void
call (const Packet *packet)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  g_autofree char *folder = g_dir_make_tmp ("undersign-fuzz-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "sock", NULL);
  g_autofree char *nowhere = g_strnfill (sizeof address.sun_path, 'x');
  g_auto (Handover) reply = { 0 };
  g_autoptr (GError) error = NULL;
  autofd listener = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  autofd sock = -1;
  Server server = { packet, listener };
  GThread *thread = NULL;

  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  g_assert (!handover_call (path, HANDOVER_QUERY, g_variant_new ("(s)", ""), NULL, 0, REPLY_TYPE,
                            &reply, NULL, &error));
  g_assert (us_error_has_reason (error, US_REASON_UNREACHABLE));
  g_assert (handover_connect (nowhere, 1, NULL) < 0);
  g_clear_error (&error);
  g_assert (bind (listener, (struct sockaddr *) &address, sizeof address) == 0);
  g_assert (listen (listener, 1) == 0);
  thread = g_thread_new ("serve", serve, &server);
  if (!handover_call (path, HANDOVER_QUERY, g_variant_new ("(s)", ""), NULL, 0, REPLY_TYPE, &reply,
                      &sock, &error))
    check_refusal (error, TRUE);
  g_thread_join (thread);
  crowd (path, nowhere);
  g_unlink (path);
  g_rmdir (folder);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const struct timeval soon = { .tv_usec = 1000 };
  const int yes = 1;
  Packet packet = { .letters = NULL };
  int ends[2] = { -1, -1 };
  guint before = 0;

  packet_read (&packet, data, size);
  g_assert (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  g_assert (setsockopt (ends[1], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon) == 0);
  if (packet_has (&packet, 'c'))
    g_assert (setsockopt (ends[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0);
  if (packet_has (&packet, 'k'))
    call (&packet);
  packet_send (ends[0], &packet);
  if (packet_has (&packet, 'e'))
    fd_clear (&ends[0]);

  before = open_descriptors ();
  receive (ends[1], &packet, packet_has (&packet, 'r'));
  g_assert (open_descriptors () == before);
  for (guint i = 0; i < packet.n_fds; i++)
    fd_clear (&packet.fds[i]);
  fd_clear (&ends[0]);
  fd_clear (&ends[1]);
  return 0;
}
