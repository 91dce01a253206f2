/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sealed memfds: what is refused, and that refusing reads nothing. */
#include "service/base/memfd.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define ALL_SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

static int
memfd_with_seals (int seals)
{
  autofd fd = memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, "content", 7), ==, 7);
  if (seals != 0)
    g_assert_cmpint (fcntl (fd, F_ADD_SEALS, seals), ==, 0);
  return fd_steal (&fd);
}

static int
reopen (int fd, int flags)
{
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  int again = open (path, flags | O_CLOEXEC);

  g_assert_cmpint (again, >=, 0);
  return again;
}

static int
make_unsealed (void)
{
  return memfd_with_seals (0);
}

static int
make_without_write_seal (void)
{
  return memfd_with_seals (ALL_SEALS & ~F_SEAL_WRITE);
}

static int
make_without_grow_seal (void)
{
  return memfd_with_seals (ALL_SEALS & ~F_SEAL_GROW);
}

static int
make_without_shrink_seal (void)
{
  return memfd_with_seals (ALL_SEALS & ~F_SEAL_SHRINK);
}

static int
make_without_seal_seal (void)
{
  return memfd_with_seals (ALL_SEALS & ~F_SEAL_SEAL);
}

static int
make_future_write_only (void)
{
  return memfd_with_seals ((ALL_SEALS & ~F_SEAL_WRITE) | 0x0010 /* F_SEAL_FUTURE_WRITE */);
}

static int
make_path_only (void)
{
  autofd fd = memfd_new_sealed ("test", "content", 7, NULL);

  return reopen (fd, O_PATH);
}

static int
make_write_only (void)
{
  autofd fd = memfd_with_seals (0);
  int again = reopen (fd, O_WRONLY);

  g_assert_cmpint (fcntl (again, F_ADD_SEALS, ALL_SEALS), ==, 0);
  return again;
}

static int
make_fifo (void)
{
  int ends[2] = { -1, -1 };

  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  close (ends[1]);
  return ends[0];
}

static int
make_zero (void)
{
  return open ("/dev/zero", O_RDONLY | O_CLOEXEC);
}

static int
make_directory (void)
{
  return open ("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int
make_regular (void)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("undersign-test-XXXXXX", &path, NULL);

  g_assert_cmpint (unlink (path), ==, 0);
  return fd;
}

static int
make_socket (void)
{
  return socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int
make_eventfd (void)
{
  return eventfd (1, EFD_CLOEXEC);
}

static int
make_huge (void)
{
  return memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
}

static int
make_closed (void)
{
  return 1000;
}

static const struct
{
  const char *name;
  int (*make) (void);
} refused[] = {
  { "unsealed", make_unsealed },
  { "no write seal", make_without_write_seal },
  { "no grow seal", make_without_grow_seal },
  { "no shrink seal", make_without_shrink_seal },
  { "no seal seal", make_without_seal_seal },
  { "future write seal only", make_future_write_only },
  { "O_PATH", make_path_only },
  { "O_WRONLY", make_write_only },
  { "FIFO", make_fifo },
  { "/dev/zero", make_zero },
  { "directory", make_directory },
  { "regular file", make_regular },
  { "socket", make_socket },
  { "eventfd", make_eventfd },
  { "closed", make_closed },
};

static void
check_refused (int fd, const char *reason)
{
  guint8 digest[32] = { 7 };
  gsize size = 4711;

  for (guint call = 0; call < 3; call++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = NULL;
      gboolean ok = FALSE;

      if (call == 0)
        ok = memfd_check (fd, 100, &size, &error);
      else if (call == 1)
        bytes = memfd_read (fd, 100, &error);
      else
        ok = memfd_sha256 (fd, 100, &size, digest, &error);
      g_assert_false (ok);
      g_assert_null (bytes);
      g_assert_true (us_error_has_reason (error, reason));
    }
  g_assert_cmpuint (size, ==, 4711);
  g_assert_cmpuint (digest[0], ==, 7);
}

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      int fd = refused[i].make ();

      g_test_message ("%s", refused[i].name);
      g_assert_cmpint (fd, >=, 0);
      check_refused (fd, US_REASON_NOT_SEALED);
      close (fd);
    }
}

static void
test_refused_unread (void)
{
  int ends[2] = { -1, -1 };
  char byte = 0;

  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  g_assert_cmpint (write (ends[1], "x", 1), ==, 1);
  check_refused (ends[0], US_REASON_NOT_SEALED);
  g_assert_cmpint (read (ends[0], &byte, 1), ==, 1);
  g_assert_cmpint (byte, ==, 'x');
  close (ends[0]);
  close (ends[1]);
}

static void
test_refused_huge_pages (void)
{
  autofd fd = make_huge ();

  if (fd < 0)
    {
      g_test_skip ("no huge pages here");
      return;
    }
  g_assert_cmpint (fcntl (fd, F_ADD_SEALS, ALL_SEALS), ==, 0);
  check_refused (fd, US_REASON_NOT_SEALED);
}

