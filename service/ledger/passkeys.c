/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The enrolled passkeys.  A row is never deleted: a revoked credential stays known, so that it can
 * neither come back nor be enrolled by somebody else.  Suspect is a passkey whose counter did not
 * grow: it counts as not active for good, and its person enrols another.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#define PASSKEY_COLUMNS                                                                            \
  "credential, name, uid, kind, algorithm, public_key, rp, origin, label, aaguid, "                \
  "backup_eligible, counter, enrolled, state"

static Passkey *
passkey_read_row (sqlite3_stmt *query, GError **error)
{
  g_autoptr (Passkey) passkey = g_new0 (Passkey, 1);
  g_autofree char *state = query_text (query, 13);
  gint64 algorithm = sqlite3_column_int64 (query, 4);
  gboolean known = algorithm == PASSKEY_ES256 || algorithm == PASSKEY_EDDSA;

  passkey->credential = query_bytes (query, 0);
  passkey->name = query_text (query, 1);
  passkey->uid = (uid_t) sqlite3_column_int64 (query, 2);
  passkey->kind = query_text (query, 3);
  passkey->algorithm = (PasskeyAlgorithm) algorithm;
  passkey->public_key = query_bytes (query, 5);
  passkey->rp = query_text (query, 6);
  passkey->origin = query_text (query, 7);
  passkey->label = query_text (query, 8);
  passkey->backup_eligible = sqlite3_column_int64 (query, 10) != 0;
  passkey->counter = (guint32) sqlite3_column_int64 (query, 11);
  passkey->enrolled = sqlite3_column_int64 (query, 12);
  passkey->active = strcmp (state, "active") == 0;
  if (!known || sqlite3_column_bytes (query, 9) != sizeof passkey->aaguid)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "a passkey is not readable");
      return NULL;
    }
  memcpy (passkey->aaguid, sqlite3_column_blob (query, 9), sizeof passkey->aaguid);
  return g_steal_pointer (&passkey);
}

const char sql_passkey[] = "SELECT " PASSKEY_COLUMNS " FROM passkey WHERE credential = ?";

Passkey *
ledger_passkey (Ledger *ledger, GBytes *credential, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  gboolean row = FALSE;

  query = query_new (ledger, error, sql_passkey, "b", credential);
  if (query == NULL || !query_next (ledger, query, &row, error))
    return NULL;
  if (!row)
    {
      us_error_set (error, US_ERROR_NOT_APPROVER, US_REASON_CREDENTIAL_UNKNOWN,
                    "no passkey of this id is enrolled");
      return NULL;
    }
  return passkey_read_row (query, error);
}

GPtrArray *
ledger_passkeys (Ledger *ledger, GError **error)
{
  g_autoptr (GPtrArray) passkeys = g_ptr_array_new_with_free_func ((GDestroyNotify) passkey_free);
  g_autoptr (sqlite3_stmt) query = NULL;
  gboolean row = FALSE;

  query = query_new (ledger, error, "SELECT " PASSKEY_COLUMNS " FROM passkey ORDER BY id", "");
  if (query == NULL)
    return NULL;
  while (query_next (ledger, query, &row, error))
    {
      Passkey *passkey = NULL;

      if (!row)
        return g_steal_pointer (&passkeys);
      passkey = passkey_read_row (query, error);
      if (passkey == NULL)
        return NULL;
      g_ptr_array_add (passkeys, passkey);
    }
  return NULL;
}

static gboolean
passkey_insert (Ledger *ledger, const Passkey *passkey, GError **error)
{
  g_autoptr (GBytes) aaguid = g_bytes_new (passkey->aaguid, sizeof passkey->aaguid);

  return query_run (ledger, error, NULL,
                    "INSERT INTO passkey (" PASSKEY_COLUMNS
                    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'active')",
                    "bsisibsssbiii", passkey->credential, passkey->name, (gint64) passkey->uid,
                    passkey->kind, (gint64) passkey->algorithm, passkey->public_key, passkey->rp,
                    passkey->origin, passkey->label, aaguid,
                    (gint64) (passkey->backup_eligible ? 1 : 0), (gint64) passkey->counter,
                    passkey->enrolled);
}

