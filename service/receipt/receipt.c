/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a receipt in memory. */
#include "service/receipt/receipt.h"

void
receipt_answer_free (ReceiptAnswer *answer)
{
  if (answer == NULL)
    return;
  g_clear_pointer (&answer->statement, g_bytes_unref);
  assertion_clear (&answer->assertion);
  signer_clear (&answer->signer);
  g_free (answer->kind);
  g_free (answer->origin);
  g_clear_pointer (&answer->decoded, statement_free);
  g_free (answer);
}

Receipt *
receipt_new (void)
{
  Receipt *receipt = g_new0 (Receipt, 1);

  receipt->answers = g_ptr_array_new_with_free_func ((GDestroyNotify) receipt_answer_free);
  receipt->entries = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  receipt->outcome.answers = g_ptr_array_new_with_free_func (g_free);
  receipt->outcome.entries = g_array_new (FALSE, FALSE, sizeof (ReceiptLink));
  return receipt;
}

static void
outcome_clear (ReceiptOutcome *outcome)
{
  g_free (outcome->host);
  g_free (outcome->key);
  g_free (outcome->ledger);
  g_free (outcome->request);
  g_free (outcome->record);
  g_free (outcome->state);
  g_free (outcome->source);
  g_free (outcome->by);
  g_free (outcome->reason);
  g_free (outcome->result);
  g_free (outcome->successor);
  g_free (outcome->time);
  g_ptr_array_unref (outcome->answers);
  g_array_unref (outcome->entries);
}

void
receipt_free (Receipt *receipt)
{
  if (receipt == NULL)
    return;
  g_clear_pointer (&receipt->bytes, g_bytes_unref);
  g_clear_pointer (&receipt->record, g_bytes_unref);
  g_clear_pointer (&receipt->decoded, record_unref);
  g_ptr_array_unref (receipt->answers);
  g_ptr_array_unref (receipt->entries);
  outcome_clear (&receipt->outcome);
  signer_clear (&receipt->host);
  g_free (receipt);
}
