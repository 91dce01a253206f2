/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything that the ledger has of one request, for a receipt: row, answers, entries of the log and
 * its head, read in one transaction, so that they belong together.  And what is noted for nothing
 * but a receipt: that what was approved was refused.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"

static void
evidence_answer_free (EvidenceAnswer *item)
{
  answer_free (item->answer);
  passkey_free (item->passkey);
  g_free (item);
}

void
evidence_free (Evidence *evidence)
{
  if (evidence == NULL)
    return;
  ledger_status_clear (&evidence->status);
  g_clear_pointer (&evidence->record, g_bytes_unref);
  g_free (evidence->successor);
  g_free (evidence->refused);
  g_ptr_array_unref (evidence->answers);
  g_ptr_array_unref (evidence->entries);
  g_free (evidence);
}

static gboolean
evidence_pruned (const char *request, GError **error)
{
  return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_PRUNED,
                       "what there was of request %s was pruned", request);
}

static gboolean
row_read (Ledger *ledger, const char *request, Evidence *evidence, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  gboolean row = FALSE;

  query = query_new (ledger, error,
                     "SELECT record, digest, successor, pruned FROM request WHERE id = ?", "s",
                     request);
  if (query == NULL || !query_next (ledger, query, &row, error))
    return FALSE;
  if (row && sqlite3_column_int64 (query, 3) != 0)
    return evidence_pruned (request, error);
  evidence->record = row ? query_bytes (query, 0) : g_bytes_new_static ("", 0);
  evidence->successor = row ? query_text (query, 2) : g_strdup ("");
  if (row)
    evidence->has_digest = query_digest (query, 1, evidence->digest);
  return TRUE;
}

static gboolean
answers_read (Ledger *ledger, const char *request, Evidence *evidence, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  gboolean row = FALSE;

  if (!evidence->has_digest)
    return TRUE;
  query = query_new (ledger, error,
                     "SELECT " ANSWER_COLUMNS ", decision = 'approve', used FROM answer "
                     "WHERE request = ? AND digest = ? ORDER BY id",
                     "sd", request, evidence->digest);
  if (query == NULL)
    return FALSE;
  while (query_next (ledger, query, &row, error))
    {
      EvidenceAnswer *item = NULL;

      if (!row)
        return TRUE;
      item = g_new0 (EvidenceAnswer, 1);
      g_ptr_array_add (evidence->answers, item);
      item->answer = answer_read_row (query, request, evidence->digest);
      item->approves = sqlite3_column_int64 (query, ANSWER_N_COLUMNS) != 0;
      item->used = sqlite3_column_int64 (query, ANSWER_N_COLUMNS + 1) != 0;
      item->passkey = ledger_passkey (ledger, item->answer->credential, error);
      if (item->passkey == NULL)
        return FALSE;
    }
  return FALSE;
}

gboolean
ledger_note_refusal (Ledger *ledger,
                     const char *request,
                     const guint8 digest[PAE_DIGEST_SIZE],
                     const char *reason,
                     gboolean *out_new,
                     GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  JsonTree *details = NULL;
  gboolean noted = FALSE;

  if (!transaction_begin (ledger, &transaction, error) ||
      !ledger_check_open (ledger, request, error) ||
      !audit_has (ledger, request, "refused", &noted, error))
    return FALSE;
  if (!noted)
    {
      details = json_tree_new_object ();
      json_tree_add_string (details, "request", request);
      audit_add_digest (details, "record", digest);
      json_tree_add_string (details, "reason", reason);
      if (!audit_append (ledger, AUDIT_EXECUTOR, "refused", details, error) ||
          !transaction_commit_safe (&transaction, error))
        return FALSE;
    }
  *out_new = !noted;
  return TRUE;
}

/* entry_begins: whether the entry is the one that gave a request its row. */
static gboolean
entry_begins (const AuditEntry *entry, Evidence *evidence, gboolean *out_begins, GError **error)
{
  static const char *const ends[] = { "denied",     "withdrawn",   "expired",
                                      "superseded", "unreachable", NULL };
  g_autoptr (JsonTree) tree = chain_entry_parse (entry->entry, error);
  const char *event = NULL;

  if (tree == NULL)
    return FALSE;
  event = json_tree_get_string (tree, "event");
  if (evidence->status.state == LEDGER_NONE && strcmp (event, "refused") == 0)
    {
      g_free (evidence->refused);
      evidence->refused =
          g_strdup (json_tree_get_string (json_tree_member (tree, "details"), "reason"));
    }
  *out_begins = evidence->status.state == LEDGER_CLOSED ? g_strv_contains (ends, event)
                                       : strcmp (event, "consumed") == 0;
  return TRUE;
}

static gboolean
entries_read (Ledger *ledger, const char *request, Evidence *evidence, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  gboolean begun = evidence->status.state == LEDGER_NONE;
  gboolean row = FALSE;

  query = query_new (ledger, error,
                     "SELECT seq, entry, hash FROM audit WHERE request = ? ORDER BY seq", "s",
                     request);
  if (query == NULL)
    return FALSE;
  while (query_next (ledger, query, &row, error))
    {
      AuditEntry *entry = NULL;
      gboolean begins = FALSE;

      if (!row)
        return begun || evidence_pruned (request, error);
      entry = audit_read_row (query, error);
      if (entry == NULL)
        return FALSE;
      g_ptr_array_add (evidence->entries, entry);
      if (!entry_begins (entry, evidence, &begins, error))
        return FALSE;
      begun = begun || begins;
    }
  return FALSE;
}

static gboolean
evidence_read (Ledger *ledger,
               const char *request,
               const guint8 *digest,
               Evidence *evidence,
               GError **error)
{
  if (digest != NULL)
    memcpy (evidence->digest, digest, PAE_DIGEST_SIZE);
  evidence->has_digest = digest != NULL;
  return ledger_query (ledger, request, &evidence->status, error) &&
         row_read (ledger, request, evidence, error) &&
         answers_read (ledger, request, evidence, error) &&
         entries_read (ledger, request, evidence, error) &&
         audit_head (ledger, &evidence->seq, evidence->head, error);
}

static Evidence *
evidence_new (Ledger *ledger, const char *request, const guint8 *digest, GError **error)
{
  g_autoptr (Evidence) evidence = g_new0 (Evidence, 1);
  gboolean read = FALSE;

  evidence->answers = g_ptr_array_new_with_free_func ((GDestroyNotify) evidence_answer_free);
  evidence->entries = g_ptr_array_new_with_free_func ((GDestroyNotify) audit_entry_free);
  if (!query_run (ledger, error, NULL, "BEGIN", ""))
    return NULL;
  read = evidence_read (ledger, request, digest, evidence, error);
  query_run (ledger, NULL, NULL, "ROLLBACK", "");
  return read ? g_steal_pointer (&evidence) : NULL;
}

Evidence *
ledger_evidence (Ledger *ledger, const char *request, const guint8 *digest, GError **error)
{
  Evidence *evidence = evidence_new (ledger, request, digest, error);

  /* Whether its worker lives is no part of what was read in one: it may have ended properly since. */
  if (evidence != NULL && evidence->status.state == LEDGER_UNKNOWN)
    {
      evidence_free (evidence);
      evidence = evidence_new (ledger, request, digest, error);
    }
  return evidence;
}
