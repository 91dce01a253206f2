/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds that are about the audit log: AUDIT, CHECKPOINT, PRUNE.  Nothing here decides what
 * runs.
 */
#include "service/executor/executor.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"
#include "service/executor/host-key.h"
#include "service/executor/journal.h"
#include "service/executor/prepared.h"

GVariant *
handle_audit (Session *session, GVariant *body, GError **error)
{
  g_autoptr (GPtrArray) entries = NULL;
  GVariantBuilder builder;
  guint64 seq = 0;
  guint32 count = 0;
  gsize size = 0;

  g_variant_get (body, WIRE_AUDIT, &seq, &count);
  entries = ledger_audit (session->executor->ledger, seq, count, error);
  if (entries == NULL)
    return NULL;

  /* as many as fit: the caller asks on from the last one it got */
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(tayay)"));
  for (guint i = 0; i < entries->len; i++)
    {
      const AuditEntry *entry = g_ptr_array_index (entries, i);

      size += g_bytes_get_size (entry->entry) + 2 * PAE_DIGEST_SIZE;
      if (size > HANDOVER_MAX_BODY / 2)
        break;
      g_variant_builder_add (&builder, "(t@ay@ay)", entry->seq, variant_of_bytes (entry->entry),
                             variant_of_digest (entry->hash));
    }
  return g_variant_new (WIRE_AUDIT_REPLY, &builder);
}

GVariant *
handle_checkpoint (Session *session, GVariant *body, GError **error)
{
  g_autoptr (HostKey) key = host_key_open (session->executor, error);
  g_autoptr (JsonTree) checkpoint = NULL;
  g_autoptr (GBytes) bytes = NULL;

  if (key == NULL)
    return NULL;
  checkpoint = host_key_checkpoint (key, session->executor, error);
  if (checkpoint == NULL)
    return NULL;
  bytes = json_tree_write (checkpoint);
  return g_variant_new ("(@ay)", variant_of_bytes (bytes));
}

GVariant *
handle_prune (Session *session, GVariant *body, GError **error)
{
  gint64 before = 0;
  guint32 by = 0;
  guint64 removed = 0;
  gboolean more = FALSE;
  g_autofree char *time = NULL;

  g_variant_get (body, WIRE_PRUNE, &before, &by);
  time = clock_format (before);
  if (time == NULL || before > clock_wall ())
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "what is pruned was written before a time that has passed");
      return NULL;
    }
  /* a slow disk is no reason to begin again and again */
  session_extend (session);
  if (!ledger_prune (session->executor->ledger, before, (uid_t) by, &removed, &more, error))
    return NULL;
  if (removed > 0)
    journal_act (JOURNAL_PRUNED, "pruned", by, NULL, NULL);
  return g_variant_new (WIRE_PRUNE_REPLY, removed, more);
}
