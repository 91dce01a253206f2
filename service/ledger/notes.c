/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the log is told where it changed, and only then: the policy and the host key in use.  Nothing
 * is decided by it.
 */
#include "service/ledger/private.h"

#define POLICY_IS_NOTED "SELECT 1 FROM meta WHERE id = 1 AND policy = ?"
#define KEY_IS_NOTED "SELECT 1 FROM meta WHERE id = 1 AND key = ?"

static gboolean
is_noted (Ledger *ledger,
          const char *sql,
          const guint8 digest[PAE_DIGEST_SIZE],
          gboolean *out_noted,
          GError **error)
{
  g_autoptr (sqlite3_stmt) query = query_new (ledger, error, sql, "d", digest);

  return query != NULL && query_next (ledger, query, out_noted, error);
}

/* note_begin: begins @transaction, unless it is noted: another worker may be quicker. */
static gboolean
note_begin (Ledger *ledger,
            Transaction *transaction,
            const char *sql,
            const guint8 digest[PAE_DIGEST_SIZE],
            gboolean *out_noted,
            GError **error)
{
  if (!is_noted (ledger, sql, digest, out_noted, error))
    return FALSE;
  return *out_noted || (transaction_begin (ledger, transaction, error) &&
                        is_noted (ledger, sql, digest, out_noted, error));
}

gboolean
ledger_note_policy (Ledger *ledger,
                    const guint8 image[PAE_DIGEST_SIZE],
                    gboolean valid,
                    GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  JsonTree *details = NULL;
  gboolean noted = FALSE;

  if (!note_begin (ledger, &transaction, POLICY_IS_NOTED, image, &noted, error))
    return FALSE;
  if (noted)
    return TRUE;
  if (!query_run (ledger, error, NULL, "UPDATE meta SET policy = ? WHERE id = 1", "d", image))
    return FALSE;
  details = json_tree_new_object ();
  audit_add_digest (details, "image", image);
  json_tree_add_boolean (details, "valid", valid);
  return audit_append (ledger, AUDIT_EXECUTOR, "policy", details, error) &&
         transaction_commit_safe (&transaction, error);
}

gboolean
ledger_note_key (Ledger *ledger, const Signer *signer, GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  JsonTree *details = NULL;
  guint8 id[PAE_DIGEST_SIZE];
  gboolean noted = FALSE;

  signer_id (signer, id);
  if (!note_begin (ledger, &transaction, KEY_IS_NOTED, id, &noted, error))
    return FALSE;
  if (noted)
    return TRUE;
  if (!query_run (ledger, error, NULL, "UPDATE meta SET key = ? WHERE id = 1", "d", id))
    return FALSE;
  details = json_tree_new_object ();
  audit_add_digest (details, "key", id);
  audit_add_bytes (details, "public_key", signer->public_key);
  return audit_append (ledger, AUDIT_EXECUTOR, "host-key", details, error) &&
         transaction_commit_safe (&transaction, error);
}
