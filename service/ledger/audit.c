/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The audit chain.  An entry is a canonical JSON object
 *   { "format": "undersign.audit/1", "seq": "<decimal>", "time": "<RFC 3339>",
 *     "previous": "sha256:<hash of the entry before>", "source": who says so,
 *     "event": what happened, "details": { strings } }
 * and its hash is SHA-256 (PAE (audit type, bytes)); undersign-receipt(7) specifies it.  The first
 * entry names the ledger; before it stand 32 zero bytes.  Entries are only ever added, within the
 * transaction of what they tell; prune.c is the only one that takes any away, the oldest.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"

#define AUDIT_MAX_COUNT 1000

void
audit_entry_free (AuditEntry *entry)
{
  if (entry == NULL)
    return;
  g_clear_pointer (&entry->entry, g_bytes_unref);
  g_free (entry);
}

const char sql_audit_head[] = "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1";

gboolean
audit_head (Ledger *ledger, guint64 *out_seq, guint8 out_hash[PAE_DIGEST_SIZE], GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  gboolean row = FALSE;

  query = query_new (ledger, error, sql_audit_head, "");
  if (query == NULL || !query_next (ledger, query, &row, error))
    return FALSE;
  if (!row)
    {
      memset (out_hash, 0, PAE_DIGEST_SIZE);
      *out_seq = 0;
      return TRUE;
    }
  if (!query_digest (query, 1, out_hash) || sqlite3_column_int64 (query, 0) < 1)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER,
                         "the last audit entry has no hash");
  *out_seq = (guint64) sqlite3_column_int64 (query, 0);
  return TRUE;
}

void
audit_add_uid (JsonTree *details, const char *name, uid_t uid)
{
  g_autofree char *text = g_strdup_printf ("%u", (guint) uid);

  json_tree_add_string (details, name, text);
}

void
audit_add_number (JsonTree *details, const char *name, guint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, number);

  json_tree_add_string (details, name, text);
}

void
audit_add_digest (JsonTree *details, const char *name, const guint8 digest[PAE_DIGEST_SIZE])
{
  g_autofree char *text = digest_to_string (digest);

  json_tree_add_string (details, name, text);
}

void
audit_add_bytes (JsonTree *details, const char *name, GBytes *bytes)
{
  gsize len = 0;
  const guint8 *data = g_bytes_get_data (bytes, &len);
  g_autofree char *text = base64url_encode (data, len);

  json_tree_add_string (details, name, text);
}

static GBytes *
audit_encode (guint64 seq,
              const guint8 previous[PAE_DIGEST_SIZE],
              const char *source,
              const char *event,
              JsonTree *details)
{
  g_autoptr (JsonTree) entry = json_tree_new_object ();
  g_autofree char *seq_text = g_strdup_printf ("%" G_GUINT64_FORMAT, seq);
  g_autofree char *time = clock_format (clock_wall ());

  json_tree_add_string (entry, "format", CHAIN_FORMAT);
  json_tree_add_string (entry, "seq", seq_text);
  json_tree_add_string (entry, "time", time);
  audit_add_digest (entry, "previous", previous);
  json_tree_add_string (entry, "source", source);
  json_tree_add_string (entry, "event", event);
  json_tree_add (entry, "details", details);
  return json_tree_write (entry);
}

const char sql_audit_insert[] =
    "INSERT INTO audit (seq, entry, hash, request) VALUES (?, ?, ?, ?)";

gboolean
audit_append (
    Ledger *ledger, const char *source, const char *event, JsonTree *details, GError **error)
{
  g_autoptr (JsonTree) owned = details;
  g_autoptr (GBytes) entry = NULL;
  g_autofree char *request = g_strdup (json_tree_get_string (details, "request"));
  guint8 previous[PAE_DIGEST_SIZE];
  guint8 hash[PAE_DIGEST_SIZE];
  guint64 seq = 0;

  g_assert (sqlite3_get_autocommit (ledger->db) == 0);
  g_assert (chain_source_is_known (source));
  if (!audit_head (ledger, &seq, previous, error))
    return FALSE;
  seq++;
  entry = audit_encode (seq, previous, source, event, g_steal_pointer (&owned));
  chain_hash (entry, hash);
  return query_run (ledger, error, NULL, sql_audit_insert, "ibds", (gint64) seq, entry, hash,
                    request);
}

