/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Everything in a record is on the card, whole; what could not be read is deny-only. */
#include "service/record/rows.h"

#include "service/record/type.h"
#include "tests/record/sample.h"

#include <string.h>

/* Each row as "section label: line / line [note; note]". */
static char *
rows_to_string (const Rows *rows)
{
  static const char *const sections[] = { "summary", "change",  "argument",
                                          "fact",    "setting", "claim" };
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < rows->rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows->rows, i);

      g_string_append_printf (out, "%s %s%s ", sections[row->section], row->label,
                              row->empty ? "=" : ":");
      g_assert_cmpuint (row->lines->len, >, 0);
      for (guint j = 0; j < row->lines->len; j++)
        g_string_append_printf (out, "%s%s", j > 0 ? " / " : "",
                                (const char *) g_ptr_array_index (row->lines, j));
      for (guint j = 0; j < row->notes->len; j++)
        g_string_append_printf (out, " [%s]", (const char *) g_ptr_array_index (row->notes, j));
      g_string_append_c (out, '\n');
    }
  return g_string_free (out, FALSE);
}

static const char sample_rows[] = //
    "summary Action: Send an e-mail / mail.send\n"
    "summary Agent: offboarding / uid 61184 / part licences\n"
    "summary Acting for: hr.jones\n"
    "summary Run: ticket-4711 / id " SAMPLE_RUN "\n"
    "summary Started by: hr.kim / uid 1003\n"
    "summary Effect: cannot be undone\n"
    "summary Host: " SAMPLE_HOST "\n"
    "argument To: security@example.com\n"
    "argument Bcc= none\n"
    "argument Text: Good morning, /  / the report. / \n"
    "argument Attachments: 1: \"report.pdf\" / 18 233 bytes / sha256 " SAMPLE_SHA256 "\n"
    "argument Urgent: no\n"
    "fact Recipient: first time for this agent\n"
    "setting Module: mail\n"
    "setting Credential: work-smtp\n"
    "setting Server: smtp.example.com:587\n"
    "setting From: offboarding@example.com\n"
    "setting Policy: " SAMPLE_POLICY "\n"
    "claim The agent says, unverified: The manager asked for it.\n";

static void
test_sample (void)
{
  g_autoptr (Record) record = sample_record ();
  g_autoptr (Rows) rows = rows_new (record, NULL);
  g_autofree char *text = rows_to_string (rows);

  g_assert_cmpstr (text, ==, sample_rows);
  g_assert_null (rows->deny_only);
}

