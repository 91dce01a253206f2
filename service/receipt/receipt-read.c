/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading receipts: bytes of a stranger.  Sizes first, then strict and canonical JSON, then exactly
 * the members of the format; no member has a default.  What it means is for receipt-verify.c.
 */
#include "service/receipt/receipt.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/shape.h"

#include <string.h>

#define TEXT_MAX (512 * 1024)
#define OUTCOME_MAX (256 * 1024)
#define DEPTH 4

static const JsonLimits limits = { RECEIPT_MAX_BYTES, DEPTH, TEXT_MAX, RECEIPT_MAX_ITEMS };
static const JsonLimits outcome_limits = { OUTCOME_MAX, DEPTH, TEXT_MAX, RECEIPT_MAX_ITEMS };

static const char *const members[] = { "answers", "audit",  "format",
                                       "outcome", "record", NULL };
static const char *const answer_members[] = { "assertion", "backup_eligible", "key",  "kind",
                                              "origin",    "statement",       "used", NULL };
static const char *const assertion_members[] = { "auth_data", "client_data", "signature", NULL };
static const char *const outcome_members[] = { "answers", "by",     "entries", "format", "head",
                                               "host",    "key",    "ledger",  "reason", "record",
                                               "request", "result", "seq",     "source", "state",
                                               "successor", "time", NULL };
static const char *const link_members[] = { "hash", "seq", NULL };
static const char *const states[] = { "none",        "denied",  "withdrawn", "expired",
                                      "superseded",  "refused", "executing", "done",
                                      "unreachable", "failed",  "unknown",   NULL };
static const char *const sources[] = { "", "executor", "admin", "broker", "signed", NULL };
static const char *const kinds[] = { "hardware", "unattested", "synced", "phone", "software",
                                     NULL };

static gboolean
malformed (GError **error, const char *what)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_RECEIPT,
                       "%s of the receipt is malformed", what);
}

static GBytes *
text_member (const JsonTree *tree, const char *name)
{
  const char *text = json_tree_get_string (tree, name);

  return g_bytes_new (text, strlen (text));
}

static gboolean
bytes_member (const JsonTree *tree, const char *name, gsize max, GBytes **out_bytes, GError **error)
{
  *out_bytes = base64url_decode (json_tree_get_string (tree, name), max);
  return *out_bytes != NULL || malformed (error, name);
}

/* --- answers --- */

static gboolean
assertion_read (const JsonTree *tree, Assertion *assertion, GError **error)
{
  return shape_check_strings (tree, assertion_members, US_REASON_BAD_RECEIPT, "an assertion",
                              error) &&
         bytes_member (tree, "auth_data", PASSKEY_ATTESTATION_MAX, &assertion->auth_data, error) &&
         bytes_member (tree, "client_data", PASSKEY_CLIENT_DATA_MAX, &assertion->client_data,
                       error) &&
         bytes_member (tree, "signature", PASSKEY_SIGNATURE_MAX, &assertion->signature, error);
}

static ReceiptAnswer *
answer_read (const JsonTree *tree, GError **error)
{
  g_autoptr (ReceiptAnswer) answer = g_new0 (ReceiptAnswer, 1);

  if (!shape_check (tree, answer_members, US_REASON_BAD_RECEIPT, "an answer", error))
    return NULL;
  answer->kind = g_strdup (json_tree_get_string (tree, "kind"));
  answer->origin = g_strdup (json_tree_get_string (tree, "origin"));
  if (answer->kind == NULL || answer->origin == NULL ||
      json_tree_get_string (tree, "statement") == NULL ||
      !g_strv_contains (kinds, answer->kind) ||
      !json_tree_boolean (json_tree_member (tree, "used"), &answer->used) ||
      !json_tree_boolean (json_tree_member (tree, "backup_eligible"), &answer->backup_eligible))
    {
      malformed (error, "an answer");
      return NULL;
    }
  if (!assertion_read (json_tree_member (tree, "assertion"), &answer->assertion, error) ||
      !signer_read (json_tree_member (tree, "key"), &answer->signer, error))
    return NULL;
  answer->statement = text_member (tree, "statement");
  answer->decoded = statement_decode (answer->statement, error);
  return answer->decoded != NULL ? g_steal_pointer (&answer) : NULL;
}

