/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A test's folder, when the test is over. */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>

/* folder_remove: with all that is in it; links are not followed. */
static inline void
folder_remove (const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name = NULL;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *below = g_build_filename (path, name, NULL);

      if (g_file_test (below, G_FILE_TEST_IS_DIR) && !g_file_test (below, G_FILE_TEST_IS_SYMLINK))
        folder_remove (below);
      else
        g_unlink (below);
    }
  g_rmdir (path);
}
