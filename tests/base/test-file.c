/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trusted files and directories: each way of not being one is refused, and none blocks. */
#include "service/base/file.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct
{
  char *path;
  int fd;
} Fixture;

static void
put (Fixture *fixture, const char *name, mode_t mode)
{
  autofd fd = openat (fixture->fd, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

  g_assert_cmpint (write (fd, "content", 7), ==, 7);
  g_assert_cmpint (fchmod (fd, mode), ==, 0);
}

static void
fixture_set_up (Fixture *fixture, gconstpointer data)
{
  fixture->path = g_dir_make_tmp ("undersign-test-XXXXXX", NULL);
  fixture->fd = open (fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  put (fixture, "good", 0644);
  put (fixture, "group", 0664);
  put (fixture, "world", 0646);
  g_assert_cmpint (symlinkat ("good", fixture->fd, "link"), ==, 0);
  g_assert_cmpint (mkfifoat (fixture->fd, "fifo", 0600), ==, 0);
  g_assert_cmpint (mkdirat (fixture->fd, "dir", 0700), ==, 0);
  g_assert_cmpint (mkdirat (fixture->fd, "open", 0700), ==, 0);
  g_assert_cmpint (fchmodat (fixture->fd, "open", 01777, 0), ==, 0);
  g_assert_cmpint (symlinkat ("dir", fixture->fd, "dirlink"), ==, 0);
}

static void
fixture_tear_down (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = { "good", "group", "world", "link", "fifo", "dirlink" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    (void) unlinkat (fixture->fd, names[i], 0);
  (void) unlinkat (fixture->fd, "dir", AT_REMOVEDIR);
  (void) unlinkat (fixture->fd, "open", AT_REMOVEDIR);
  close (fixture->fd);
  g_assert_cmpint (g_rmdir (fixture->path), ==, 0);
  g_free (fixture->path);
}

static void
test_untrusted_file (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *name;
    gboolean other_owner;
  } refused[] = {
    { "group", FALSE }, { "world", FALSE }, { "fifo", FALSE }, { "dir", FALSE }, { "good", TRUE }
  };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      uid_t owner = refused[i].other_owner ? getuid () + 1 : getuid ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes =
          file_read_trusted (fixture->fd, refused[i].name, owner, 100, &error);

      g_assert_null (bytes);
      g_assert_true (us_error_has_reason (error, US_REASON_UNTRUSTED_FILE));
      g_assert_nonnull (strstr (error->message, refused[i].name));
    }
}

static void
test_missing_file (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = { "absent", "good/below", "" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (file_read_trusted (fixture->fd, names[i], getuid (), 100, &error));
      g_assert_true (error->domain == G_FILE_ERROR);
    }
}

static void
test_symlink (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) dir_error = NULL;

  g_assert_null (file_read_trusted (fixture->fd, "link", getuid (), 100, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_UNTRUSTED_FILE));
  g_assert_true (g_str_has_suffix (error->message, "link is a symbolic link"));
  g_assert_cmpint (dir_open_trusted (fixture->fd, "dirlink", getuid (), &dir_error), ==, -1);
  g_assert_true (g_str_has_suffix (dir_error->message, "dirlink is a symbolic link"));
}

static void
test_too_large (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (file_read_trusted (fixture->fd, "good", getuid (), 6, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
  g_assert_nonnull (strstr (error->message, "good"));
}

static void
test_endless (void)
{
  g_autoptr (GError) error = NULL;
  autofd fd = open ("/dev/zero", O_RDONLY | O_CLOEXEC);

  g_assert_null (fd_read_all (fd, 1000000, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
}

static void
test_read (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = file_read_trusted (fixture->fd, "good", getuid (), 7, &error);
  g_autofree char *path = g_build_filename (fixture->path, "good", NULL);
  g_autoptr (GBytes) again = file_read_trusted (AT_FDCWD, path, getuid (), 7, &error);

  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "content", 7);
  g_assert_true (g_bytes_equal (bytes, again));
}

/* Each message says which file it is about. */
static void
test_given (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *name, *reason;
    gsize max;
  } refused[] = { { "absent", US_REASON_BAD_VALUE, 7 },
                  { "dir", US_REASON_BAD_VALUE, 7 },
                  { "good", US_REASON_TOO_LARGE, 6 } };
  g_autofree char *good = g_build_filename (fixture->path, "good", NULL);
  g_autoptr (GBytes) bytes = file_read_given (good, 7, NULL);

  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "content", 7);
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autofree char *path = g_build_filename (fixture->path, refused[i].name, NULL);
      g_autoptr (GError) error = NULL;

      g_assert_null (file_read_given (path, refused[i].max, &error));
      g_assert_true (us_error_has_reason (error, refused[i].reason));
      g_assert_nonnull (strstr (error->message, path));
    }
}

