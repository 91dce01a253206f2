/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of a request: what is taken, and that the copies are what was taken. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/broker/files.h"
#include "tests/broker/sample.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int
sealed (const char *text)
{
  g_autoptr (GError) error = NULL;
  int fd = memfd_new_sealed ("test", text, strlen (text), &error);

  g_assert_no_error (error);
  return fd;
}

static GUnixFDList *
list_of (int fd)
{
  return g_unix_fd_list_new_from_array (&fd, 1);
}

static int
open_memfd (guint seals)
{
  int fd = memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert_cmpint (write (fd, "text", 4), ==, 4);
  g_assert_cmpint (fcntl (fd, F_ADD_SEALS, seals), ==, 0);
  return fd;
}

static int
open_kind (const char *kind)
{
  int pair[2] = { -1, -1 };

  if (strcmp (kind, "pipe") == 0)
    g_assert_cmpint (pipe2 (pair, O_CLOEXEC), ==, 0);
  else if (strcmp (kind, "socket") == 0)
    g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  else if (strcmp (kind, "device") == 0)
    return open ("/dev/zero", O_RDONLY | O_CLOEXEC);
  else if (strcmp (kind, "directory") == 0)
    return open ("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  else if (strcmp (kind, "path") == 0)
    return open ("/etc/passwd", O_PATH | O_CLOEXEC);
  else if (strcmp (kind, "file") == 0)
    return open ("/etc/passwd", O_RDONLY | O_CLOEXEC);
  else if (strcmp (kind, "memfd") == 0)
    return open_memfd (0);
  else if (strcmp (kind, "no write seal") == 0)
    return open_memfd (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  else if (strcmp (kind, "no grow seal") == 0)
    return open_memfd (F_SEAL_SHRINK | F_SEAL_WRITE | F_SEAL_SEAL);
  else if (strcmp (kind, "no shrink seal") == 0)
    return open_memfd (F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  else
    return open_memfd (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
  fd_clear (&pair[1]);
  return pair[0];
}

static void
test_kinds (void)
{
  static const char *const kinds[] = {
    "pipe", "socket",        "device",       "directory",      "path",         "file",
    "memfd", "no write seal", "no grow seal", "no shrink seal", "no seal seal",
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (GUnixFDList) list = list_of (open_kind (kinds[i]));
      g_autoptr (Files) files = NULL;
      g_autoptr (GError) error = NULL;

      files = files_new_steal (list, &error);
      g_test_message ("%s", kinds[i]);
      g_assert_null (files);
      g_assert_true (us_error_has_reason (error, US_REASON_NOT_SEALED));
      /* Whatever comes of it, the descriptor is not left with the message. */
      g_assert_cmpint (g_unix_fd_list_get_length (list), ==, 0);
    }
}

static int
sealed_hole (off_t size)
{
  int fd = memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert_cmpint (ftruncate (fd, size), ==, 0);
  g_assert_cmpint (fcntl (fd, F_ADD_SEALS,
                          F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL),
                   ==, 0);
  return fd;
}

static void
assert_sizes (guint n, off_t size, gboolean accepted)
{
  g_autoptr (GUnixFDList) list = g_unix_fd_list_new ();
  g_autoptr (Files) files = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < n; i++)
    {
      autofd fd = sealed_hole (size);

      g_assert_cmpint (g_unix_fd_list_append (list, fd, NULL), >=, 0);
    }
  files = files_new_steal (list, &error);
  if (accepted)
    {
      g_assert_no_error (error);
      g_assert_cmpuint (files->n, ==, n);
      g_assert_cmpuint (files->bytes, ==, n * (guint64) size);
    }
  else
    {
      g_assert_null (files);
      g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
    }
}

static void
test_sizes (void)
{
  assert_sizes (0, 0, TRUE);
  assert_sizes (16, 1, TRUE);
  assert_sizes (17, 1, FALSE);
  assert_sizes (2, HANDOVER_FILE_MAX, TRUE);
  assert_sizes (1, HANDOVER_FILE_MAX + 1, FALSE);
  assert_sizes (4, HANDOVER_FILES_MAX / 4, TRUE);
  assert_sizes (4, HANDOVER_FILES_MAX / 4 + 1, FALSE);
}

/* --- jobs --- */

typedef struct
{
  gboolean called;
  Files *files;
  guint8 digest[32];
  GError *error;
} Result;

static void
job_done (const FilesDone *done, const GError *error, gpointer data)
{
  Result *result = data;

  g_assert_false (result->called);
  result->called = TRUE;
  result->error = error != NULL ? g_error_copy (error) : NULL;
  if (done == NULL)
    return;
  result->files = files_ref (done->files);
  memcpy (result->digest, done->digests[0], 32);
}

static void
result_wait (Result *result)
{
  g_assert_false (result->called);
  while (!result->called)
    g_main_context_iteration (NULL, TRUE);
}

static void
result_clear (Result *result)
{
  g_clear_pointer (&result->files, files_unref);
  g_clear_error (&result->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Result, result_clear)

typedef struct
{
  char *path;
  int dirfd;
} Spool;

static void
spool_set_up (Spool *spool, gconstpointer data)
{
  spool->path = g_dir_make_tmp ("undersign-spool-XXXXXX", NULL);
  spool->dirfd = open (spool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (spool->dirfd, >=, 0);
}

static void
spool_tear_down (Spool *spool, gconstpointer data)
{
  fd_clear (&spool->dirfd);
  g_assert_cmpint (g_rmdir (spool->path), ==, 0);
  g_free (spool->path);
}

static guint
count (int dirfd, const char *id)
{
  g_autoptr (Files) stored = files_stored (dirfd, id);

  return stored->n;
}

static Files *
two_files (void)
{
  g_autoptr (GUnixFDList) list = g_unix_fd_list_new ();
  g_autofree char *large = g_strnfill (3 * 1024 * 1024 + 7, 'x');
  autofd first = sealed (large);
  autofd second = sealed ("");
  g_autoptr (GError) error = NULL;
  Files *files = NULL;

  g_unix_fd_list_append (list, first, NULL);
  g_unix_fd_list_append (list, second, NULL);
  files = files_new_steal (list, &error);
  g_assert_no_error (error);
  return files;
}

static void
assert_same (int a, int b)
{
  gsize size_a = 0;
  gsize size_b = 0;
  guint8 digest_a[32];
  guint8 digest_b[32];

  g_assert_true (memfd_sha256 (a, HANDOVER_FILE_MAX, &size_a, digest_a, NULL));
  g_assert_true (memfd_sha256 (b, HANDOVER_FILE_MAX, &size_b, digest_b, NULL));
  g_assert_cmpuint (size_a, ==, size_b);
  g_assert_cmpmem (digest_a, 32, digest_b, 32);
}

static void
test_spool (Spool *spool, gconstpointer data)
{
  g_autoptr (Files) files = two_files ();
  g_auto (Result) spooled = { 0 };
  g_auto (Result) loaded = { 0 };
  g_auto (Result) digested = { 0 };
  guint8 digest[32];
  gsize size = 0;
  struct stat status = { 0 };
  autofd fd = -1;
  g_autoptr (GError) error = NULL;

  files_spool (files, SAMPLE_AGENT, spool->dirfd, SAMPLE_ID, job_done, &spooled);
  result_wait (&spooled);
  g_assert_no_error (spooled.error);
  g_assert_cmpuint (count (spool->dirfd, SAMPLE_ID), ==, 2);
  g_assert_cmpint (fstatat (spool->dirfd, SAMPLE_ID, &status, 0), ==, 0);
  g_assert_cmpuint (status.st_mode & 07777, ==, 0700);

  files_load (SAMPLE_AGENT, spool->dirfd, SAMPLE_ID, job_done, &loaded);
  result_wait (&loaded);
  g_assert_no_error (loaded.error);
  g_assert_cmpuint (loaded.files->n, ==, 2);
  g_assert_cmpuint (loaded.files->bytes, ==, files->bytes);
  assert_same (files->fds[0], loaded.files->fds[0]);
  assert_same (files->fds[1], loaded.files->fds[1]);

  files_digest (files, SAMPLE_AGENT, job_done, &digested);
  result_wait (&digested);
  g_assert_true (memfd_sha256 (files->fds[0], HANDOVER_FILE_MAX, &size, digest, NULL));
  g_assert_cmpmem (digested.digest, 32, digest, 32);

  /* A reader gets a descriptor of its own that it can't write to. */
  fd = files_open (spool->dirfd, SAMPLE_ID, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpint (fstat (fd, &status), ==, 0);
  g_assert_cmpint (status.st_size, ==, (goffset) files->sizes[0]);
  g_assert_cmpint (fcntl (fd, F_GETFL) & O_ACCMODE, ==, O_RDONLY);
  g_assert_cmpint (files_open (spool->dirfd, SAMPLE_ID, 2, &error), ==, -1);
  g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
  g_clear_error (&error);
  g_assert_cmpint (files_open (spool->dirfd, SAMPLE_ID, 16, &error), ==, -1);
  g_clear_error (&error);
  g_assert_cmpint (files_open (spool->dirfd, SAMPLE_OTHER_ID, 0, &error), ==, -1);

  g_assert_true (files_rename (spool->dirfd, SAMPLE_ID, SAMPLE_OTHER_ID, files, NULL));
  g_assert_cmpuint (count (spool->dirfd, SAMPLE_ID), ==, 0);
  g_assert_cmpuint (count (spool->dirfd, SAMPLE_OTHER_ID), ==, 2);
  files_drop (spool->dirfd, SAMPLE_OTHER_ID);
  files_drop (spool->dirfd, SAMPLE_OTHER_ID);
}

/* Copies under an id that is taken fail, and leave those that are there alone. */
static void
test_taken (Spool *spool, gconstpointer data)
{
  g_autoptr (Files) files = two_files ();
  g_auto (Result) first = { 0 };
  g_auto (Result) second = { 0 };

  files_spool (files, SAMPLE_AGENT, spool->dirfd, SAMPLE_ID, job_done, &first);
  result_wait (&first);
  files_spool (files, SAMPLE_AGENT, spool->dirfd, SAMPLE_ID, job_done, &second);
  result_wait (&second);
  g_assert_true (us_error_has_reason (second.error, US_REASON_INTERNAL));
  g_assert_cmpuint (count (spool->dirfd, SAMPLE_ID), ==, 2);
  g_assert_false (files_rename (spool->dirfd, SAMPLE_OTHER_ID, SAMPLE_ID, files, NULL));
  files_drop (spool->dirfd, SAMPLE_ID);
}

/* What was put in place of a copy is not followed and not read. */
static void
test_swapped (Spool *spool, gconstpointer data)
{
  g_autoptr (Files) files = two_files ();
  g_auto (Result) spooled = { 0 };
  g_auto (Result) loaded = { 0 };
  g_autoptr (GError) error = NULL;

  files_spool (files, SAMPLE_AGENT, spool->dirfd, SAMPLE_ID, job_done, &spooled);
  result_wait (&spooled);
  g_assert_cmpint (unlinkat (spool->dirfd, SAMPLE_ID "/0", 0), ==, 0);
  g_assert_cmpint (symlinkat ("/etc/passwd", spool->dirfd, SAMPLE_ID "/0"), ==, 0);
  files_load (SAMPLE_AGENT, spool->dirfd, SAMPLE_ID, job_done, &loaded);
  result_wait (&loaded);
  g_assert_true (us_error_has_reason (loaded.error, US_REASON_INTERNAL));
  g_assert_cmpint (files_open (spool->dirfd, SAMPLE_ID, 0, &error), ==, -1);
  files_drop (spool->dirfd, SAMPLE_ID);
}

static void
test_sweep (Spool *spool, gconstpointer data)
{
  g_autoptr (Files) files = two_files ();
  g_auto (Result) first = { 0 };
  g_auto (Result) second = { 0 };
  g_autoptr (GHashTable) keep = g_hash_table_new (g_str_hash, g_str_equal);

  files_spool (files, SAMPLE_AGENT, spool->dirfd, SAMPLE_ID, job_done, &first);
  result_wait (&first);
  files_spool (files, SAMPLE_AGENT, spool->dirfd, SAMPLE_OTHER_ID, job_done, &second);
  result_wait (&second);
  g_hash_table_add (keep, (gpointer) SAMPLE_ID);
  files_sweep (spool->dirfd, keep);
  g_assert_cmpuint (count (spool->dirfd, SAMPLE_ID), ==, 2);
  g_assert_cmpuint (count (spool->dirfd, SAMPLE_OTHER_ID), ==, 0);
  files_drop (spool->dirfd, SAMPLE_ID);
}

static Files *
small_file (void)
{
  g_autoptr (GUnixFDList) list = list_of (sealed ("small"));
  g_autoptr (GError) error = NULL;
  Files *files = files_new_steal (list, &error);

  g_assert_no_error (error);
  return files;
}

static guint
count_called (const Result *results, guint n)
{
  guint called = 0;

  for (guint i = 0; i < n; i++)
    called += results[i].called;
  return called;
}

/* However much one uid has to be hashed or copied, a turn of the main loop is one slice, and another
 * uid waits for at most every second one. */
static void
test_turns (Spool *spool, gconstpointer data)
{
  g_autoptr (Files) small = small_file ();
  g_autoptr (Files) large = two_files ();
  Result many[8] = { 0 };
  g_auto (Result) copied = { 0 };
  g_auto (Result) other = { 0 };
  guint turns = 0;

  for (guint i = 0; i < G_N_ELEMENTS (many); i++)
    files_digest (small, SAMPLE_AGENT, job_done, &many[i]);
  for (guint n = 0; n < G_N_ELEMENTS (many); turns++)
    {
      guint now = 0;

      g_main_context_iteration (NULL, FALSE);
      now = count_called (many, G_N_ELEMENTS (many));
      g_assert_cmpuint (now - n, <=, 1);
      n = now;
    }
  g_assert_cmpuint (turns, >=, G_N_ELEMENTS (many));
  for (guint i = 0; i < G_N_ELEMENTS (many); i++)
    result_clear (&many[i]);

  memset (many, 0, sizeof many);
  files_spool (large, SAMPLE_AGENT, spool->dirfd, SAMPLE_ID, job_done, &copied);
  for (guint i = 0; i < G_N_ELEMENTS (many); i++)
    files_digest (large, SAMPLE_AGENT, job_done, &many[i]);
  files_digest (small, SAMPLE_PERSON, job_done, &other);
  result_wait (&other);
  /* A small file is one slice and its end. */
  g_assert_false (copied.called);
  files_stop ();
  g_assert_true (us_error_has_reason (copied.error, US_REASON_UNREACHABLE));
  g_assert_cmpuint (count_called (many, G_N_ELEMENTS (many)), ==, G_N_ELEMENTS (many));
  g_assert_cmpuint (count (spool->dirfd, SAMPLE_ID), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (many); i++)
    result_clear (&many[i]);
}

static void
test_room (Spool *spool, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (files_have_room (spool->dirfd, 1, 0, &error));
  g_assert_false (files_have_room (spool->dirfd, 1, G_MAXINT64, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
  g_clear_error (&error);
  g_assert_false (files_have_room (spool->dirfd, G_MAXUINT64, 0, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
}

#define ADD(path, function)                                                                        \
  g_test_add (path, Spool, NULL, spool_set_up, function, spool_tear_down)

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/files/kinds", test_kinds);
  g_test_add_func ("/files/sizes", test_sizes);
  ADD ("/files/spool", test_spool);
  ADD ("/files/taken", test_taken);
  ADD ("/files/swapped", test_swapped);
  ADD ("/files/sweep", test_sweep);
  ADD ("/files/turns", test_turns);
  ADD ("/files/room", test_room);
  return g_test_run ();
}
