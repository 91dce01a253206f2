/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign receipt: gets one from the service, or verifies one that somebody has, without any
 * service.  A receipt is a stranger's file either way; what is printed of it is escaped.
 */
#include "module/card/tty/program.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/tty/service.h"
#include "service/base/file.h"
#include "service/base/given-keys.h"
#include "service/receipt/receipt.h"

#include <stdio.h>
#include <string.h>

typedef enum
{
  FORMAT_JSON,
  FORMAT_TEXT,
  FORMAT_HTML,
} Format;

static gboolean
format_read (const char *word, Format *format, GError **error)
{
  static const char *const words[] = { "json", "text", "html" };

  for (guint i = 0; word != NULL && i < G_N_ELEMENTS (words); i++)
    if (strcmp (word, words[i]) == 0)
      {
        *format = (Format) i;
        return TRUE;
      }
  return word == NULL || us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                                       "--format is json, text or html, not \"%s\"", word);
}

static void
print_bytes (GBytes *bytes)
{
  gsize len = 0;
  const char *text = g_bytes_get_data (bytes, &len);

  fwrite (text, 1, len, stdout);
  fputc ('\n', stdout);
}

/* The report for programs: {"proven", "lines": [{"trust", "who", "text"}]}. */
static void
print_report (const Receipt *receipt, const ReceiptReport *report)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  JsonTree *lines = json_tree_add (tree, "lines", json_tree_new_array ());

  for (guint i = 0; i < report->lines->len; i++)
    {
      const ReceiptLine *line = g_ptr_array_index (report->lines, i);
      JsonTree *shown = json_tree_append (lines, json_tree_new_object ());

      json_tree_add_string (shown, "text", line->text);
      json_tree_add_string (shown, "trust", receipt_trust_word (line->trust));
      json_tree_add_string (shown, "who", line->who);
    }
  json_tree_add_boolean (tree, "proven", report->proven);
  json_tree_add_string (tree, "request", receipt->outcome.request);
  json_tree_add_string (tree, "state", receipt->outcome.state);
  say_json (tree);
}

static void
print_receipt (const Receipt *receipt, const ReceiptReport *report, Format format)
{
  g_autoptr (GPtrArray) lines = NULL;
  g_autofree char *page = NULL;

  if (format == FORMAT_HTML)
    {
      page = receipt_to_html (receipt, report);
      fputs (page, stdout);
      return;
    }
  lines = receipt_to_text (receipt, report);
  for (guint i = 0; i < lines->len; i++)
    say ("%s", (const char *) g_ptr_array_index (lines, i));
}

/* receipt_open: decoded and verified, or an error that says which check failed, of @what. */
static Receipt *
receipt_open (
    GBytes *bytes, const char *what, char **words, ReceiptReport **out_report, GError **error)
{
  g_autoptr (GPtrArray) keys = given_keys_load (words, error);
  g_autoptr (Receipt) receipt = NULL;

  if (keys == NULL)
    return NULL;
  receipt = receipt_decode (bytes, error);
  *out_report = receipt != NULL ? receipt_verify (receipt, keys, error) : NULL;
  if (*out_report != NULL)
    return g_steal_pointer (&receipt);
  us_error_about (error, what);
  return NULL;
}

static int
verify (int argc, char **argv, GError **error)
{
  g_autofree char *word = NULL;
  g_auto (GStrv) keys = NULL;
  const GOptionEntry entries[] = {
    { "key", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &keys,
      "a key that you know from elsewhere: its file or its id", "KEY" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &word, "text, html or json", "FORMAT" },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (Receipt) receipt = NULL;
  g_autoptr (ReceiptReport) report = NULL;
  Format format = FORMAT_TEXT;

  if (!program_parse ("receipt verify", "FILE",
                      "Verifies a receipt without the service, and says line by line what is "
                      "proven, by whom, and what only the service says.",
                      entries, 1, &argc, &argv, error) ||
      !format_read (word, &format, error))
    return EXIT_USAGE;
  bytes = file_read_given (argv[1], RECEIPT_MAX_BYTES + 1, error);
  receipt = bytes != NULL ? receipt_open (bytes, argv[1], keys, &report, error) : NULL;
  if (receipt == NULL)
    return EXIT_REFUSED;
  if (format == FORMAT_JSON)
    print_report (receipt, report);
  else
    print_receipt (receipt, report, format);
  return report->proven ? EXIT_OK : EXIT_NOT_PROVEN;
}

int
verb_receipt (const Trust *trust, int argc, char **argv, GError **error)
{
  g_autofree char *word = NULL;
  const GOptionEntry entries[] = {
    { "format", 0, 0, G_OPTION_ARG_STRING, &word, "json, which can be verified, text or html",
      "FORMAT" },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  g_autoptr (Service) service = NULL;
  g_autofree char *request = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (Receipt) receipt = NULL;
  g_autoptr (ReceiptReport) report = NULL;
  Format format = FORMAT_JSON;

  if (argc > 1 && strcmp (argv[1], "verify") == 0)
    return verify (argc - 1, argv + 1, error);
  if (!program_parse ("receipt", "ID",
                      "Prints the receipt of a request whose card was yours: who signed what, and "
                      "what became of it.  \"undersign receipt verify FILE\" verifies one.",
                      entries, 1, &argc, &argv, error) ||
      !format_read (word, &format, error) || !service_check_id (argv[1], error))
    return EXIT_USAGE;
  service = service_open (trust, error);
  request = service != NULL ? service_find (service, argv[1], error) : NULL;
  bytes = request != NULL ? service_receipt (service, request, error) : NULL;
  receipt = bytes != NULL ? receipt_open (bytes, request, NULL, &report, error) : NULL;
  if (receipt == NULL)
    return EXIT_REFUSED;
  if (format == FORMAT_JSON)
    print_bytes (bytes);
  else
    print_receipt (receipt, report, format);
  return EXIT_OK;
}