static gboolean
answers_read (const JsonTree *array, Receipt *receipt, GError **error)
{
  if (json_tree_kind (array) != JSON_TREE_ARRAY)
    return malformed (error, "the list of answers");
  for (guint i = 0; i < json_tree_length (array); i++)
    {
      ReceiptAnswer *answer = answer_read (json_tree_item (array, i), error);

      if (answer == NULL)
        return FALSE;
      g_ptr_array_add (receipt->answers, answer);
    }
  return TRUE;
}

static gboolean
entries_read (const JsonTree *array, Receipt *receipt, GError **error)
{
  if (json_tree_kind (array) != JSON_TREE_ARRAY)
    return malformed (error, "the list of entries");
  for (guint i = 0; i < json_tree_length (array); i++)
    {
      const char *text = json_tree_string (json_tree_item (array, i));

      if (text == NULL)
        return malformed (error, "an entry");
      g_ptr_array_add (receipt->entries, g_bytes_new (text, strlen (text)));
    }
  return TRUE;
}

/* --- the outcome --- */

static gboolean
outcome_lists_read (const JsonTree *tree, ReceiptOutcome *outcome, GError **error)
{
  const JsonTree *answers = json_tree_member (tree, "answers");
  const JsonTree *entries = json_tree_member (tree, "entries");
  guint8 digest[PAE_DIGEST_SIZE];

  if (json_tree_kind (answers) != JSON_TREE_ARRAY || json_tree_kind (entries) != JSON_TREE_ARRAY)
    return malformed (error, "a list of the outcome");
  for (guint i = 0; i < json_tree_length (answers); i++)
    {
      const char *text = json_tree_string (json_tree_item (answers, i));

      if (text == NULL || !digest_from_string (text, digest))
        return malformed (error, "an answer of the outcome");
      g_ptr_array_add (outcome->answers, g_strdup (text));
    }
  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      const JsonTree *item = json_tree_item (entries, i);
      ReceiptLink link = { 0 };

      if (!shape_check_strings (item, link_members, US_REASON_BAD_RECEIPT, "an entry's name",
                                error))
        return FALSE;
      if (!digest_from_string (json_tree_get_string (item, "hash"), link.hash) ||
          !shape_number (json_tree_get_string (item, "seq"), &link.seq) || link.seq == 0)
        return malformed (error, "an entry of the outcome");
      g_array_append_val (outcome->entries, link);
    }
  return TRUE;
}

static gboolean
outcome_strings_read (const JsonTree *tree, ReceiptOutcome *outcome, GError **error)
{
  const struct
  {
    const char *name;
    char **place;
  } strings[] = {
    { "by", &outcome->by },         { "host", &outcome->host },
    { "key", &outcome->key },       { "ledger", &outcome->ledger },
    { "reason", &outcome->reason }, { "record", &outcome->record },
    { "request", &outcome->request }, { "result", &outcome->result },
    { "source", &outcome->source }, { "state", &outcome->state },
    { "successor", &outcome->successor }, { "time", &outcome->time },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (strings); i++)
    {
      *strings[i].place = g_strdup (json_tree_get_string (tree, strings[i].name));
      if (*strings[i].place == NULL)
        return malformed (error, strings[i].name);
    }
  return TRUE;
}