/* One value: its lines, joined by " / ", then its notes. */
static const struct
{
  const char *type, *json, *shown;
} values[] = {
  { "integer", "\"10000000000\"", "10 000 000 000" },
  { "integer", "\"-1234\"", "-1 234" },
  { "integer", "\"123\"", "123" },
  { "integer", "\"9007199254740993\"", "9 007 199 254 740 993" },
  { "integer", "\"18446744073709551615\"", "18 446 744 073 709 551 615" },
  { "decimal", "\"1234567.891011\"", "1 234 567.891011" },
  { "money", "\"12500.00 EUR\"", "12 500.00 EUR" },
  { "size", "\"1\"", "1 byte" },
  { "size", "\"18233\"", "18 233 bytes" },
  { "boolean", "true", "yes" },
  { "boolean", "false", "no" },
  { "url", "\"https://example.com:8443/a?b#c\"",
    "https://example.com:8443/a?b#c / host: example.com:8443" },
  { "url", "\"https://xn--exmple-4nf.com/\"",
    "https://xn--exmple-4nf.com/ / host: xn--exmple-4nf.com "
    "[an internationalised domain name (xn--)]" },
  { "url", "\"https://example.com/a.xn--b\"", "https://example.com/a.xn--b / host: example.com" },
  { "email", "\"a.xn--b@example.com\"", "a.xn--b@example.com" },
  { "email", "\"a@xn--exmple-4nf.com\"",
    "a@xn--exmple-4nf.com [an internationalised domain name (xn--)]" },
  { "argv", "[\"rm\",\"-rf\",\"\",\" a\",\"x\\ny\",\"\\\"q\\\"\"]",
    "1: \"rm\" / 2: \"-rf\" / 3: \"\" / 4: \"\\u{0020}a\" / 5: \"x\\u{000A}y\" / 6: \"\\\"q\\\"\" "
    "[spaces at an end or in a row, written as \\u{0020}]" },
  { "line-list", "[\"a\",\"b c\"]", "a / b c" },
  { "path", "\"/srv/\\u0430rchive\"",
    "/srv/\320\260rchive [characters outside ASCII: /srv/\\u{0430}rchive] "
    "[one word mixes letters of Cyrillic, Latin] [letters that are not Latin: Cyrillic]" },
  { "file", "{\"name\":\"5 bytes\",\"size\":\"1000\",\"sha256\":\"" SAMPLE_SHA256 "\"}",
    "\"5 bytes\" / 1 000 bytes / sha256 " SAMPLE_SHA256 },
  { "text", "\"a\\n\\n\\n\\n\\n\\nb\"", "a / \\(5 empty lines) / b" },
  { "line", "\"none\"", "none [the word none: the value is not empty]" },
  { "text", "\"none\"", "none [the word none: the value is not empty]" },
  { "text", "\"none\\nnone\"", "none / none" },
  { "line-list", "[\"none\"]", "none [the word none: the value is not empty]" },
  { "argv", "[\"none\"]", "1: \"none\"" },
  { "choice", "\"None\"", "None [the word none: the value is not empty]" },
  { "line", "\" none\"", "\\u{0020}none [spaces at an end or in a row, written as \\u{0020}]" },
  { "text", "\"\\n  none\\n\\n\"", " /   none /  /  [the word none: the value is not empty]" },
  { "text", "\"\\n\"", " /  [blank lines alone: the value is not empty]" },
  { "text", "\"none.\"", "none." },
  { "line", "\"(not there)\"", "(not there)" },
  { "timestamp", "\"2026-11-30T09:00:00Z\"", "2026-11-30T09:00:00Z" },
  { "duration", "\"90min\"", "90min" },
};

static void
test_values (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Record) record = sample_with (values[i].type, values[i].json, &error);
      g_autoptr (Rows) rows = NULL;
      g_autofree char *text = NULL;
      g_autofree char *expected = g_strdup_printf ("\nargument Argument: %s\n", values[i].shown);

      g_assert_no_error (error);
      rows = rows_new (record, NULL);
      text = rows_to_string (rows);
      if (strstr (text, expected) == NULL)
        g_error ("expected %s in %s", expected, text);
    }
}

/* Every type's empty value has a row, and the row says so. */
static void
test_empty_values (void)
{
  const Type *type;

  for (guint i = 0; (type = type_at (i)) != NULL; i++)
    {
      g_autoptr (JsonTree) empty = type_empty (type);
      g_autoptr (GBytes) json = empty != NULL ? json_tree_write (empty) : NULL;
      g_autofree char *text =
          json != NULL ? g_strndup (g_bytes_get_data (json, NULL), g_bytes_get_size (json)) : NULL;
      g_autoptr (Record) record = text != NULL ? sample_with (type_name (type), text, NULL) : NULL;
      g_autoptr (Rows) rows = record != NULL ? rows_new (record, NULL) : NULL;
      g_autofree char *shown = rows != NULL ? rows_to_string (rows) : NULL;

      if (empty == NULL)
        continue;
      g_assert_nonnull (strstr (shown, type_wire (type) == TYPE_WIRE_BOOLEAN
                                           ? "\nargument Argument: no\n"
                                           : "\nargument Argument= none\n"));
    }
}

