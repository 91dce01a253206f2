/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entries of the audit log, and checkpoints between them, from a file that was exported. */
#include "service/ctl/log.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/chain.h"
#include "service/base/file.h"

#include <stdio.h>
#include <string.h>

#define PREFIX_CHECKPOINT "{\"body\":"

static gboolean
line_take (GBytes *line, const LogFuncs *funcs, gpointer data, GError **error)
{
  gsize len = 0;
  const char *text = g_bytes_get_data (line, &len);
  g_auto (Checkpoint) checkpoint = { 0 };
  LogEntry entry = { .bytes = line };

  if (len < strlen (PREFIX_CHECKPOINT) ||
      memcmp (text, PREFIX_CHECKPOINT, strlen (PREFIX_CHECKPOINT)) != 0)
    return funcs->entry (&entry, data, error);
  if (!checkpoint_parse (line, &checkpoint, error))
    return FALSE;
  return funcs->checkpoint == NULL || funcs->checkpoint (&checkpoint, data, error);
}

/* A line, without its line feed; NULL without an error at the end. */
static GBytes *
line_read (FILE *file, GError **error)
{
  g_autoptr (GByteArray) line = g_byte_array_new ();
  int c = EOF;

  while ((c = getc_unlocked (file)) != EOF && c != '\n')
    {
      guint8 byte = (guint8) c;

      if (line->len == CHAIN_ENTRY_MAX)
        {
          us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN, "a line is longer than %d bytes",
                        CHAIN_ENTRY_MAX);
          return NULL;
        }
      g_byte_array_append (line, &byte, 1);
    }
  if (c == EOF && (ferror (file) || line->len > 0))
    us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN, "the last line is not whole");
  if (c == EOF)
    return NULL;
  return g_byte_array_free_to_bytes (g_steal_pointer (&line));
}

gboolean
log_walk_file (const char *path, const LogFuncs *funcs, gpointer data, GError **error)
{
  FILE *file = fopen (path, "re");
  g_autoptr (GError) local = NULL;
  gboolean more = TRUE;

  if (file == NULL)
    return file_refuse_given (path, error);
  while (more)
    {
      g_autoptr (GBytes) line = line_read (file, &local);

      more = line != NULL && line_take (line, funcs, data, &local);
    }
  fclose (file);
  if (local == NULL)
    return TRUE;
  us_error_about (&local, path);
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}
