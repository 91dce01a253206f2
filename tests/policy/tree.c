/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/policy/tree.h"

#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

void
tree_init (Tree *tree)
{
  tree->top = g_dir_make_tmp ("policy-XXXXXX", NULL);
  tree->data = g_build_filename (tree->top, "usr", NULL);
  tree->config = g_build_filename (tree->top, "etc", NULL);
  tree->objects = g_build_filename (tree->top, "lib", NULL);
  g_assert_cmpint (g_mkdir (tree->data, 0755), ==, 0);
}

void
tree_write (const Tree *tree, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (tree->top, name, NULL);
  g_autofree char *dir = g_path_get_dirname (path);
  mode_t mask = umask (022);

  g_assert_cmpint (g_mkdir_with_parents (dir, 0755), ==, 0);
  umask (mask);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_cmpint (g_chmod (path, 0644), ==, 0);
}

static void
remove_all (const char *path)
{
  struct stat info;
  const char *name;
  GDir *dir;

  g_assert_cmpint (lstat (path, &info), ==, 0);
  if (S_ISDIR (info.st_mode))
    {
      g_assert_cmpint (g_chmod (path, 0755), ==, 0);
      dir = g_dir_open (path, 0, NULL);
      while ((name = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *child = g_build_filename (path, name, NULL);

          remove_all (child);
        }
      g_dir_close (dir);
    }
  g_assert_cmpint (g_remove (path), ==, 0);
}

void
tree_clear (Tree *tree)
{
  remove_all (tree->top);
  g_free (tree->top);
  g_free (tree->data);
  g_free (tree->config);
  g_free (tree->objects);
}

PolicySource
tree_source (const Tree *tree)
{
  PolicySource source = { .data_dir = tree->data,
                          .config_dir = tree->config,
                          .module_dir = tree->objects,
                          .owner = getuid () };

  return source;
}