static void
test_too_large (void)
{
  g_autofree char *data = g_strnfill (101, 'x');
  autofd fd = memfd_new_sealed ("test", data, 101, NULL);
  autofd sparse = memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  check_refused (fd, US_REASON_TOO_LARGE);
  g_assert_cmpint (ftruncate (sparse, G_GINT64_CONSTANT (1) << 40), ==, 0);
  g_assert_cmpint (fcntl (sparse, F_ADD_SEALS, ALL_SEALS), ==, 0);
  check_refused (sparse, US_REASON_TOO_LARGE);
}

static void
test_made_cannot_change (void)
{
  g_autoptr (GError) error = NULL;
  autofd fd = memfd_new_sealed ("test", "content", 7, &error);

  g_assert_no_error (error);
  g_assert_true (fcntl (fd, F_GETFD) & FD_CLOEXEC);
  g_assert_cmpint (pwrite (fd, "x", 1, 0), ==, -1);
  g_assert_cmpint (ftruncate (fd, 3), ==, -1);
  g_assert_cmpint (ftruncate (fd, 9), ==, -1);
  g_assert_cmpint (fcntl (fd, F_ADD_SEALS, F_SEAL_WRITE), ==, -1);
  g_assert_true (mmap (NULL, 7, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
}

static void
test_read (void)
{
  static const gsize sizes[] = { 0, 1, 4095, 4096, 4097, 200000 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *data = g_strnfill (sizes[i], 'u');
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
      guint8 digest[32] = { 0 };
      guint8 expected[32] = { 0 };
      gsize expected_len = sizeof expected;
      gsize size = 0;
      autofd fd = memfd_new_sealed ("test", data, sizes[i], &error);

      g_assert_no_error (error);
      bytes = memfd_read (fd, sizes[i], &error);
      g_assert_no_error (error);
      g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), data, sizes[i]);

      /* Wherever the sender left the position. */
      g_assert_cmpint (lseek (fd, 0, SEEK_END), ==, (off_t) sizes[i]);
      g_assert_true (memfd_sha256 (fd, sizes[i], &size, digest, &error));
      g_assert_cmpuint (size, ==, sizes[i]);
      g_checksum_update (checksum, (const guchar *) data, (gssize) sizes[i]);
      g_checksum_get_digest (checksum, expected, &expected_len);
      g_assert_cmpmem (digest, 32, expected, 32);
    }
}

static void
test_read_outlives_descriptor (void)
{
  int fd = memfd_new_sealed ("test", "content", 7, NULL);
  g_autoptr (GBytes) bytes = memfd_read (fd, 7, NULL);

  close (fd);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "content", 7);
}

/* Seen through the same descriptor sent elsewhere, for as long as the holder has it. */
static void
test_lease (void)
{
  g_autoptr (GError) error = NULL;
  autofd fd = memfd_new_sealed ("test", "content", 7, NULL);
  autofd sent = fcntl (fd, F_DUPFD_CLOEXEC, 3);
  autofd lease = -1;
  int status = -1;
  pid_t pid = 0;

  g_assert_false (memfd_is_leased (sent));
  lease = memfd_lease (fd, &error);
  g_assert_no_error (error);
  g_assert_true (memfd_is_leased (sent));
  g_assert_true (memfd_is_leased (fd));
  fd_clear (&lease);
  g_assert_false (memfd_is_leased (sent));

  pid = fork ();
  if (pid == 0)
    _exit (memfd_lease (fd, NULL) >= 0 && memfd_is_leased (fd) ? 0 : 1);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (status, ==, 0);
  g_assert_false (memfd_is_leased (sent));
}

/* What is not a file of ours is not leased, whatever it is. */
static void
test_lease_refused (void)
{
  autofd null = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (memfd_lease (-1, &error), ==, -1);
  g_assert_true (us_error_has_reason (error, US_REASON_INTERNAL));
  g_assert_false (memfd_is_leased (-1));
  g_assert_false (memfd_is_leased (null));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/memfd/refused", test_refused);
  g_test_add_func ("/base/memfd/refused-unread", test_refused_unread);
  g_test_add_func ("/base/memfd/refused-huge-pages", test_refused_huge_pages);
  g_test_add_func ("/base/memfd/too-large", test_too_large);
  g_test_add_func ("/base/memfd/made-cannot-change", test_made_cannot_change);
  g_test_add_func ("/base/memfd/read", test_read);
  g_test_add_func ("/base/memfd/read-outlives-descriptor", test_read_outlives_descriptor);
  g_test_add_func ("/base/memfd/lease", test_lease);
  g_test_add_func ("/base/memfd/lease-refused", test_lease_refused);
  return g_test_run ();
}
