/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A folder for one test, removed with what is in it. */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

/* For tests that have much synced: to memory it costs nothing.  Before any thread, and any folder. */
static inline void
test_folder_in_memory (void)
{
  if (access ("/dev/shm", W_OK) == 0)
    g_setenv ("TMPDIR", "/dev/shm", TRUE);
}

static inline char *
test_folder_new (void)
{
  g_autoptr (GError) error = NULL;
  char *path = g_dir_make_tmp ("undersign-card-XXXXXX", &error);

  g_assert_no_error (error);
  return path;
}

static inline void
test_folder_remove (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);

      if (g_file_test (inner, G_FILE_TEST_IS_DIR) && !g_file_test (inner, G_FILE_TEST_IS_SYMLINK))
        test_folder_remove (inner);
      else
        g_assert_cmpint (g_unlink (inner), ==, 0);
    }
  g_assert_cmpint (g_rmdir (path), ==, 0);
}
