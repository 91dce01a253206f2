/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Receipts against tests/vectors/record: the verdict of each, and whether it proves anything. */
#include "dbus/error.h"
#include "service/receipt/receipt.h"
#include "tests/record/vectors.h"

#include <string.h>

static GPtrArray *
keys_of (const JsonTree *entry)
{
  GPtrArray *keys = g_ptr_array_new_with_free_func (g_free);
  const JsonTree *list = json_tree_member (entry, "keys");

  for (guint i = 0; i < json_tree_length (list); i++)
    g_ptr_array_add (keys, g_strdup (json_tree_string (json_tree_item (list, i))));
  return keys;
}

static void
test_receipts (void)
{
  g_autoptr (JsonTree) entries = vectors_read ("receipts.json");
  g_autoptr (JsonTree) verdicts = vectors_read ("receipt-verdicts.json");

  g_assert_cmpuint (json_tree_length (entries), ==, json_tree_length (verdicts));
  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      const JsonTree *entry = json_tree_item (entries, i);
      const JsonTree *verdict = vectors_find (verdicts, vectors_text (entry, "id"));
      const char *text = vectors_text (entry, "receipt");
      g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
      g_autoptr (GPtrArray) keys = keys_of (entry);
      g_autoptr (GError) error = NULL;
      g_autoptr (Receipt) receipt = receipt_decode (bytes, &error);
      g_autoptr (ReceiptReport) report =
          receipt != NULL ? receipt_verify (receipt, keys, &error) : NULL;
      gboolean proven = FALSE;

      vectors_assert_verdict (verdict, error);
      g_assert_cmpint (report != NULL, ==, error == NULL);
      if (report == NULL)
        continue;
      g_test_message ("%s", vectors_text (entry, "id"));
      g_assert_true (json_tree_boolean (json_tree_member (verdict, "proven"), &proven));
      g_assert_cmpint (report->proven, ==, proven);
    }
}

/* What is shown of each that holds is text: no control character, no markup but the page's own. */
static void
test_shown (void)
{
  g_autoptr (JsonTree) entries = vectors_read ("receipts.json");

  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      const char *text = vectors_text (json_tree_item (entries, i), "receipt");
      g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
      g_autoptr (GPtrArray) keys = g_ptr_array_new ();
      g_autoptr (Receipt) receipt = receipt_decode (bytes, NULL);
      g_autoptr (ReceiptReport) report =
          receipt != NULL ? receipt_verify (receipt, keys, NULL) : NULL;
      g_autoptr (GPtrArray) lines = NULL;
      g_autofree char *page = NULL;

      if (report == NULL)
        continue;
      lines = receipt_to_text (receipt, report);
      page = receipt_to_html (receipt, report);
      g_assert_cmpuint (lines->len, >, 4);
      g_assert_nonnull (strstr (page, receipt->outcome.request));
      g_assert_null (strstr (page, "<script"));
      g_assert_null (strstr (page, "http:"));
    }
}

static void
test_too_large (void)
{
  g_autofree char *text = g_strnfill (RECEIPT_MAX_BYTES + 1, ' ');
  g_autoptr (GBytes) bytes = g_bytes_new (text, RECEIPT_MAX_BYTES + 1);
  g_autoptr (GError) error = NULL;

  g_assert_null (receipt_decode (bytes, &error));
  g_assert_true (us_error_has_reason (error, "too-large"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/receipt/vectors", test_receipts);
  g_test_add_func ("/receipt/shown", test_shown);
  g_test_add_func ("/receipt/too-large", test_too_large);
  return g_test_run ();
}
