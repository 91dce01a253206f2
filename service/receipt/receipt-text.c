/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A receipt as lines of text: what is proven, then the card.  Every value is escaped already. */
#include "service/receipt/receipt.h"

#include "service/record/rows.h"

static void
add (GPtrArray *lines, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add (GPtrArray *lines, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (lines, g_strdup_vprintf (format, args));
  va_end (args);
}

static void
add_row (GPtrArray *lines, const Row *row)
{
  for (guint i = 0; i < row->lines->len; i++)
    add (lines, "  %s%s%s", i == 0 ? row->label : "", i == 0 ? ": " : "    ",
         (const char *) g_ptr_array_index (row->lines, i));
  for (guint i = 0; i < row->notes->len; i++)
    add (lines, "    (%s)", (const char *) g_ptr_array_index (row->notes, i));
}

GPtrArray *
receipt_to_text (const Receipt *receipt, const ReceiptReport *report)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);

  add (lines, "Receipt of request %s", receipt->outcome.request);
  add (lines, "%s", "");
  for (guint i = 0; i < report->lines->len; i++)
    {
      const ReceiptLine *line = g_ptr_array_index (report->lines, i);

      add (lines, "%-8s %s: %s", receipt_trust_word (line->trust), line->who, line->text);
    }
  add (lines, "%s", "");
  if (receipt->decoded != NULL)
    {
      g_autofree char *fingerprint = record_fingerprint (receipt->decoded);
      g_autoptr (Rows) rows = rows_new (receipt->decoded, NULL);

      add (lines, "What was asked, fingerprint %s, %s:", fingerprint, receipt->outcome.record);
      for (guint i = 0; i < rows->rows->len; i++)
        add_row (lines, g_ptr_array_index (rows->rows, i));
    }
  return lines;
}