static void
test_directory (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *name;
    gboolean other_owner;
  } refused[] = { { "open", FALSE }, { "dir", TRUE } };
  g_autoptr (GError) error = NULL;
  autofd fd = dir_open_trusted (fixture->fd, "dir", getuid (), &error);

  g_assert_no_error (error);
  g_assert_true (fcntl (fd, F_GETFD) & FD_CLOEXEC);

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      uid_t owner = refused[i].other_owner ? getuid () + 1 : getuid ();
      g_autoptr (GError) local = NULL;

      g_assert_cmpint (dir_open_trusted (fixture->fd, refused[i].name, owner, &local), ==, -1);
      g_assert_true (us_error_has_reason (local, US_REASON_UNTRUSTED_FILE));
    }
  g_assert_cmpint (dir_open_trusted (fixture->fd, "good", getuid (), NULL), ==, -1);
}

static void
test_absent_directory (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (dir_open_trusted (fixture->fd, "absent", getuid (), &error), ==, -1);
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
}

static void
test_write (void)
{
  g_autofree char *data = g_strnfill (300000, 'w');
  g_autofree char *path = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  autofd fd = g_file_open_tmp ("undersign-test-XXXXXX", &path, NULL);
  autofd full = open ("/dev/full", O_WRONLY | O_CLOEXEC);

  g_assert_true (fd_write_all (fd, data, 300000, &error));
  g_assert_no_error (error);
  g_assert_cmpint (lseek (fd, 0, SEEK_SET), ==, 0);
  bytes = fd_read_all (fd, 300000, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), data, 300000);
  g_assert_cmpint (unlink (path), ==, 0);

  g_assert_false (fd_write_all (full, data, 1, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOSPC);
}

static void
assert_content (const char *path, const char *content)
{
  g_autofree char *found = NULL;

  g_assert_true (g_file_get_contents (path, &found, NULL, NULL));
  g_assert_cmpstr (found, ==, content);
}

static void
test_publish (Fixture *fixture, gconstpointer data)
{
  g_autofree char *folder = g_build_filename (fixture->path, "new", "folder", NULL);
  g_autofree char *parent = g_path_get_dirname (folder);
  g_autofree char *path = g_build_filename (folder, "name", NULL);
  g_autofree char *unfinished = g_build_filename (folder, ".name.new", NULL);
  g_autoptr (GError) error = NULL;
  struct stat info;
  mode_t mask = umask (077);

  g_assert_true (file_publish (path, "all of it", &error));
  g_assert_no_error (error);
  umask (mask);
  assert_content (path, "all of it");
  g_assert_cmpint (lstat (path, &info), ==, 0);
  g_assert_cmpuint (info.st_mode, ==, S_IFREG | 0644);
  g_assert_cmpuint (info.st_nlink, ==, 1);

  /* One that was killed left something; and it is no longer the file that has its name. */
  g_assert_cmpint (unlink (path), ==, 0);
  g_assert_true (g_file_set_contents (unfinished, "half", -1, NULL));
  g_assert_cmpint (link (unfinished, path), ==, 0);
  g_assert_false (file_publish (path, "all of it", &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST);
  assert_content (path, "half");
  g_assert_cmpint (lstat (unfinished, &info), !=, 0);

  g_assert_cmpint (unlink (path), ==, 0);
  g_assert_true (g_file_set_contents (unfinished, "half", -1, NULL));
  g_assert_true (file_publish (path, "all of it", NULL));
  assert_content (path, "all of it");
  g_assert_cmpint (unlink (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0); /* nothing else is in it */
  g_assert_cmpint (g_rmdir (parent), ==, 0);
}

/* Neither a link, wherever it leads, nor what is no folder is written to. */
static void
test_publish_nowhere (Fixture *fixture, gconstpointer data)
{
  g_autofree char *link_path = g_build_filename (fixture->path, "link", NULL);
  g_autofree char *good = g_build_filename (fixture->path, "good", NULL);
  g_autofree char *below = g_build_filename (good, "name", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (file_publish (link_path, "other", &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST);
  assert_content (good, "content");
  g_clear_error (&error);
  g_assert_false (file_publish (below, "other", &error));
  g_assert_nonnull (error);
}

#define ADD(name, function)                                                                        \
  g_test_add ("/base/file/" name, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("untrusted-file", test_untrusted_file);
  ADD ("missing-file", test_missing_file);
  ADD ("symlink", test_symlink);
  ADD ("too-large", test_too_large);
  g_test_add_func ("/base/file/endless", test_endless);
  ADD ("read", test_read);
  ADD ("given", test_given);
  ADD ("directory", test_directory);
  ADD ("absent-directory", test_absent_directory);
  g_test_add_func ("/base/file/write", test_write);
  ADD ("publish", test_publish);
  ADD ("publish-nowhere", test_publish_nowhere);
  return g_test_run ();
}