static void
test_long_lists_are_counted (void)
{
  g_autoptr (GString) json = g_string_new ("[");
  g_autoptr (Record) record = NULL;
  g_autoptr (Rows) rows = NULL;
  g_autofree char *text = NULL;

  for (guint i = 0; i < 500; i++)
    g_string_append_printf (json, "%s\"u%u@%s\"", i > 0 ? "," : "", i,
                            i == 321 ? "evil.example" : "example.com");
  g_string_append_c (json, ']');
  record = sample_with ("email-list", json->str, NULL);
  rows = rows_new (record, NULL);
  text = rows_to_string (rows);
  g_assert_nonnull (strstr (text, "u321@evil.example"));
  g_assert_nonnull (strstr (text, "u499@example.com [500 addresses at 2 domains]"));
  g_assert_null (rows->deny_only);
}

/* Two records that differ anywhere do not look the same. */
static const struct
{
  const char *from, *to;
} changes[] = {
  { "Send an e-mail", "Send mail" },
  { "mail.send", "mail.post" },
  { "irreversible", "reversible" },
  { "irreversible", "read" },
  { "\"name\":\"offboarding\"", "\"name\":\"other\"" },
  { "61184", "61185" },
  { "licences", "main" },
  { "hr.jones", "hr.smith" },
  { "ticket-4711", "" },
  { SAMPLE_RUN, SAMPLE_HOST },
  { "hr.kim", "hr.kay" },
  { "1003", "1004" },
  { "\"initiator\":{\"name\":\"hr.kim\",\"uid\":\"1003\"},", "" },
  { "\"host\":\"00", "\"host\":\"11" },
  { "\"value\":[]", "\"value\":[\"boss@example.com\"]" },
  { "\"label\":\"Bcc\"", "\"label\":\"Blind\"" },
  { "\"name\":\"bcc\"", "\"name\":\"cc\"" },
  { "\"type\":\"email\",", "\"type\":\"line\"," },
  { "report.\\n", "report." },
  { "report.\\n", "report.\\n\\n" },
  { "Good morning", "Good\342\200\213morning" },
  { "\"value\":false", "\"value\":true" },
  { "report.pdf", "Report.pdf" },
  { "18233", "18234" },
  { "\"sha256\":\"ff", "\"sha256\":\"fe" },
  { "first time", "second time" },
  { "\"recheck\":false", "\"recheck\":true" },
  { "\"module\":\"mail\"", "\"module\":\"null\"" },
  { "work-smtp", "" },
  { ":587", ":25" },
  { "\"policy\":\"sha256:00", "\"policy\":\"sha256:11" },
  { "The manager", "Nobody" },
  { "\"claim\":\"The manager asked for it.\",", "" },
};

static void
test_every_change_shows (void)
{
  g_autoptr (Record) record = sample_record ();
  g_autoptr (Rows) rows = rows_new (record, NULL);
  g_autoptr (JsonTree) tree = rows_to_tree (rows);

  for (gsize i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (GBytes) bytes = sample_replace (changes[i].from, changes[i].to);
      g_autoptr (GError) error = NULL;
      g_autoptr (Record) other = record_decode (bytes, &error);
      g_autoptr (Rows) other_rows = NULL;
      g_autoptr (JsonTree) other_tree = NULL;

      g_assert_no_error (error);
      other_rows = rows_new (other, NULL);
      other_tree = rows_to_tree (other_rows);
      g_test_message ("%s", changes[i].to);
      g_assert_false (json_tree_equal (tree, other_tree));
    }
}

/* Whatever byte of a record is another and can still be read, is shown. */
static void
test_every_byte_shows (void)
{
  g_autoptr (Record) record = sample_record ();
  g_autoptr (Rows) rows = rows_new (record, NULL);
  g_autoptr (JsonTree) tree = rows_to_tree (rows);
  gsize len;
  const guint8 *data = g_bytes_get_data (record_bytes (record), &len);
  guint readable = 0;

  for (gsize i = 0; i < len; i++)
    for (guint8 bit = 0x01; bit <= 0x40; bit <<= 1)
      {
        g_autofree guint8 *copy = g_memdup2 (data, len);
        g_autoptr (GBytes) bytes = NULL;
        g_autoptr (Record) other = NULL;
        g_autoptr (Rows) other_rows = NULL;
        g_autoptr (JsonTree) other_tree = NULL;

        copy[i] ^= bit;
        bytes = g_bytes_new (copy, len);
        other = record_decode (bytes, NULL);
        if (other == NULL)
          continue;
        other_rows = rows_new (other, NULL);
        other_tree = rows_to_tree (other_rows);
        g_assert_false (json_tree_equal (tree, other_tree));
        readable++;
      }
  g_test_message ("%u of them can be read", readable);
  g_assert_cmpuint (readable, >, len);
}

