/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl audit checkpoint, export, prune: what is kept elsewhere, and what is then no longer
 * kept here.  An export is checked while it is written; one that does not hold together is refused.
 */
#include "service/ctl/audit.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/chain.h"
#include "service/base/clock.h"
#include "service/ctl/bus.h"
#include "service/ctl/log.h"
#include "service/ctl/output.h"

#include <stdio.h>
#include <string.h>

static char *before = NULL;

const GOptionEntry prune_options[] = {
  { "before", 0, 0, G_OPTION_ARG_STRING, &before,
    "Remove what is older: 2026-11-30 or 2026-11-30T09:00:00Z", "DATE" },
  G_OPTION_ENTRY_NULL,
};

static gboolean
print_line (GBytes *bytes, GError **error)
{
  gsize len = 0;
  const char *text = g_bytes_get_data (bytes, &len);

  if (fwrite (text, 1, len, stdout) != len || putchar ('\n') == EOF)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_INTERNAL, "what was printed is not whole");
  return TRUE;
}

gboolean
run_checkpoint (Ctl *ctl, char **arguments, GError **error)
{
  g_auto (Checkpoint) checkpoint = { 0 };
  g_autoptr (GBytes) bytes = log_checkpoint (ctl, &checkpoint, error);

  return bytes != NULL && print_line (bytes, error);
}

typedef struct
{
  Chain chain;
  guint64 last;
} Export;

static gboolean
export_entry (const LogEntry *entry, gpointer data, GError **error)
{
  Export *export = data;

  if (!chain_add (&export->chain, entry->bytes, NULL, error) || !print_line (entry->bytes, error))
    return FALSE;
  return export->chain.seq < export->last;
}

gboolean
run_export (Ctl *ctl, char **arguments, GError **error)
{
  static const LogFuncs funcs = { export_entry, NULL };
  g_auto (Checkpoint) checkpoint = { 0 };
  g_autoptr (GBytes) bytes = log_checkpoint (ctl, &checkpoint, error);
  Export export = { 0 };

  if (bytes == NULL)
    return FALSE;
  export.last = checkpoint.seq;
  if (!log_walk (ctl, 1, &funcs, &export, error) || !chain_end (&export.chain, error))
    return FALSE;
  if (export.chain.seq != checkpoint.seq || !digest_equal (export.chain.head, checkpoint.head))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHECKPOINT,
                         "the log is not the one that the service signed");
  return print_line (bytes, error);
}

gboolean
run_prune (Ctl *ctl, char **arguments, GError **error)
{
  g_autofree char *time = NULL;
  g_autofree char *text = NULL;
  guint64 all = 0;
  gboolean more = TRUE;
  gint64 wall = 0;

  if (before == NULL)
    {
      ctl->bad_word = TRUE;
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                           "--before is missing");
    }
  time = strlen (before) == strlen ("2026-11-30") ? g_strconcat (before, "T00:00:00Z", NULL)
                                                  : g_strdup (before);
  if (!clock_parse (time, &wall))
    return ctl_bad_word (
        ctl, error, "--before must be as 2026-11-30 or 2026-11-30T09:00:00Z, not \"%s\"", before);
  while (more)
    {
      g_autoptr (GVariant) reply =
          bus_call (ctl, "PruneAudit", g_variant_new ("(s)", time), -1, "(tb)", error);
      guint64 removed = 0;

      if (reply == NULL)
        return FALSE;
      g_variant_get (reply, "(tb)", &removed, &more);
      all += removed;
      more = more && removed > 0;
    }
  text = g_strdup_printf ("%" G_GUINT64_FORMAT, all);
  if (ctl->json)
    {
      g_autoptr (JsonTree) tree = json_tree_new_object ();

      json_tree_add_string (tree, "removed", text);
      output_json (tree);
    }
  else
    printf ("%s entries from before %s were removed\n", text, time);
  return TRUE;
}
