/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hand-overs on a socket pair: every packet that is not of the fixed form is refused, nothing of it
 * is read, and no descriptor of it stays open.
 */
#include "service/base/handover.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The header of handover.c, written once more: the form on the wire is what is tested. */
typedef struct
{
  char magic[8];
  guint16 version;
  guint16 kind;
  guint32 n_files;
  guint64 size;
  char more[8];
} RawHeader;

#define RAW_SIZE 24

static const RawHeader good = {
  { 'u', 'n', 'd', 'e', 'r', 's', 'g', 'n' }, 1, HANDOVER_QUERY, 0, 5, { 0 }
};

static guint
open_descriptors (void)
{
  DIR *dir = opendir ("/proc/self/fd");
  guint n = 0;

  while (readdir (dir) != NULL)
    n++;
  closedir (dir);
  return n;
}

static void
raw_send (int sock, const void *data, gsize len, const int *fds, guint n_fds)
{
  char control[CMSG_SPACE (64 * sizeof (int))] __attribute__ ((aligned (8))) = { 0 };
  RawHeader copy = { .version = 0 };
  struct iovec part = { .iov_base = &copy, .iov_len = len };
  struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

  memcpy (&copy, data, len);
  if (n_fds > 0)
    {
      struct cmsghdr *rights = NULL;

      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE (n_fds * sizeof (int));
      rights = CMSG_FIRSTHDR (&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN (n_fds * sizeof (int));
      memcpy (CMSG_DATA (rights), fds, n_fds * sizeof (int));
    }
  g_assert_cmpint (sendmsg (sock, &message, MSG_NOSIGNAL), ==, (gssize) len);
}

static void
make_pair (int pair[2])
{
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), ==, 0);
}

static int
sealed (gsize size)
{
  g_autofree char *data = g_malloc0 (size + 1);

  return memfd_new_sealed ("test", data, size, NULL);
}

/* --- refusals of the packet --- */

typedef enum
{
  FD_SEALED,
  FD_UNSEALED,
  FD_FIFO,
  FD_ZERO,
  FD_DIRECTORY,
  FD_SPARSE, /* sealed, a terabyte */
  FD_25M,
  FD_25M_1,
} FdKind;

