/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of receipts and of what else the host key signs: what it lets through is verified and
 * shown without a fault, whatever it is.  A signature can't be guessed: the corpus has good ones; and
 * an outcome that has none is signed here, once what names other parts of the receipt is filled in.
 * Behind a "~" is one that is longer than receipts may be.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/chain.h"
#include "service/base/checkpoint.h"
#include "service/base/ed25519.h"
#include "service/base/secret.h"
#include "service/receipt/receipt.h"
#include "tests/fuzz/refusal.h"
#include "tests/fuzz/starve.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const guint8 seed[ED25519_SEED_SIZE] = "undersign fuzz target: host key.";

static void
show (const Receipt *receipt)
{
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (ReceiptReport) report = receipt_verify (receipt, keys, &error);
  g_autoptr (GPtrArray) lines = NULL;
  g_autofree char *page = NULL;

  g_assert ((report == NULL) == (error != NULL));
  refusal_seen (error);
  if (report == NULL)
    return;
  g_assert (!report->proven);
  lines = receipt_to_text (receipt, report);
  page = receipt_to_html (receipt, report);
  for (guint i = 0; i < report->lines->len; i++)
    {
      const ReceiptLine *line = g_ptr_array_index (report->lines, i);

      g_assert (*receipt_trust_word (line->trust) != '\0' && line->text != NULL);
    }
  g_assert (lines->len > 0 && g_utf8_validate (page, -1, NULL));
}

/* read: TRUE where it could be */
static gboolean
read_receipt (GBytes *bytes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Receipt) receipt = receipt_decode (bytes, &error);

  g_assert ((receipt == NULL) == (error != NULL));
  refusal_seen (error);
  if (receipt == NULL)
    return FALSE;
  show (receipt);
  return TRUE;
}

/* --- an outcome without a signature --- */

static JsonTree *
answers_named (const JsonTree *answers)
{
  JsonTree *names = json_tree_new_array ();

  for (guint i = 0; i < json_tree_length (answers); i++)
    {
      const char *text = json_tree_get_string (json_tree_item (answers, i), "statement");
      g_autoptr (GBytes) bytes = text != NULL ? g_bytes_new (text, strlen (text)) : NULL;
      g_autofree char *name = NULL;
      guint8 digest[PAE_DIGEST_SIZE];

      if (bytes == NULL)
        continue;
      pae_sha256 (PAE_TYPE_STATEMENT, bytes, digest);
      name = digest_to_string (digest);
      json_tree_append_string (names, name);
    }
  return names;
}

static JsonTree *
entries_named (const JsonTree *entries)
{
  JsonTree *names = json_tree_new_array ();

  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      const char *text = json_tree_string (json_tree_item (entries, i));
      g_autoptr (GBytes) bytes = text != NULL ? g_bytes_new (text, strlen (text)) : NULL;
      g_autoptr (JsonTree) tree = bytes != NULL ? chain_entry_parse (bytes, NULL) : NULL;
      g_autofree char *name = NULL;
      guint8 digest[PAE_DIGEST_SIZE];
      JsonTree *link = NULL;

      if (bytes == NULL)
        continue;
      chain_hash (bytes, digest);
      name = digest_to_string (digest);
      link = json_tree_append (names, json_tree_new_object ());
      json_tree_add_string (link, "hash", name);
      json_tree_add_string (link, "seq", tree != NULL ? json_tree_get_string (tree, "seq") : "1");
    }
  return names;
}

/* The outcome of @receipt, with what is missing in it. */
static GBytes *
outcome_filled (const JsonTree *receipt, const Signer *signer)
{
  g_autoptr (JsonTree) outcome = json_tree_copy (json_tree_member (receipt, "outcome"));
  g_autofree char *key = signer_id_text (signer);

  if (json_tree_member (outcome, "key") == NULL)
    json_tree_add_string (outcome, "key", key);
  if (json_tree_member (outcome, "answers") == NULL)
    json_tree_add (outcome, "answers", answers_named (json_tree_member (receipt, "answers")));
  if (json_tree_member (outcome, "entries") == NULL)
    json_tree_add (outcome, "entries", entries_named (json_tree_member (receipt, "audit")));
  return json_tree_write (outcome);
}

static JsonTree *
outcome_signed (const JsonTree *receipt)
{
  g_autoptr (Secret) secret = secret_new_from (seed, sizeof seed);
  guint8 public[ED25519_PUBLIC_SIZE], signature[ED25519_SIGNATURE_SIZE];
  g_auto (Signed) sealed = { .signer = { .algorithm = SIGNER_EDDSA } };

  g_assert (ed25519_public (secret, public, NULL));
  sealed.signer.public_key = g_bytes_new (public, sizeof public);
  sealed.body = outcome_filled (receipt, &sealed.signer);
  if (sealed.body == NULL) /* a number in it */
    return NULL;
  g_assert (ed25519_sign (secret, PAE_TYPE_OUTCOME, sealed.body, signature, NULL));
  sealed.signature = g_bytes_new (signature, sizeof signature);
  return signed_tree (&sealed, PAE_TYPE_OUTCOME);
}