static gboolean
outcome_decode (GBytes *body, ReceiptOutcome *outcome, GError **error)
{
  g_autoptr (JsonTree) tree =
      shape_parse (body, &outcome_limits, US_REASON_BAD_RECEIPT, "an outcome", error);
  const char *format = NULL, *head = NULL, *seq = NULL;
  guint8 digest[PAE_DIGEST_SIZE];
  gint64 time = 0;

  if (tree == NULL ||
      !shape_check (tree, outcome_members, US_REASON_BAD_RECEIPT, "an outcome", error) ||
      !outcome_strings_read (tree, outcome, error) || !outcome_lists_read (tree, outcome, error))
    return FALSE;
  format = json_tree_get_string (tree, "format");
  head = json_tree_get_string (tree, "head");
  seq = json_tree_get_string (tree, "seq");
  if (format == NULL || strcmp (format, OUTCOME_FORMAT) != 0 || head == NULL ||
      !digest_from_string (head, outcome->head) || seq == NULL ||
      !shape_number (seq, &outcome->seq) || outcome->seq == 0 || !id_is_valid (outcome->host) ||
      !id_is_valid (outcome->ledger) || !id_is_valid (outcome->request) ||
      !digest_from_string (outcome->key, digest) || !clock_parse (outcome->time, &time) ||
      !g_strv_contains (states, outcome->state) || !g_strv_contains (sources, outcome->source))
    return malformed (error, "the outcome");
  if ((*outcome->record != '\0' && !digest_from_string (outcome->record, digest)) ||
      (*outcome->successor != '\0' && !id_is_valid (outcome->successor)))
    return malformed (error, "the outcome");
  return TRUE;
}

static gboolean
outcome_read (const JsonTree *tree, Receipt *receipt, GError **error)
{
  g_auto (Signed) sealed = { 0 };
  g_autofree char *key = NULL;

  if (!signed_read (tree, PAE_TYPE_OUTCOME, &sealed, error) ||
      !outcome_decode (sealed.body, &receipt->outcome, error))
    return FALSE;
  receipt->host = sealed.signer;
  sealed.signer.public_key = NULL;
  key = signer_id_text (&receipt->host);
  return strcmp (key, receipt->outcome.key) == 0 || malformed (error, "the key of the outcome");
}

/* --- the whole --- */

static gboolean
record_read (const JsonTree *tree, Receipt *receipt, GError **error)
{
  guint8 digest[PAE_DIGEST_SIZE];
  g_autofree char *text = NULL;

  receipt->record = text_member (tree, "record");
  if (g_bytes_get_size (receipt->record) == 0)
    return TRUE;
  pae_sha256 (PAE_TYPE_RECORD, receipt->record, digest);
  text = digest_to_string (digest);
  if (strcmp (text, receipt->outcome.record) != 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_RECORD_CHANGED,
                         "the record is not the one of the outcome");
  receipt->decoded = record_decode (receipt->record, error);
  return receipt->decoded != NULL;
}

static gboolean
receipt_read (const JsonTree *tree, Receipt *receipt, GError **error)
{
  const char *format = NULL;

  if (!shape_check (tree, members, US_REASON_BAD_RECEIPT, "a receipt", error))
    return FALSE;
  format = json_tree_get_string (tree, "format");
  if (format == NULL || strcmp (format, RECEIPT_FORMAT) != 0 ||
      json_tree_get_string (tree, "record") == NULL)
    return malformed (error, "the format or the record");
  return outcome_read (json_tree_member (tree, "outcome"), receipt, error) &&
         record_read (tree, receipt, error) &&
         answers_read (json_tree_member (tree, "answers"), receipt, error) &&
         entries_read (json_tree_member (tree, "audit"), receipt, error);
}

Receipt *
receipt_decode (GBytes *bytes, GError **error)
{
  g_autoptr (Receipt) receipt = receipt_new ();
  g_autoptr (JsonTree) tree = NULL;
  gsize len = 0;
  const char *text = g_bytes_get_data (bytes, &len);

  if (len > 0 && text[len - 1] == '\n')
    len--;
  if (len > RECEIPT_MAX_BYTES)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                    "a receipt is %d bytes at most", RECEIPT_MAX_BYTES);
      return NULL;
    }
  receipt->bytes = g_bytes_new_from_bytes (bytes, 0, len);
  tree = shape_parse (receipt->bytes, &limits, US_REASON_BAD_RECEIPT, "a receipt", error);
  if (tree == NULL || !receipt_read (tree, receipt, error))
    return NULL;
  return g_steal_pointer (&receipt);
}