static int
make_fd (FdKind kind, gsize size)
{
  int ends[2] = { -1, -1 };
  int fd = -1;

  switch (kind)
    {
    case FD_UNSEALED:
      fd = memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
      g_assert_cmpint (ftruncate (fd, (off_t) size), ==, 0);
      return fd;
    case FD_FIFO:
      g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
      close (ends[1]);
      return ends[0];
    case FD_ZERO:
      return open ("/dev/zero", O_RDONLY | O_CLOEXEC);
    case FD_DIRECTORY:
      return open ("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    case FD_SPARSE:
    case FD_25M:
    case FD_25M_1:
      fd = memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
      size = kind == FD_SPARSE ? (gsize) 1 << 40 : HANDOVER_FILE_MAX + (kind == FD_25M_1 ? 1 : 0);
      g_assert_cmpint (ftruncate (fd, (off_t) size), ==, 0);
      g_assert_cmpint (
          fcntl (fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL), ==, 0);
      return fd;
    case FD_SEALED:
    default:
      return sealed (size);
    }
}

typedef struct
{
  const char *name;
  gsize len;        /* bytes of the header that are sent */
  RawHeader header; /* magic "" stands for the right one */
  guint n_fds;      /* all but the last are sealed */
  FdKind last;      /* the last one */
  const char *reason;
} Refusal;

#define HEADER(version, kind, n_files, size)                                                       \
  {                                                                                                \
    { 'u', 'n', 'd', 'e', 'r', 's', 'g', 'n' }, version, kind, n_files, size, { 0 }                \
  }

static const Refusal refusals[] = {
  { "short header", 23, HEADER (1, 20, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "one byte", 1, HEADER (1, 20, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "long header", 25, HEADER (1, 20, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "wrong magic", 24, { "undersgm", 1, 20, 0, 5, { 0 } }, 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "version 0", 24, HEADER (0, 20, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "version 2", 24, HEADER (2, 20, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "other byte order", 24, HEADER (256, 20, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "kind 0", 24, HEADER (1, 0, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "kind 3", 24, HEADER (1, 3, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "kind 25", 24, HEADER (1, 25, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "kind 43", 24, HEADER (1, 43, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "kind 67", 24, HEADER (1, 67, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "kind 65535", 24, HEADER (1, 65535, 0, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "no descriptor", 24, HEADER (1, 20, 0, 5), 0, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "no body for a file", 24, HEADER (1, 20, 1, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "a file too many", 24, HEADER (1, 20, 0, 5), 2, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "a file too few", 24, HEADER (1, 20, 2, 5), 2, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "17 files", 24, HEADER (1, 20, 17, 5), 18, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "more than fit", 24, HEADER (1, 20, 16, 5), 40, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "2^32-1 files", 24, HEADER (1, 20, G_MAXUINT32, 5), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "size too small", 24, HEADER (1, 20, 0, 4), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "size too large", 24, HEADER (1, 20, 0, 6), 1, FD_SEALED, US_REASON_BAD_MESSAGE },
  { "size over the limit", 24, HEADER (1, 20, 0, HANDOVER_MAX_BODY + 1), 1, FD_SEALED,
    US_REASON_TOO_LARGE },
  { "size 2^64-1", 24, HEADER (1, 20, 0, G_MAXUINT64), 1, FD_SEALED, US_REASON_TOO_LARGE },
  { "body of a terabyte", 24, HEADER (1, 20, 0, 5), 1, FD_SPARSE, US_REASON_TOO_LARGE },
  { "unsealed body", 24, HEADER (1, 20, 0, 5), 1, FD_UNSEALED, US_REASON_NOT_SEALED },
  { "FIFO as body", 24, HEADER (1, 20, 0, 5), 1, FD_FIFO, US_REASON_NOT_SEALED },
  { "/dev/zero as body", 24, HEADER (1, 20, 0, 5), 1, FD_ZERO, US_REASON_NOT_SEALED },
  { "directory as body", 24, HEADER (1, 20, 0, 5), 1, FD_DIRECTORY, US_REASON_NOT_SEALED },
  { "unsealed file", 24, HEADER (1, 20, 2, 5), 3, FD_UNSEALED, US_REASON_NOT_SEALED },
  { "FIFO as file", 24, HEADER (1, 20, 2, 5), 3, FD_FIFO, US_REASON_NOT_SEALED },
  { "/dev/zero as file", 24, HEADER (1, 20, 1, 5), 2, FD_ZERO, US_REASON_NOT_SEALED },
  { "directory as file", 24, HEADER (1, 20, 16, 5), 17, FD_DIRECTORY, US_REASON_NOT_SEALED },
  { "file too large", 24, HEADER (1, 20, 1, 5), 2, FD_25M_1, US_REASON_TOO_LARGE },
};

static void
check_refusal (const Refusal *refusal)
{
  int pair[2];
  int fds[40];
  guint before = 0;
  Handover handover = { .kind = HANDOVER_STATUS, .n_fds = 4711 };
  int body_fd = 4711;
  g_autoptr (GError) error = NULL;

  g_test_message ("%s", refusal->name);
  make_pair (pair);
  before = open_descriptors ();
  for (guint i = 0; i < refusal->n_fds; i++)
    fds[i] = i + 1 < refusal->n_fds ? sealed (5) : make_fd (refusal->last, 5);
  raw_send (pair[0], &refusal->header, refusal->len, fds, refusal->n_fds);
  for (guint i = 0; i < refusal->n_fds; i++)
    close (fds[i]);

  g_assert_false (handover_receive (pair[1], &handover, &body_fd, &error));
  g_assert_true (us_error_has_reason (error, refusal->reason));
  g_assert_cmpuint (open_descriptors (), ==, before);
  g_assert_cmpint (body_fd, ==, 4711);
  g_assert_cmpuint (handover.n_fds, ==, 4711);
  close (pair[0]);
  close (pair[1]);
}

static void
test_refusals (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    check_refusal (&refusals[i]);
}

static void
test_refused_unread (void)
{
  RawHeader header = good;
  Handover handover = { 0 };
  int pair[2];
  int ends[2];
  int fds[2];
  int body_fd = -1;
  char byte = 0;

  make_pair (pair);
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  g_assert_cmpint (write (ends[1], "x", 1), ==, 1);
  header.n_files = 1;
  fds[0] = sealed (5);
  fds[1] = ends[0];
  raw_send (pair[0], &header, RAW_SIZE, fds, 2);

  g_assert_false (handover_receive (pair[1], &handover, &body_fd, NULL));
  g_assert_cmpint (read (ends[0], &byte, 1), ==, 1);
  close (fds[0]);
  close (ends[0]);
  close (ends[1]);
  close (pair[0]);
  close (pair[1]);
}

static void
test_files_too_large_together (void)
{
  RawHeader header = good;
  g_autoptr (GError) error = NULL;
  Handover handover = { 0 };
  guint before = 0;
  int body_fd = -1;
  int pair[2];
  int fds[4];

  make_pair (pair);
  before = open_descriptors ();
  fds[0] = sealed (5);
  for (guint i = 1; i < 4; i++)
    fds[i] = make_fd (FD_25M, 0);
  header.n_files = 3;
  raw_send (pair[0], &header, RAW_SIZE, fds, 4);
  for (guint i = 0; i < 4; i++)
    close (fds[i]);

  g_assert_false (handover_receive (pair[1], &handover, &body_fd, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
  g_assert_cmpuint (open_descriptors (), ==, before);
  close (pair[0]);
  close (pair[1]);
}

/* Control data that is no descriptor. */
static void
test_foreign_control_data (void)
{
  int on = 1;
  g_autoptr (GError) error = NULL;
  Handover handover = { 0 };
  guint before = 0;
  int body_fd = -1;
  int pair[2];
  int fd = -1;

  make_pair (pair);
  g_assert_cmpint (setsockopt (pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), ==, 0);
  before = open_descriptors ();
  fd = sealed (5);
  raw_send (pair[0], &good, RAW_SIZE, &fd, 1);
  close (fd);

  g_assert_false (handover_receive (pair[1], &handover, &body_fd, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
  g_assert_cmpuint (open_descriptors (), ==, before);
  close (pair[0]);
  close (pair[1]);
}

static void
test_peer_gone (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) send_error = NULL;
  Handover handover = { 0 };
  int body_fd = -1;
  int pair[2];

  make_pair (pair);
  close (pair[0]);
  g_assert_false (handover_receive (pair[1], &handover, &body_fd, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
  g_assert_false (
      handover_send (pair[1], HANDOVER_QUERY, g_variant_new ("(s)", "x"), NULL, 0, &send_error));
  g_assert_true (us_error_has_reason (send_error, US_REASON_UNREACHABLE));
  close (pair[1]);
}

static void
test_discard (void)
{
  g_autoptr (GError) refusal = NULL;
  g_autoptr (GError) error = NULL;
  Handover reply = { 0 };
  guint before = 0;
  int pair[2];
  int fd = -1;

  make_pair (pair);
  before = open_descriptors ();
  fd = sealed (5);
  raw_send (pair[0], &good, RAW_SIZE, &fd, 1);
  close (fd);
  handover_discard (pair[1]);
  g_assert_cmpuint (open_descriptors (), ==, before);

  us_error_set (&refusal, US_ERROR_REFUSED, US_REASON_BAD_PEER, "not you");
  g_assert_true (handover_send_error (pair[1], refusal, NULL));
  close (pair[1]);
  g_assert_false (handover_receive_reply (pair[0], "(s)", &reply, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_PEER));
  close (pair[0]);
}

static void
test_peer_silent (void)
{
  struct timeval timeout = { .tv_usec = 50000 };
  g_autoptr (GError) error = NULL;
  Handover handover = { 0 };
  int body_fd = -1;
  int pair[2];

  make_pair (pair);
  g_assert_cmpint (setsockopt (pair[1], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), ==, 0);
  g_assert_cmpint (setsockopt (pair[0], SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout), ==, 0);
  g_assert_false (handover_receive (pair[1], &handover, &body_fd, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));

  /* And one that does not read. */
  g_clear_error (&error);
  for (guint i = 0; i < 100000 && error == NULL; i++)
    handover_send (pair[0], HANDOVER_QUERY, g_variant_new ("(s)", "x"), NULL, 0, &error);
  g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
  close (pair[0]);
  close (pair[1]);
}

/* --- refusals of the body --- */

static const struct
{
  const char *name;
  const char *type;
  gsize len;
  const char *data;
} bodies[] = {
  { "empty for a string", "(s)", 0, "" },
  { "string without NUL", "(s)", 4, "abcd" },
  { "string with two NULs", "(s)", 4, "ab\0\0" },
  { "string with NUL inside", "(s)", 4, "a\0b\0" },
  { "string not UTF-8", "(s)", 3, "\xc3\x28\0" },
  { "boolean 2", "(b)", 1, "\2" },
  { "number too short", "(u)", 3, "\0\0\0" },
  { "number too long", "(u)", 5, "\0\0\0\0\0" },
  { "unit not zero", "()", 1, "\1" },
  { "unit too long", "()", 2, "\0\0" },
  { "trailing byte", "(su)", 13, "a\0\0\0\1\0\0\0\2\0\0\0\0" },
  { "padding not zero", "(su)", 9, "a\0x\0\1\0\0\0\2" },
  { "offset outside", "(ss)", 5, "a\0b\0\7" },
  { "offsets descending", "(ass)", 6, "a\0b\0\1\5" },
  { "variant of no type", "(v)", 4, "\0\0zz" },
  { "variant without type", "(v)", 1, "\0" },
  { "variant nested too deep", "(v)", 8, "()\0(((((" },
  { "object path malformed", "(o)", 3, "//\0" },
};

static void
check_body_refused (const char *type, const void *data, gsize len)
{
  g_autoptr (GError) error = NULL;
  Handover handover = { .kind = HANDOVER_QUERY };
  autofd fd = memfd_new_sealed ("test", data, len, NULL);

  g_assert_false (handover_decode (&handover, fd, type, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
  g_assert_null (handover.body);
}

static void
test_body_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++)
    {
      g_test_message ("%s", bodies[i].name);
      check_body_refused (bodies[i].type, bodies[i].data, bodies[i].len);
    }
}

static void
test_body_of_another_type (void)
{
  static const char *const types[] = { WIRE_REQUEST, WIRE_PREPARED, WIRE_ANSWER, WIRE_CLOSE,
                                       "(u)",        "(t)",         "(as)",      "()" };
  g_autoptr (GVariant) query = g_variant_ref_sink (g_variant_new ("(s)", "0123456789abcdef"));

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_test_message ("%s", types[i]);
      check_body_refused (types[i], g_variant_get_data (query), g_variant_get_size (query));
    }
}

/* --- what is accepted --- */

static void
test_round_trip (void)
{
  g_autoptr (GVariant) body = g_variant_ref_sink (g_variant_new_parsed (
      "('id', [('to', <['a@b']>), ('n', <'x'>)], true, %t)", G_GUINT64_CONSTANT (1) << 63));
  g_autofree char *type = g_strdup (g_variant_get_type_string (body));
  g_autoptr (GError) error = NULL;
  g_auto (Handover) handover = { 0 };
  int pair[2];
  int files[16];
  int body_fd = -1;

  make_pair (pair);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    files[i] = sealed (i);
  g_assert_true (handover_send (pair[0], HANDOVER_MODULE_EXECUTE, body, files, 16, &error));
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    close (files[i]);
  g_assert_no_error (error);

  g_assert_true (handover_receive (pair[1], &handover, &body_fd, &error));
  g_assert_no_error (error);
  g_assert_cmpint (handover.kind, ==, HANDOVER_MODULE_EXECUTE);
  g_assert_null (handover.body);
  g_assert_cmpuint (handover.n_fds, ==, 16);
  g_assert_true (fcntl (body_fd, F_GETFD) & FD_CLOEXEC);
  for (guint i = 0; i < handover.n_fds; i++)
    {
      gsize size = 0;

      g_assert_true (fcntl (handover.fds[i], F_GETFD) & FD_CLOEXEC);
      g_assert_true (memfd_check (handover.fds[i], 100, &size, NULL));
      g_assert_cmpuint (size, ==, i);
    }
  g_assert_true (handover_decode (&handover, body_fd, type, &error));
  g_assert_no_error (error);
  g_assert_true (g_variant_equal (handover.body, body));
  close (body_fd);
  close (pair[0]);
  close (pair[1]);
}

static void
test_empty_bodies (void)
{
  static const char *const types[] = { WIRE_EMPTY, WIRE_PASSKEYS_REPLY };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr (GVariant) body = g_variant_ref_sink (
          i == 0 ? g_variant_new ("()")
                 : g_variant_new_tuple ((GVariant *[]){ g_variant_new_array (
                                            G_VARIANT_TYPE ("(aysusssxbs)"), NULL, 0) },
                                        1));
      g_autoptr (GError) error = NULL;
      g_auto (Handover) handover = { 0 };
      autofd body_fd = -1;
      int pair[2];

      make_pair (pair);
      g_assert_true (handover_send (pair[0], HANDOVER_REPLY, body, NULL, 0, &error));
      g_assert_true (handover_receive (pair[1], &handover, &body_fd, &error));
      g_assert_true (handover_decode (&handover, body_fd, types[i], &error));
      g_assert_no_error (error);
      g_assert_true (g_variant_equal (handover.body, body));
      close (pair[0]);
      close (pair[1]);
    }
}

static void
test_send_limits (void)
{
  g_autofree char *large = g_strnfill (HANDOVER_MAX_BODY, 'x');
  g_autoptr (GError) error = NULL;
  int fds[17];
  int pair[2];
  char byte = 0;

  make_pair (pair);
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    fds[i] = 0;
  g_assert_false (
      handover_send (pair[0], HANDOVER_QUERY, g_variant_new ("(s)", "x"), fds, 17, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
  g_clear_error (&error);
  g_assert_false (
      handover_send (pair[0], HANDOVER_QUERY, g_variant_new ("(s)", large), NULL, 0, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
  g_assert_cmpint (recv (pair[1], &byte, 1, MSG_DONTWAIT), ==, -1);
  close (pair[0]);
  close (pair[1]);
}

static void
test_peer_uid (void)
{
  g_autoptr (GError) error = NULL;
  uid_t uid = 4711;
  int pair[2];

  make_pair (pair);
  g_assert_true (handover_peer_uid (pair[0], &uid, &error));
  g_assert_cmpuint (uid, ==, getuid ());
  close (pair[0]);
  close (pair[1]);

  uid = 4711;
  g_assert_false (handover_peer_uid (pair[0], &uid, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_PEER));
  g_assert_cmpuint (uid, ==, 4711);
}

/* --- replies --- */

static void
check_reply_refused (int pair[2], UsError code, const char *reason)
{
  g_autoptr (GError) error = NULL;
  Handover reply = { 0 };

  g_assert_false (handover_receive_reply (pair[1], "(s)", &reply, &error));
  g_assert_error (error, US_ERROR, (int) code);
  g_assert_true (us_error_has_reason (error, reason));
  g_assert_null (reply.body);
}

static void
test_reply_refused (void)
{
  static const char *const messages[] = {
    "", "no reason", "Refused: x", ": x", "limit", "limit:x"
  };
  g_autofree char *long_text = g_strnfill (5000, 'x');
  g_autofree char *long_message = g_strconcat ("limit: ", long_text, NULL);
  int pair[2];
  int fd = sealed (1);

  make_pair (pair);
  handover_send (pair[0], HANDOVER_REPLY, g_variant_new ("(u)", 1), NULL, 0, NULL);
  check_reply_refused (pair, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE);
  handover_send (pair[0], HANDOVER_EXECUTE, g_variant_new ("(s)", "x"), NULL, 0, NULL);
  check_reply_refused (pair, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE);
  handover_send (pair[0], HANDOVER_ERROR, g_variant_new ("(s)", "x"), NULL, 0, NULL);
  check_reply_refused (pair, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE);
  handover_send (pair[0], HANDOVER_ERROR, g_variant_new ("(ss)", "Refused", "limit: x"), &fd, 1,
                 NULL);
  check_reply_refused (pair, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE);
  for (guint i = 0; i < G_N_ELEMENTS (messages); i++)
    {
      handover_send (pair[0], HANDOVER_ERROR, g_variant_new ("(ss)", "Refused", messages[i]), NULL,
                     0, NULL);
      check_reply_refused (pair, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE);
    }
  handover_send (pair[0], HANDOVER_ERROR, g_variant_new ("(ss)", "Refused", long_message), NULL, 0,
                 NULL);
  check_reply_refused (pair, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE);
  close (pair[0]);
  check_reply_refused (pair, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);
  close (pair[1]);
  close (fd);
}

static void
test_reply_error (void)
{
  g_autofree char *long_text = g_strnfill (5000, 'x');
  g_autoptr (GError) refused = NULL;
  g_autoptr (GError) foreign = g_error_new (G_FILE_ERROR, G_FILE_ERROR_NOENT, "no such file");
  g_autoptr (GError) invalid = g_error_new (G_FILE_ERROR, G_FILE_ERROR_NOENT, "\xff%s", long_text);
  int pair[2];

  make_pair (pair);
  us_error_set (&refused, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT, "too much");
  g_assert_true (handover_send_error (pair[0], refused, NULL));
  check_reply_refused (pair, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);
  g_assert_true (handover_send_error (pair[0], foreign, NULL));
  check_reply_refused (pair, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL);
  g_assert_true (handover_send_error (pair[0], invalid, NULL));
  check_reply_refused (pair, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL);
  handover_send (pair[0], HANDOVER_ERROR, g_variant_new ("(ss)", "NoSuchName", "limit: x"), NULL, 0,
                 NULL);
  check_reply_refused (pair, US_ERROR_UNAVAILABLE, US_REASON_LIMIT);
  close (pair[0]);
  close (pair[1]);
}

/* --- calls --- */

typedef struct
{
  char *dir;
  char *path;
  int listener;
} Server;

static void
server_init (Server *server)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  server->dir = g_dir_make_tmp ("undersign-test-XXXXXX", NULL);
  server->path = g_build_filename (server->dir, "sock", NULL);
  g_assert_cmpuint (strlen (server->path), <, sizeof address.sun_path);
  strcpy (address.sun_path, server->path);
  server->listener = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  g_assert_cmpint (bind (server->listener, (struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (server->listener, 8), ==, 0);
}

static void
server_clear (Server *server)
{
  close (server->listener);
  g_assert_cmpint (unlink (server->path), ==, 0);
  g_assert_cmpint (rmdir (server->dir), ==, 0);
  g_free (server->path);
  g_free (server->dir);
}

/* serve_twice: answers a query with what it was asked, and then once more. */
static gpointer
serve_twice (gpointer data)
{
  Server *server = data;
  g_auto (Handover) handover = { 0 };
  autofd sock = accept4 (server->listener, NULL, NULL, SOCK_CLOEXEC);
  autofd body_fd = -1;

  if (handover_receive (sock, &handover, &body_fd, NULL) &&
      handover_decode (&handover, body_fd, WIRE_QUERY, NULL))
    {
      handover_send (sock, HANDOVER_REPLY, handover.body, NULL, 0, NULL);
      handover_send (sock, HANDOVER_REPLY, g_variant_new ("(s)", "second"), handover.fds,
                     handover.n_fds, NULL);
    }
  return NULL;
}

static void
test_call (void)
{
  Server server = { .listener = -1 };
  g_autoptr (GError) error = NULL;
  g_auto (Handover) reply = { 0 };
  g_auto (Handover) second = { 0 };
  autofd file = sealed (3);
  autofd sock = -1;
  const char *text = NULL;
  GThread *thread = NULL;

  server_init (&server);
  thread = g_thread_new ("server", serve_twice, &server);
  g_assert_true (handover_call (server.path, HANDOVER_QUERY, g_variant_new ("(s)", "first"), &file,
                                1, "(s)", &reply, &sock, &error));
  g_assert_no_error (error);
  g_variant_get (reply.body, "(&s)", &text);
  g_assert_cmpstr (text, ==, "first");
  g_assert_true (handover_receive_reply (sock, "(s)", &second, &error));
  g_assert_no_error (error);
  g_variant_get (second.body, "(&s)", &text);
  g_assert_cmpstr (text, ==, "second");
  g_assert_cmpuint (second.n_fds, ==, 1);
  g_thread_join (thread);
  server_clear (&server);
}

static void
test_connect_refused (void)
{
  g_autofree char *long_path = g_strnfill (200, 'x');
  const char *const paths[] = { "/nonexistent/sock", long_path, "/dev/null", "" };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr (GError) error = NULL;
      Handover reply = { 0 };

      g_assert_false (handover_call (paths[i], HANDOVER_QUERY, g_variant_new ("(s)", "x"), NULL, 0,
                                     "(s)", &reply, NULL, &error));
      g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
      g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
    }
}

static void
test_connect_backlog_full (void)
{
  Server server = { .listener = -1 };
  g_autoptr (GError) error = NULL;
  int socks[64];
  guint n = 0;

  server_init (&server);
  g_assert_cmpint (listen (server.listener, 1), ==, 0);
  while (n < G_N_ELEMENTS (socks) && error == NULL)
    {
      int sock = handover_connect (server.path, 1, &error);

      if (sock >= 0)
        socks[n++] = sock;
    }
  g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
  while (n > 0)
    close (socks[--n]);
  server_clear (&server);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/handover/refusals", test_refusals);
  g_test_add_func ("/base/handover/refused-unread", test_refused_unread);
  g_test_add_func ("/base/handover/files-too-large-together", test_files_too_large_together);
  g_test_add_func ("/base/handover/foreign-control-data", test_foreign_control_data);
  g_test_add_func ("/base/handover/peer-gone", test_peer_gone);
  g_test_add_func ("/base/handover/discard", test_discard);
  g_test_add_func ("/base/handover/peer-silent", test_peer_silent);
  g_test_add_func ("/base/handover/body-refused", test_body_refused);
  g_test_add_func ("/base/handover/body-of-another-type", test_body_of_another_type);
  g_test_add_func ("/base/handover/round-trip", test_round_trip);
  g_test_add_func ("/base/handover/empty-bodies", test_empty_bodies);
  g_test_add_func ("/base/handover/send-limits", test_send_limits);
  g_test_add_func ("/base/handover/peer-uid", test_peer_uid);
  g_test_add_func ("/base/handover/reply-refused", test_reply_refused);
  g_test_add_func ("/base/handover/reply-error", test_reply_error);
  g_test_add_func ("/base/handover/call", test_call);
  g_test_add_func ("/base/handover/connect-refused", test_connect_refused);
  g_test_add_func ("/base/handover/connect-backlog-full", test_connect_backlog_full);
  return g_test_run ();
}
