/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pruning, an administrator's word.  What is taken away is the beginning of the chain, entry by
 * entry in its order, so that what stays still is one chain; an entry in it names the number and
 * the hash that it now begins after.  A log that was cut has no such entry.
 *
 * The row of a request is never taken away, nor what limits count: only what nothing here decides
 * by, and only where the request can come to nothing more.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"

typedef struct
{
  guint64 first, through; /* numbers; through 0: nothing */
  guint8 head[PAE_DIGEST_SIZE];
  gboolean more;
} Span;

/* entry_is_old: an entry that cannot be read is no entry to take away. */
static gboolean
entry_is_old (GBytes *entry, gint64 before, gboolean *out_old, GError **error)
{
  g_autoptr (JsonTree) tree = chain_entry_parse (entry, error);
  gint64 time = 0;

  if (tree == NULL)
    return FALSE;
  *out_old = clock_parse (json_tree_get_string (tree, "time"), &time) && time < before;
  return TRUE;
}

static gboolean
span_find (Ledger *ledger, gint64 before, guint64 last, Span *out_span, GError **error)
{
  g_autoptr (sqlite3_stmt) query = query_new (
      ledger, error, "SELECT seq, entry, hash FROM audit WHERE seq < ? ORDER BY seq LIMIT ?", "ii",
      (gint64) last, (gint64) LEDGER_PRUNE_MAX + 1);
  Span span = { 0 };
  gboolean row = FALSE;
  guint n = 0;

  if (query == NULL)
    return FALSE;
  while (query_next (ledger, query, &row, error))
    {
      g_autoptr (GBytes) entry = row ? query_bytes (query, 1) : NULL;
      gboolean old = FALSE;

      if (row && !entry_is_old (entry, before, &old, error))
        return FALSE;
      if (row && old && n < LEDGER_PRUNE_MAX)
        {
          span.through = (guint64) sqlite3_column_int64 (query, 0);
          if (n++ == 0)
            span.first = span.through;
          if (!query_digest (query, 2, span.head))
            return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER,
                                 "audit entry %" G_GUINT64_FORMAT " has no hash", span.through);
          continue;
        }
      span.more = old;
      *out_span = span;
      return TRUE;
    }
  return FALSE;
}

/*
 * requests_prune: of the requests that the entries up to @through are about, those of which no
 * later entry tells.  No others are looked at: a call costs what it takes away, however long the
 * log is.
 */
static gboolean
requests_prune (Ledger *ledger, gint64 before, guint64 through, GError **error)
{
#define REQUESTS_TOLD "(SELECT request FROM audit WHERE seq <= ? AND request IS NOT NULL)"
  return query_run (
             ledger, error, NULL,
             "UPDATE request SET pruned = 1, record = x'', result = '' WHERE id IN " REQUESTS_TOLD
             " AND pruned = 0 "
             "AND created < ? AND (consumed = 0 OR outcome IN ('done', 'failed')) "
             "AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.request = request.id "
             "AND audit.seq > ?)",
             "iii", (gint64) through, before, (gint64) through) &&
         query_run (ledger, error, NULL,
                    "DELETE FROM answer WHERE request IN " REQUESTS_TOLD
                    " AND EXISTS (SELECT 1 FROM request "
                    "WHERE request.id = answer.request AND request.pruned = 1)",
                    "i", (gint64) through);
#undef REQUESTS_TOLD
}

static JsonTree *
prune_details (Ledger *ledger, const Span *span, gint64 before, uid_t by)
{
  JsonTree *details = json_tree_new_object ();
  g_autofree char *time = clock_format (before);

  audit_add_uid (details, "by", by);
  json_tree_add_string (details, "before", time);
  json_tree_add_string (details, "ledger", ledger->id);
  audit_add_number (details, "first", span->first);
  audit_add_number (details, "through", span->through);
  audit_add_digest (details, "head", span->head);
  return details;
}

gboolean
ledger_prune (Ledger *ledger,
              gint64 before,
              uid_t by,
              guint64 *out_removed,
              gboolean *out_more,
              GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  guint8 head[PAE_DIGEST_SIZE];
  guint64 last = 0;
  Span span = { 0 };

  /* what a ledger that is behind the mark has lost, the rest of it may tell */
  if (!transaction_begin (ledger, &transaction, error) ||
      !mark_refuse (transaction.mark, error) || !audit_head (ledger, &last, head, error) ||
      !span_find (ledger, before, last, &span, error))
    return FALSE;
  *out_removed = 0;
  *out_more = FALSE;
  if (span.through == 0)
    return TRUE;

  if (!requests_prune (ledger, before, span.through, error) ||
      !query_run (ledger, error, NULL, "DELETE FROM audit WHERE seq <= ?", "i",
                  (gint64) span.through) ||
      !audit_append (ledger, AUDIT_ADMIN, "pruned", prune_details (ledger, &span, before, by),
                     error) ||
      !transaction_commit_safe (&transaction, error))
    return FALSE;
  *out_removed = span.through - span.first + 1;
  *out_more = span.more;
  return TRUE;
}