gboolean
audit_has (
    Ledger *ledger, const char *request, const char *event, gboolean *out_has, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;

  /* within a string a quotation mark is escaped, so that no detail looks like this */
  query = query_new (ledger, error,
                     "SELECT 1 FROM audit WHERE request = ? "
                     "AND instr (CAST (entry AS TEXT), '\"event\":\"' || ? || '\"') > 0",
                     "ss", request, event);
  return query != NULL && query_next (ledger, query, out_has, error);
}

static sqlite3_stmt *
audit_select (Ledger *ledger, guint64 seq, gint64 count, GError **error)
{
  return query_new (ledger, error,
                    "SELECT seq, entry, hash FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?", "ii",
                    (gint64) MIN (seq, (guint64) G_MAXINT64), count);
}

static gboolean
audit_read_hash (sqlite3_stmt *query, guint8 out_hash[PAE_DIGEST_SIZE], GError **error)
{
  if (query_digest (query, 2, out_hash))
    return TRUE;
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER,
                       "audit entry %" G_GUINT64_FORMAT " has no hash",
                       (guint64) sqlite3_column_int64 (query, 0));
}

AuditEntry *
audit_read_row (sqlite3_stmt *query, GError **error)
{
  g_autoptr (AuditEntry) entry = g_new0 (AuditEntry, 1);

  entry->seq = (guint64) sqlite3_column_int64 (query, 0);
  entry->entry = query_bytes (query, 1);
  if (!audit_read_hash (query, entry->hash, error))
    return NULL;
  return g_steal_pointer (&entry);
}

GPtrArray *
ledger_audit (Ledger *ledger, guint64 seq, guint count, GError **error)
{
  g_autoptr (GPtrArray) entries =
      g_ptr_array_new_with_free_func ((GDestroyNotify) audit_entry_free);
  g_autoptr (sqlite3_stmt) query = NULL;
  gboolean row = FALSE;

  query = audit_select (ledger, seq, MIN (count, AUDIT_MAX_COUNT), error);
  if (query == NULL)
    return NULL;
  while (query_next (ledger, query, &row, error))
    {
      AuditEntry *entry = NULL;

      if (!row)
        return g_steal_pointer (&entries);
      entry = audit_read_row (query, error);
      if (entry == NULL)
        return NULL;
      g_ptr_array_add (entries, entry);
    }
  return NULL;
}

gboolean
ledger_audit_verify (Ledger *ledger, guint64 *out_count, guint8 out_head[32], GError **error)
{
  g_autoptr (sqlite3_stmt) query = audit_select (ledger, 0, -1, error);
  Chain chain = { 0 };
  gboolean row = FALSE;

  if (query == NULL)
    return FALSE;
  while (query_next (ledger, query, &row, error))
    {
      g_autoptr (GBytes) entry = NULL;
      guint64 expected = chain.begun ? chain.seq + 1 : 0;
      guint8 hash[PAE_DIGEST_SIZE];
      guint64 seq = 0;

      if (!row)
        {
          *out_count = chain.seq;
          memcpy (out_head, chain.head, PAE_DIGEST_SIZE);
          return chain_end (&chain, error);
        }
      seq = (guint64) sqlite3_column_int64 (query, 0);
      /* the row's own memory, which lasts until the next */
      entry = g_bytes_new_static (sqlite3_column_blob (query, 1),
                                  (gsize) sqlite3_column_bytes (query, 1));
      if (!audit_read_hash (query, hash, error) || !chain_add (&chain, entry, NULL, error))
        return FALSE;
      if (chain.seq != seq || !digest_equal (chain.head, hash))
        return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                             "entry %" G_GUINT64_FORMAT " is not what its hash was made of",
                             expected != 0 ? expected : seq);
    }
  return FALSE;
}
