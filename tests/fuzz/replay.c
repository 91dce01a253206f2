/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a fuzz target over the files of folders and of single paths, so that its corpus is a test
 * with every compiler.  A target aborts where something is wrong.  With --refusals TABLE TARGET each
 * line "TARGET REASON FILE" of the table must come true: the file is there, and the target met just
 * that refusal in it.
 */
#include "tests/fuzz/refusal.h"

#include "dbus/error.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

typedef struct
{
  GHashTable *met; /* "FILE REASON" */
  guint seen;
} Replay;

/* The reasons of the file at hand. */
static GPtrArray *reasons;

void
refusal_note (const GError *error)
{
  g_ptr_array_add (reasons, us_error_reason (error));
}

static gboolean
replay_file (Replay *replay, const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
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
  reasons = g_ptr_array_new_with_free_func (g_free);
  LLVMFuzzerTestOneInput (copy, len);
  for (guint i = 0; i < reasons->len; i++)
    g_hash_table_add (replay->met, g_strdup_printf ("%s %s", name,
                                                    (const char *) g_ptr_array_index (reasons, i)));
  g_clear_pointer (&reasons, g_ptr_array_unref);
  replay->seen++;
  return TRUE;
}

static gboolean
replay_path (Replay *replay, const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);

  if (dir == NULL)
    return replay_file (replay, path);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      if (!replay_file (replay, file))
        return FALSE;
    }
  return TRUE;
}

/* A file of "-" is a refusal that no input can bring about; the table says why. */
static gboolean
table_check (const Replay *replay, const char *path, const char *target)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) lines = NULL;
  gboolean ok = TRUE;

  if (!g_file_get_contents (path, &text, NULL, &error))
    {
      g_printerr ("%s\n", error->message);
      return FALSE;
    }
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char of[64] = "", reason[64] = "", file[128] = "";
      g_autofree char *key = NULL;

      if (lines[i][0] == '#' || sscanf (lines[i], "%63s %63s %127s", of, reason, file) != 3 ||
          strcmp (of, target) != 0 || strcmp (file, "-") == 0)
        continue;
      key = g_strdup_printf ("%s %s", file, reason);
      if (g_hash_table_contains (replay->met, key))
        continue;
      g_printerr ("%s:%u: %s was not refused as %s\n", path, i + 1, file, reason);
      ok = FALSE;
    }
  return ok;
}

int
main (int argc, char *argv[])
{
  gboolean table = argc > 3 && strcmp (argv[1], "--refusals") == 0;
  g_autoptr (GHashTable) met = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Replay replay = { .met = met };

  for (int i = table ? 4 : 1; i < argc; i++)
    if (!replay_path (&replay, argv[i]))
      return 1;
  if (replay.seen == 0)
    g_printerr ("usage: %s [--refusals TABLE TARGET] FILE-OR-FOLDER…, with at least one input\n",
                argv[0]);
  return replay.seen > 0 && (!table || table_check (&replay, argv[2], argv[3])) ? 0 : 1;
}