static void
test_changes_since (void)
{
  g_autoptr (Record) older = sample_record ();
  g_autoptr (GBytes) bytes = sample_replace ("\"value\":[]", "\"value\":[\"boss@example.com\"]");
  g_autoptr (Record) newer = record_decode (bytes, NULL);
  g_autoptr (Rows) rows = rows_new (newer, older);
  g_autoptr (Rows) same = rows_new (older, older);
  g_autofree char *text = rows_to_string (rows);
  g_autofree char *same_text = rows_to_string (same);

  g_assert_nonnull (strstr (text, "\nchange Bcc: old: none / new: boss@example.com\n"
                                  "argument To:"));
  g_assert_nonnull (strstr (text, "\nargument Bcc: boss@example.com\n"));
  g_assert_nonnull (strstr (same_text, "\nchange Changed: nothing: "));
}

static void
test_change_of_presence_and_type (void)
{
  g_autoptr (GBytes) bytes = sample_replace (
      "{\"label\":\"Bcc\",\"name\":\"bcc\",\"type\":\"email-list\",\"value\":[]},", "");
  g_autoptr (GBytes) typed = sample_replace ("\"type\":\"email-list\",\"value\":[]",
                                             "\"type\":\"text\",\"value\":\"a\\nb\"");
  g_autoptr (Record) with = sample_record ();
  g_autoptr (Record) without = record_decode (bytes, NULL);
  g_autoptr (Record) other = record_decode (typed, NULL);
  g_autoptr (Rows) removed = rows_new (without, with);
  g_autoptr (Rows) retyped = rows_new (with, other);
  g_autofree char *removed_text = rows_to_string (removed);
  g_autofree char *retyped_text = rows_to_string (retyped);

  g_assert_nonnull (strstr (removed_text, "change Bcc: old: none / new: (not there)\n"));
  g_assert_nonnull (strstr (retyped_text, "change Bcc: old: a / old: b / new: none\n"
                                          "change Bcc, its type: old: text / new: email-list\n"));
}

/* The sample with one change, then with another: the rows of what changed. */
static char *
changes_between (const char *from, const char *older_to, const char *newer_to)
{
  g_autoptr (GBytes) older_bytes = sample_replace (from, older_to);
  g_autoptr (GBytes) newer_bytes = sample_replace (from, newer_to);
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) older = record_decode (older_bytes, &error);
  g_autoptr (Record) newer = error == NULL ? record_decode (newer_bytes, &error) : NULL;
  g_autoptr (Rows) rows = NULL;
  g_autofree char *text = NULL;
  const char *change;

  g_assert_no_error (error);
  rows = rows_new (newer, older);
  text = rows_to_string (rows);
  change = strstr (text, "\nchange ");
  return g_strndup (change + 1, (gsize) (strstr (text, "\nargument ") - change));
}

