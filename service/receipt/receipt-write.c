/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing receipts: called by the executor, with what it read from its own ledger. */
#include "service/receipt/receipt.h"

#include "service/base/encode.h"

static void
add_bytes (JsonTree *object, const char *name, GBytes *bytes)
{
  gsize len = 0;
  const guint8 *data = g_bytes_get_data (bytes, &len);
  g_autofree char *text = base64url_encode (data, len);

  json_tree_add_string (object, name, text);
}

static char *
text_of (GBytes *bytes)
{
  gsize len = 0;
  const char *data = g_bytes_get_data (bytes, &len);

  return g_strndup (data, len);
}

static void
add_number (JsonTree *object, const char *name, guint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, number);

  json_tree_add_string (object, name, text);
}

static void
add_digest (JsonTree *object, const char *name, const guint8 digest[PAE_DIGEST_SIZE])
{
  g_autofree char *text = digest_to_string (digest);

  json_tree_add_string (object, name, text);
}

GBytes *
receipt_outcome_encode (const ReceiptOutcome *outcome)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  JsonTree *answers = json_tree_add (tree, "answers", json_tree_new_array ());
  JsonTree *entries = json_tree_add (tree, "entries", json_tree_new_array ());

  for (guint i = 0; i < outcome->answers->len; i++)
    json_tree_append_string (answers, g_ptr_array_index (outcome->answers, i));
  for (guint i = 0; i < outcome->entries->len; i++)
    {
      const ReceiptLink *link = &g_array_index (outcome->entries, ReceiptLink, i);
      JsonTree *entry = json_tree_append (entries, json_tree_new_object ());

      add_digest (entry, "hash", link->hash);
      add_number (entry, "seq", link->seq);
    }
  json_tree_add_string (tree, "by", outcome->by);
  json_tree_add_string (tree, "format", OUTCOME_FORMAT);
  add_digest (tree, "head", outcome->head);
  json_tree_add_string (tree, "host", outcome->host);
  json_tree_add_string (tree, "key", outcome->key);
  json_tree_add_string (tree, "ledger", outcome->ledger);
  json_tree_add_string (tree, "reason", outcome->reason);
  json_tree_add_string (tree, "record", outcome->record);
  json_tree_add_string (tree, "request", outcome->request);
  json_tree_add_string (tree, "result", outcome->result);
  add_number (tree, "seq", outcome->seq);
  json_tree_add_string (tree, "source", outcome->source);
  json_tree_add_string (tree, "state", outcome->state);
  json_tree_add_string (tree, "successor", outcome->successor);
  json_tree_add_string (tree, "time", outcome->time);
  return json_tree_write (tree);
}

static void
add_answer (JsonTree *array, const ReceiptAnswer *answer)
{
  JsonTree *tree = json_tree_append (array, json_tree_new_object ());
  JsonTree *assertion = json_tree_add (tree, "assertion", json_tree_new_object ());
  g_autofree char *statement = text_of (answer->statement);

  add_bytes (assertion, "auth_data", answer->assertion.auth_data);
  add_bytes (assertion, "client_data", answer->assertion.client_data);
  add_bytes (assertion, "signature", answer->assertion.signature);
  json_tree_add_boolean (tree, "backup_eligible", answer->backup_eligible);
  json_tree_add (tree, "key", signer_tree (&answer->signer));
  json_tree_add_string (tree, "kind", answer->kind);
  json_tree_add_string (tree, "origin", answer->origin);
  json_tree_add_string (tree, "statement", statement);
  json_tree_add_boolean (tree, "used", answer->used);
}

GBytes *
receipt_encode (const Receipt *receipt, JsonTree *sealed)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  JsonTree *answers = json_tree_add (tree, "answers", json_tree_new_array ());
  JsonTree *entries = json_tree_add (tree, "audit", json_tree_new_array ());
  g_autofree char *record = text_of (receipt->record);

  for (guint i = 0; i < receipt->answers->len; i++)
    add_answer (answers, g_ptr_array_index (receipt->answers, i));
  for (guint i = 0; i < receipt->entries->len; i++)
    {
      g_autofree char *entry = text_of (g_ptr_array_index (receipt->entries, i));

      json_tree_append_string (entries, entry);
    }
  json_tree_add_string (tree, "format", RECEIPT_FORMAT);
  json_tree_add (tree, "outcome", sealed);
  json_tree_add_string (tree, "record", record);
  return json_tree_write (tree);
}
