/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A receipt as a page.  It loads nothing and runs nothing, and says so in a policy of its own; text
 * comes from the same rows as a card, where everything invisible is visible, and is then escaped
 * once more for HTML.
 */
#include "service/receipt/receipt.h"

#include "service/record/rows.h"

#define HEAD                                                                                       \
  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"                        \
  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "                    \
  "style-src 'unsafe-inline'\">\n<title>Receipt</title>\n<style>\n"                                \
  "body { font: 16px/1.4 sans-serif; max-width: 60em; margin: 2em auto; }\n"                       \
  "td, th { text-align: left; vertical-align: top; padding: .2em .8em .2em 0; }\n"                 \
  "td div { font-family: monospace; white-space: pre-wrap; overflow-wrap: anywhere; }\n"           \
  ".proven { color: #060; font-weight: bold } .claimed { color: #850 } .said { color: #555 }\n"    \
  ".claim { border: 2px dashed #850 }\n</style>\n</head>\n<body>\n"

static void
put (GString *page, const char *before, const char *text, const char *after)
{
  g_autofree char *safe = g_markup_escape_text (text, -1);

  g_string_append (page, before);
  g_string_append (page, safe);
  g_string_append (page, after);
}

static void
put_row (GString *page, const Row *row)
{
  g_string_append (page, row->section == ROW_CLAIM ? "<tr class=\"claim\">" : "<tr>");
  put (page, "<th>", row->label, "</th><td>");
  for (guint i = 0; i < row->lines->len; i++)
    put (page, "<div>", g_ptr_array_index (row->lines, i), "</div>");
  for (guint i = 0; i < row->notes->len; i++)
    put (page, "<small>", g_ptr_array_index (row->notes, i), "</small><br>");
  g_string_append (page, "</td></tr>\n");
}

char *
receipt_to_html (const Receipt *receipt, const ReceiptReport *report)
{
  GString *page = g_string_new (HEAD);

  put (page, "<h1>Receipt of request ", receipt->outcome.request, "</h1>\n<table>\n");
  for (guint i = 0; i < report->lines->len; i++)
    {
      const ReceiptLine *line = g_ptr_array_index (report->lines, i);
      const char *word = receipt_trust_word (line->trust);

      put (page, "<tr><td class=\"", word, "\">");
      put (page, "", word, "</td>");
      put (page, "<td>", line->who, "</td>");
      put (page, "<td><div>", line->text, "</div></td></tr>\n");
    }
  g_string_append (page, "</table>\n");
  if (receipt->decoded != NULL)
    {
      g_autofree char *fingerprint = record_fingerprint (receipt->decoded);
      g_autoptr (Rows) rows = rows_new (receipt->decoded, NULL);

      put (page, "<h2>What was asked</h2>\n<p>Fingerprint ", fingerprint, ", ");
      put (page, "", receipt->outcome.record, "</p>\n<table>\n");
      for (guint i = 0; i < rows->rows->len; i++)
        put_row (page, g_ptr_array_index (rows->rows, i));
      g_string_append (page, "</table>\n");
    }
  g_string_append (page, "</body>\n</html>\n");
  return g_string_free (page, FALSE);
}
