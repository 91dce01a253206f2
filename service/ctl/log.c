/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where entries of the audit log come from.  They are handed on as bytes; what they are worth, the
 * caller computes.
 */
#include "service/ctl/log.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/chain.h"
#include "service/base/file.h"
#include "service/ctl/bus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 100
#define PREFIX_CHECKPOINT "{\"body\":"

static gboolean
page_walk (
    GVariant *entries, guint64 *next, const LogFuncs *funcs, gpointer data, GError **error)
{
  for (gsize i = 0; i < g_variant_n_children (entries); i++)
    {
      g_autoptr (GVariant) entry = NULL;
      g_autoptr (GVariant) hash = NULL;
      g_autoptr (GBytes) bytes = NULL;
      LogEntry shown = { 0 };
      guint64 seq = 0;

      g_variant_get_child (entries, i, "(t@ay@ay)", &seq, &entry, &hash);
      /* what stands before the first was pruned, or is said to be */
      if (i == 0 && seq > *next && *next == 1)
        *next = seq;
      if (seq != *next || g_variant_get_size (hash) != PAE_DIGEST_SIZE)
        return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                             "entry %" G_GUINT64_FORMAT " is missing", *next);
      bytes = g_variant_get_data_as_bytes (entry);
      shown.bytes = bytes;
      shown.hash = g_variant_get_data (hash);
      if (!funcs->entry (&shown, data, error))
        return FALSE;
      (*next)++;
    }
  return TRUE;
}

/* Reads pages until one is empty. */
gboolean
log_walk (Ctl *ctl, guint64 from, const LogFuncs *funcs, gpointer data, GError **error)
{
  guint64 next = from;

  for (;;)
    {
      g_autoptr (GVariant) reply =
          bus_call (ctl, "ReadAudit", g_variant_new ("(tu)", next, PAGE), -1, "(a(tayay))", error);
      g_autoptr (GVariant) entries = NULL;
      g_autoptr (GError) stopped = NULL;

      if (reply == NULL)
        return FALSE;
      entries = g_variant_get_child_value (reply, 0);
      if (g_variant_n_children (entries) == 0)
        return TRUE;
      if (!page_walk (entries, &next, funcs, data, &stopped))
        {
          if (stopped == NULL)
            return TRUE;
          g_propagate_error (error, g_steal_pointer (&stopped));
          return FALSE;
        }
    }
}

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

GBytes *
log_checkpoint (Ctl *ctl, Checkpoint *out_checkpoint, GError **error)
{
  g_autoptr (GVariant) reply = bus_call (ctl, "GetCheckpoint", NULL, -1, "(ay)", error);
  g_autoptr (GVariant) array = NULL;
  g_autoptr (GBytes) bytes = NULL;

  if (reply == NULL)
    return NULL;
  array = g_variant_get_child_value (reply, 0);
  bytes = g_variant_get_data_as_bytes (array);
  if (!checkpoint_parse (bytes, out_checkpoint, error))
    return NULL;
  return g_steal_pointer (&bytes);
}
