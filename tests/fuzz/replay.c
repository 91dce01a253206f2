/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a fuzz target over the files of folders and of single paths, so that its corpus is a test
 * with every compiler.  A target aborts where something is wrong; this program only needs to end.
 */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static gboolean
replay_file (const char *path)
{
  g_autofree char *text = NULL;
  g_autofree guint8 *copy = NULL;
  g_autoptr (GError) error = NULL;
  gsize len;

  if (!g_file_get_contents (path, &text, &len, &error))
    {
      g_printerr ("%s\n", error->message);
      return FALSE;
    }
  g_print ("%s\n", path);
  fflush (stdout);
  /* Without the NUL that GLib adds: the sanitizer sees a read beyond the end. */
  copy = g_memdup2 (text, len);
  LLVMFuzzerTestOneInput (copy, len);
  return TRUE;
}

static gboolean
replay_path (const char *path, guint *seen)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);

  if (dir == NULL)
    {
      (*seen)++;
      return replay_file (path);
    }
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      (*seen)++;
      if (!replay_file (file))
        return FALSE;
    }
  return TRUE;
}

int
main (int argc, char *argv[])
{
  guint seen = 0;

  for (int i = 1; i < argc; i++)
    if (!replay_path (argv[i], &seen))
      return 1;
  if (seen == 0)
    g_printerr ("usage: %s FILE-OR-FOLDER…, with at least one input\n", argv[0]);
  return seen == 0 ? 1 : 0;
}
