/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RECEIPT: what the ledger has of a request, as a file for people who trust neither ledger nor
 * executor.  The host key signs what became of it, and with it the head of the log.  Nothing of the
 * broker is believed: its record is taken where the ledger has just this digest.
 */
#include "service/receipt/receipt.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"
#include "service/executor/host-key.h"
#include "service/executor/prepared.h"

#include <string.h>

static ReceiptAnswer *
answer_new (const EvidenceAnswer *item)
{
  ReceiptAnswer *answer = g_new0 (ReceiptAnswer, 1);
  const Assertion *assertion = &item->answer->assertion;
  const Passkey *passkey = item->passkey;

  answer->statement = g_bytes_ref (item->answer->statement);
  answer->assertion.client_data = g_bytes_ref (assertion->client_data);
  answer->assertion.auth_data = g_bytes_ref (assertion->auth_data);
  answer->assertion.signature = g_bytes_ref (assertion->signature);
  answer->signer.algorithm = passkey->algorithm == PASSKEY_ES256 ? SIGNER_ES256 : SIGNER_EDDSA;
  answer->signer.public_key = g_bytes_ref (passkey->public_key);
  answer->kind = g_strdup (passkey->kind);
  answer->origin = g_strdup (passkey->origin);
  answer->backup_eligible = passkey->backup_eligible;
  answer->used = item->used;
  return answer;
}

static void
take_evidence (Receipt *receipt, const Evidence *evidence)
{
  for (guint i = 0; i < evidence->answers->len; i++)
    {
      const EvidenceAnswer *item = g_ptr_array_index (evidence->answers, i);
      guint8 digest[PAE_DIGEST_SIZE];

      pae_sha256 (PAE_TYPE_STATEMENT, item->answer->statement, digest);
      g_ptr_array_add (receipt->answers, answer_new (item));
      g_ptr_array_add (receipt->outcome.answers, digest_to_string (digest));
    }
  for (guint i = 0; i < evidence->entries->len; i++)
    {
      const AuditEntry *entry = g_ptr_array_index (evidence->entries, i);
      ReceiptLink link = { .seq = entry->seq };

      memcpy (link.hash, entry->hash, PAE_DIGEST_SIZE);
      g_ptr_array_add (receipt->entries, g_bytes_ref (entry->entry));
      g_array_append_val (receipt->outcome.entries, link);
    }
}

/* The source of the entry that decided: the last that is not a mere answer. */
static char *
evidence_source (const Evidence *evidence)
{
  for (guint i = evidence->entries->len; i > 0; i--)
    {
      const AuditEntry *entry = g_ptr_array_index (evidence->entries, i - 1);
      g_autoptr (JsonTree) tree = chain_entry_parse (entry->entry, NULL);

      if (tree != NULL && g_strcmp0 (json_tree_get_string (tree, "event"), "approved") != 0)
        return g_strdup (json_tree_get_string (tree, "source"));
    }
  return g_strdup ("");
}

static void
outcome_fill (ReceiptOutcome *outcome, Executor *executor, const char *request, Evidence *evidence)
{
  const LedgerStatus *status = &evidence->status;
  gboolean closed = status->state == LEDGER_CLOSED;

  outcome->host = g_strdup (executor->config->host);
  outcome->ledger = g_strdup (ledger_id (executor->ledger));
  outcome->request = g_strdup (request);
  outcome->record =
      evidence->has_digest ? digest_to_string (evidence->digest) : g_strdup ("");
  outcome->state = g_strdup (closed ? status->why : ledger_state_name (status->state));
  if (evidence->refused != NULL)
    {
      g_free (outcome->state);
      outcome->state = g_strdup ("refused");
    }
  outcome->source = evidence_source (evidence);
  outcome->by = g_strdup (status->by);
  outcome->reason = g_strdup (evidence->refused != NULL ? evidence->refused : status->reason);
  outcome->result = g_strdup (status->result);
  outcome->successor = g_strdup (evidence->successor);
  outcome->time = clock_format (clock_wall ());
  outcome->seq = evidence->seq;
  memcpy (outcome->head, evidence->head, PAE_DIGEST_SIZE);
}

/* The record: as kept, or as the broker has it, if that is the one of the digest. */
static GBytes *
record_find (const Evidence *evidence, GBytes *from_broker)
{
  guint8 digest[PAE_DIGEST_SIZE];
  GBytes *record = g_bytes_get_size (evidence->record) > 0 ? evidence->record : from_broker;
  gsize len = 0;
  const char *text = g_bytes_get_data (record, &len);

  pae_sha256 (PAE_TYPE_RECORD, record, digest);
  if (len > 0 && evidence->has_digest && digest_equal (digest, evidence->digest) &&
      g_utf8_validate_len (text, len, NULL))
    return g_bytes_ref (record);
  return g_bytes_new_static ("", 0);
}

static GBytes *
receipt_sign (Receipt *receipt, HostKey *key, GError **error)
{
  g_autoptr (GBytes) body = NULL;
  g_autoptr (GBytes) bytes = NULL;
  JsonTree *sealed = NULL;

  receipt->outcome.key = g_strdup (host_key_id (key));
  body = receipt_outcome_encode (&receipt->outcome);
  sealed = host_key_sign (key, PAE_TYPE_OUTCOME, body, error);
  if (sealed == NULL)
    return NULL;
  bytes = receipt_encode (receipt, sealed);
  if (g_bytes_get_size (bytes) <= RECEIPT_MAX_BYTES)
    return g_steal_pointer (&bytes);
  us_error_set (error, US_ERROR_REFUSED, US_REASON_TOO_LARGE, "a receipt is %d bytes at most",
                RECEIPT_MAX_BYTES);
  return NULL;
}

GVariant *
handle_receipt (Session *session, GVariant *body, GError **error)
{
  Executor *executor = session->executor;
  g_autoptr (GVariant) array = NULL;
  g_autoptr (GBytes) from_broker = NULL;
  g_autoptr (HostKey) key = NULL;
  g_autoptr (Evidence) evidence = NULL;
  g_autoptr (Receipt) receipt = receipt_new ();
  g_autoptr (GBytes) bytes = NULL;
  guint8 digest[PAE_DIGEST_SIZE];
  const char *request = NULL;

  g_variant_get (body, "(&s@ay)", &request, &array);
  from_broker = bytes_of (array);
  if (!request_id_check (request, error))
    return NULL;
  if (g_bytes_get_size (from_broker) > RECORD_MAX_BYTES)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                    "a record is %d bytes at most", RECORD_MAX_BYTES);
      return NULL;
    }

  /* the key first: where it is new, the log names it, and the head is the one after that */
  key = host_key_open (executor, error);
  if (key == NULL)
    return NULL;
  pae_sha256 (PAE_TYPE_RECORD, from_broker, digest);
  evidence = ledger_evidence (executor->ledger, request,
                              g_bytes_get_size (from_broker) > 0 ? digest : NULL, error);
  if (evidence == NULL)
    return NULL;
  take_evidence (receipt, evidence);
  outcome_fill (&receipt->outcome, executor, request, evidence);
  receipt->record = record_find (evidence, from_broker);
  bytes = receipt_sign (receipt, key, error);
  return bytes != NULL ? g_variant_new ("(@ay)", variant_of_bytes (bytes)) : NULL;
}