/* Each side has its own notes, and neither can pass for empty or for absent. */
static void
test_notes_of_changes (void)
{
  static const char claim[] = "\"claim\":\"The manager asked for it.\",";
  static const char present[] = "[%s: the words (not there): the value is there]";
  g_autofree char *none = changes_between ("ticket-4711", "none", "");
  g_autofree char *empty = changes_between ("work-smtp", "", "none");
  g_autofree char *gone = changes_between (claim, "\"claim\":\"\\n(Not there)\",", "");
  g_autofree char *come = changes_between (claim, "", "\"claim\":\"(not there)\",");
  g_autofree char *both =
      changes_between ("first time for this agent", "\320\260", "\327\220 \327\221 ");
  g_autofree char *was_there = g_strdup_printf (present, "old");
  g_autofree char *is_there = g_strdup_printf (present, "new");

  g_assert_cmpstr (none, ==,
                   "change Run: old: none / new: none "
                   "[old: the word none: the value is not empty]\n");
  g_assert_cmpstr (empty, ==,
                   "change Credential: old: none / new: none "
                   "[new: the word none: the value is not empty]\n");
  g_assert_true (g_str_has_prefix (gone, "change The agent says: old:  / old: (Not there) / "
                                         "new: (not there) "));
  g_assert_nonnull (strstr (gone, was_there));
  g_assert_null (strstr (gone, is_there));
  g_assert_true (
      g_str_has_prefix (come, "change The agent says: old: (not there) / new: (not there) "));
  g_assert_nonnull (strstr (come, is_there));
  g_assert_null (strstr (come, was_there));
  g_assert_cmpstr (both, ==,
                   "change Recipient: old: \320\260 / new: \327\220 \327\221\\u{0020} "
                   "[old: letters that are not Latin: Cyrillic] "
                   "[new: spaces at an end or in a row, written as \\u{0020}] "
                   "[new: right-to-left text] [new: letters that are not Latin: Hebrew]\n");
}