/* receipt_signed: NULL where @bytes are no object with an outcome that is not signed. */
static GBytes *
receipt_signed (GBytes *bytes)
{
  static const JsonLimits limits = { 256 * 1024, 8, 256 * 1024, 1000 };
  gsize len;
  const char *text = g_bytes_get_data (bytes, &len);
  g_autoptr (JsonTree) tree = json_tree_parse (text, len, &limits, NULL);
  g_autoptr (JsonTree) whole = json_tree_new_object ();
  const JsonTree *outcome = json_tree_member (tree, "outcome");
  JsonTree *sealed = NULL;

  if (json_tree_kind (outcome) != JSON_TREE_OBJECT ||
      json_tree_member (outcome, "signature") != NULL)
    return NULL;
  sealed = outcome_signed (tree);
  if (sealed == NULL)
    return NULL;
  json_tree_add (whole, "outcome", sealed);
  for (guint i = 0; i < json_tree_length (tree); i++)
    if (strcmp (json_tree_name (tree, i), "outcome") != 0)
      json_tree_add (whole, json_tree_name (tree, i), json_tree_copy (json_tree_member_at (tree, i)));
  return json_tree_write (whole);
}

/* --- no memory --- */

static gboolean
attempt (gpointer data)
{
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  g_autoptr (Receipt) receipt = receipt_decode (data, NULL);
  g_autoptr (ReceiptReport) report = receipt != NULL ? receipt_verify (receipt, keys, NULL) : NULL;

  return report != NULL;
}

/* One whose only fault is the host's signature. */
static GBytes *
receipt_forged (GBytes *bytes)
{
  gsize len;
  const char *text = g_bytes_get_data (bytes, &len);
  const char *at = g_strstr_len (text, (gssize) len, "\"outcome\":{");
  const char *signature = at != NULL ? g_strstr_len (at, text + len - at, "\"signature\":\"") : NULL;
  gsize where = 0;
  char *forged = NULL;

  if (signature == NULL)
    return NULL;
  where = (gsize) (signature - text) + strlen ("\"signature\":\"");
  forged = g_memdup2 (text, len);
  forged[where] = forged[where] == 'A' ? 'B' : 'A';
  return g_bytes_new_take (forged, len);
}

/* Receipts that hold, those where nothing but the host's signature is wrong, and those of which a
 * signature was found wrong: what else is refused was refused before or without cryptography. */
static void
show_starved (GBytes *bytes)
{
  static const char last_words[] = "SHA-256 is not available";
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  g_autoptr (Receipt) receipt = receipt_decode (bytes, &error);
  g_autoptr (ReceiptReport) report =
      receipt != NULL ? receipt_verify (receipt, keys, &error) : NULL;
  g_autoptr (GBytes) forged = report != NULL ? receipt_forged (bytes) : NULL;

  if (report != NULL || us_error_has_reason (error, US_REASON_SIGNATURE))
    starve_apart (attempt, bytes, last_words);
  if (forged == NULL)
    return;
  g_clear_error (&error);
  g_assert_null (receipt_decode (forged, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_SIGNATURE));
  starve_apart (attempt, forged, last_words);
}

static GBytes *
input_bytes (const uint8_t *data, size_t size)
{
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_append (bytes, data, (guint) size);
  if (size > 0 && size <= RECEIPT_MAX_BYTES && data[0] == '~')
    {
      g_byte_array_set_size (bytes, RECEIPT_MAX_BYTES + 1);
      memset (bytes->data + size, ' ', RECEIPT_MAX_BYTES + 1 - size);
    }
  return g_byte_array_free_to_bytes (bytes);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = input_bytes (data, size);
  g_autoptr (GBytes) whole = NULL;
  g_autoptr (GError) no_checkpoint = NULL;
  g_auto (Checkpoint) checkpoint = { 0 };
  g_autoptr (JsonTree) entry = chain_entry_parse (bytes, NULL);

  if (!read_receipt (bytes))
    {
      whole = receipt_signed (bytes);
      if (whole != NULL)
        read_receipt (whole);
    }
  show_starved (whole != NULL ? whole : bytes);
  if (!checkpoint_parse (bytes, &checkpoint, &no_checkpoint))
    g_assert_nonnull (no_checkpoint);
  return 0;
}
