/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of receipts and of what else the host key signs: what it lets through is verified and
 * shown without a fault, whatever it is.  A signature can't be guessed: the corpus has good ones.
 */
#include "service/base/chain.h"
#include "service/base/checkpoint.h"
#include "service/receipt/receipt.h"
#include "tests/fuzz/refusal.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

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
  g_assert (lines->len > 0 && g_utf8_validate (page, -1, NULL));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) no_checkpoint = NULL;
  g_autoptr (Receipt) receipt = receipt_decode (bytes, &error);
  g_auto (Checkpoint) checkpoint = { 0 };
  g_autoptr (JsonTree) entry = chain_entry_parse (bytes, NULL);

  g_assert ((receipt == NULL) == (error != NULL));
  refusal_seen (error);
  if (receipt != NULL)
    show (receipt);
  if (!checkpoint_parse (bytes, &checkpoint, &no_checkpoint))
    g_assert_nonnull (no_checkpoint);
  return 0;
}