static JsonTree *
passkey_details (const Passkey *passkey, uid_t by)
{
  JsonTree *details = json_tree_new_object ();
  const Signer signer = {
    .algorithm = passkey->algorithm == PASSKEY_ES256 ? SIGNER_ES256 : SIGNER_EDDSA,
    .public_key = passkey->public_key,
  };
  g_autofree char *key = signer_id_text (&signer);

  audit_add_bytes (details, "credential", passkey->credential);
  json_tree_add_string (details, "key", key);
  json_tree_add_string (details, "name", passkey->name);
  audit_add_uid (details, "uid", passkey->uid);
  json_tree_add_string (details, "kind", passkey->kind);
  audit_add_uid (details, "by", by);
  return details;
}

gboolean
ledger_add_passkey (Ledger *ledger, const Passkey *passkey, uid_t by, GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  g_autoptr (Passkey) known = NULL;
  g_autoptr (GError) local = NULL;

  /* a ledger that has lost something may have lost that just this passkey was revoked */
  if (!transaction_begin (ledger, &transaction, error) || !mark_refuse (transaction.mark, error))
    return FALSE;
  known = ledger_passkey (ledger, passkey->credential, &local);
  if (known != NULL)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_CREDENTIAL_EXISTS,
                         "this passkey is enrolled already");
  if (!us_error_has_reason (local, US_REASON_CREDENTIAL_UNKNOWN))
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }

  return passkey_insert (ledger, passkey, error) &&
         audit_append (ledger, AUDIT_ADMIN, "enrolled", passkey_details (passkey, by), error) &&
         transaction_commit_safe (&transaction, error);
}

gboolean
ledger_revoke_passkey (Ledger *ledger, GBytes *credential, uid_t by, GError **error)
{
  g_auto (Transaction) transaction = { 0 };
  g_autoptr (Passkey) passkey = NULL;
  guint changed = 0;

  if (!transaction_begin (ledger, &transaction, error))
    return FALSE;
  passkey = ledger_passkey (ledger, credential, error);
  if (passkey == NULL ||
      !query_run (
          ledger, error, &changed,
          "UPDATE passkey SET state = 'revoked' WHERE credential = ? AND state <> 'revoked'", "b",
          credential))
    return FALSE;
  if (changed != 1)
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_CREDENTIAL_REVOKED,
                         "this passkey is revoked already");
  return audit_append (ledger, AUDIT_ADMIN, "revoked", passkey_details (passkey, by), error) &&
         transaction_commit_safe (&transaction, error);
}

static gboolean
passkey_suspect (Transaction *transaction, const Passkey *passkey, guint32 counter, GError **error)
{
  Ledger *ledger = transaction->ledger;
  JsonTree *details = NULL;
  g_autofree char *stored = g_strdup_printf ("%u", passkey->counter);
  g_autofree char *asserted = g_strdup_printf ("%u", counter);

  if (!query_run (ledger, error, NULL, "UPDATE passkey SET state = 'suspect' WHERE credential = ?",
                  "b", passkey->credential))
    return FALSE;
  details = json_tree_new_object ();
  audit_add_bytes (details, "credential", passkey->credential);
  json_tree_add_string (details, "name", passkey->name);
  audit_add_uid (details, "uid", passkey->uid);
  json_tree_add_string (details, "stored", stored);
  json_tree_add_string (details, "asserted", asserted);
  return audit_append (ledger, AUDIT_EXECUTOR, "suspect", details, error) &&
         transaction_commit_safe (transaction, error);
}

Passkey *
passkey_of (Ledger *ledger, const Answer *answer, GError **error)
{
  g_autoptr (Passkey) passkey = ledger_passkey (ledger, answer->credential, error);

  if (passkey == NULL)
    return NULL;
  if (passkey->active && passkey->uid == answer->uid && strcmp (passkey->name, answer->name) == 0)
    return g_steal_pointer (&passkey);
  us_error_set (error, US_ERROR_NOT_APPROVER, US_REASON_CREDENTIAL_REVOKED,
                "this passkey is no longer active");
  return NULL;
}

const char sql_counter[] = "UPDATE passkey SET counter = ? WHERE credential = ?";

gboolean
passkey_use (Transaction *transaction, const Answer *answer, GError **error)
{
  Ledger *ledger = transaction->ledger;
  g_autoptr (Passkey) passkey = passkey_of (ledger, answer, error);
  g_autoptr (GError) local = NULL;

  if (passkey == NULL || (answer->is_awaited != NULL && !answer->is_awaited (answer->data, error)))
    return FALSE;
  if (!passkey_check_counter (passkey, answer->counter, &local))
    {
      if (passkey_suspect (transaction, passkey, answer->counter, error))
        g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  return query_run (ledger, error, NULL, sql_counter, "ib", (gint64) answer->counter,
                    answer->credential);
}
