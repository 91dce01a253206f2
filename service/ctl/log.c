/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Entries of the audit log as the service gives them.  They are handed on as bytes; what they are
 * worth, the caller computes.
 */
#include "service/ctl/log.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/ctl/bus.h"

#define PAGE 100

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