/* The summary and the plain rows of the executor, changed: what has a note. */
static void
test_notes_of_words (void)
{
  static const struct
  {
    const char *from, *to, *row;
  } cases[] = {
    { "ticket-4711", "none",
      "Run: none / id " SAMPLE_RUN " [the word none: the value is not empty]" },
    { "ticket-4711", "\327\220",
      "Run: \327\220 / id " SAMPLE_RUN " [right-to-left text] "
      "[letters that are not Latin: Hebrew]" },
    { "hr.jones", "none", "Acting for: none [the word none: the value is not empty]" },
    { "hr.kim", "None", "Started by: None / uid 1003 [the word none: the value is not empty]" },
    { "\"name\":\"offboarding\"", "\"name\":\"none\"",
      "Agent: none / uid 61184 / part licences [the word none: the value is not empty]" },
    { "licences", "none", "Agent: offboarding / uid 61184 / part none" },
    { "Send an e-mail", "Send  mail",
      "Action: Send\\u{0020*2}mail / mail.send [spaces at an end or in a row, written as "
      "\\u{0020}]" },
    { "\"module\":\"mail\"", "\"module\":\"none\"",
      "Module: none [the word none: the value is not empty]" },
    { "work-smtp", "none", "Credential: none [the word none: the value is not empty]" },
    { "work-smtp", "", "Credential= none" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = sample_replace (cases[i].from, cases[i].to);
      g_autoptr (GError) error = NULL;
      g_autoptr (Record) record = record_decode (bytes, &error);
      g_autoptr (Rows) rows = NULL;
      g_autofree char *text = NULL;
      g_autofree char *expected = g_strdup_printf (" %s\n", cases[i].row);

      g_assert_no_error (error);
      rows = rows_new (record, NULL);
      text = rows_to_string (rows);
      if (strstr (text, expected) == NULL)
        g_error ("expected %s in %s", expected, text);
      g_assert_null (rows->deny_only);
    }
}

/* A record whose agent named its run so that nobody can read it. */
static void
test_deny_only_words (void)
{
  g_autoptr (GString) label = g_string_new (NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (Record) record = NULL;
  g_autoptr (Rows) rows = NULL;
  g_autoptr (Rows) since = NULL;
  g_autoptr (Record) plain = sample_record ();

  for (guint i = 0; i < 9; i++)
    g_string_append_unichar (label, i % 2 ? 0x2800 : 0x3164);
  bytes = sample_replace ("ticket-4711", label->str);
  record = record_decode (bytes, NULL);
  rows = rows_new (record, plain);
  since = rows_new (plain, record);
  g_assert_cmpstr (rows->deny_only, ==, "Run: too much of it cannot be shown");
  g_assert_null (since->deny_only); /* what was there before need not be read */
}

/* What a person can't read can't be approved. */
static void
test_deny_only (void)
{
  g_autoptr (GString) lines = g_string_new ("\"");
  g_autoptr (GString) hidden = g_string_new ("\"ok ");
  g_autoptr (GString) tabs = g_string_new ("\"");
  g_autoptr (Record) long_record = NULL;
  g_autoptr (Record) hidden_record = NULL;
  g_autoptr (Record) tabs_record = NULL;
  g_autoptr (Rows) long_rows = NULL;
  g_autoptr (Rows) hidden_rows = NULL;
  g_autoptr (Rows) tabs_rows = NULL;

  for (guint i = 0; i < ROWS_MAX_LINES; i++)
    g_string_append (lines, "x\\n");
  for (guint i = 0; i < 20; i++)
    g_string_append_printf (hidden, "\\udb40\\udc%02x", 0x61 + i);
  for (guint i = 0; i < 20; i++)
    g_string_append (tabs, "a\\tb\\n");
  g_string_append_c (lines, '"');
  g_string_append_c (hidden, '"');
  g_string_append_c (tabs, '"');

  long_record = sample_with ("text", lines->str, NULL);
  long_rows = rows_new (long_record, NULL);
  g_assert_cmpstr (long_rows->deny_only, ==, "the card has more than 4000 lines");
  hidden_record = sample_with ("text", hidden->str, NULL);
  hidden_rows = rows_new (hidden_record, NULL);
  g_assert_cmpstr (hidden_rows->deny_only, ==, "Argument: too much of it cannot be shown");
  tabs_record = sample_with ("text", tabs->str, NULL);
  tabs_rows = rows_new (tabs_record, NULL);
  g_assert_null (tabs_rows->deny_only);
}

static void
test_effect_and_initiator (void)
{
  g_autoptr (GBytes) bytes =
      sample_replace ("\"initiator\":{\"name\":\"hr.kim\",\"uid\":\"1003\"},", "");
  g_autoptr (GBytes) read_bytes = sample_replace ("irreversible", "read");
  g_autoptr (GBytes) undo_bytes = sample_replace ("irreversible", "reversible");
  g_autoptr (Record) alone = record_decode (bytes, NULL);
  g_autoptr (Record) read = record_decode (read_bytes, NULL);
  g_autoptr (Record) undo = record_decode (undo_bytes, NULL);
  g_autoptr (Rows) alone_rows = rows_new (alone, NULL);
  g_autoptr (Rows) read_rows = rows_new (read, NULL);
  g_autoptr (Rows) undo_rows = rows_new (undo, NULL);
  g_autofree char *alone_text = rows_to_string (alone_rows);
  g_autofree char *read_text = rows_to_string (read_rows);
  g_autofree char *undo_text = rows_to_string (undo_rows);

  g_assert_nonnull (strstr (alone_text, "summary Started by: the agent itself\n"));
  g_assert_nonnull (strstr (read_text, "summary Effect: only reads\n"));
  g_assert_nonnull (strstr (undo_text, "summary Effect: can be undone\n"));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rows/sample", test_sample);
  g_test_add_func ("/rows/values", test_values);
  g_test_add_func ("/rows/empty-values", test_empty_values);
  g_test_add_func ("/rows/long-lists-are-counted", test_long_lists_are_counted);
  g_test_add_func ("/rows/every-change-shows", test_every_change_shows);
  g_test_add_func ("/rows/every-byte-shows", test_every_byte_shows);
  g_test_add_func ("/rows/changes-since", test_changes_since);
  g_test_add_func ("/rows/change-of-presence-and-type", test_change_of_presence_and_type);
  g_test_add_func ("/rows/notes-of-changes", test_notes_of_changes);
  g_test_add_func ("/rows/notes-of-words", test_notes_of_words);
  g_test_add_func ("/rows/deny-only-words", test_deny_only_words);
  g_test_add_func ("/rows/deny-only", test_deny_only);
  g_test_add_func ("/rows/effect-and-initiator", test_effect_and_initiator);
  return g_test_run ();
}
