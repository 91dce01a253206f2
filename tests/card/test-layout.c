/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A card as lines: at every width nothing is lost and nothing is wider than the screen, and the
 * pages hold every line once.
 */
#include "module/card/tty/layout.h"
#include "module/card/tty/text.h"

#include "tests/card/details.h"
#include "tests/record/sample.h"

#include <string.h>

static Card *
make_card_since (const Record *record, const Record *superseded)
{
  g_autoptr (GBytes) credential = g_bytes_new ("id", 2);
  g_autoptr (GVariantDict) dict = test_details (record, credential, "software");
  g_autoptr (GVariant) details = NULL;
  g_autoptr (GError) error = NULL;
  Card *card;

  if (superseded != NULL)
    {
      g_variant_dict_insert (dict, "supersedes", "o", "/org/undersign1/request/" TEST_SUPERSEDED);
      g_variant_dict_insert_value (
          dict, "superseded",
          g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, record_bytes (superseded), TRUE));
    }
  details = g_variant_ref_sink (g_variant_dict_end (dict));
  card = card_new (TEST_REQUEST, record_bytes (record), details, SAMPLE_HOST, &error);
  g_assert_no_error (error);
  return card;
}

static Card *
make_card (const Record *record)
{
  return make_card_since (record, NULL);
}

static GPtrArray *
lay_out (const Card *card, guint columns, gboolean utf8, const char *bar)
{
  LayoutOptions options = { .columns = columns, .utf8 = utf8, .bar = bar };

  return layout_card (card, &options);
}

/* All that is in the column of values, without marks, so that what was wrapped is whole again. */
static char *
values (GPtrArray *lines)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < lines->len; i++)
    {
      const Line *line = g_ptr_array_index (lines, i);
      gboolean wrapped = g_str_has_prefix (line->text, "> ");

      if (!wrapped)
        {
          g_string_append_c (out, '\n');
          g_string_append (out, line->label);
        }
      g_string_append (out, wrapped ? line->text + 2 : line->text);
    }
  return g_string_free (out, FALSE);
}

static void
assert_row (const char *text, const Row *row)
{
  g_assert_nonnull (strstr (text, row->label));
  for (guint i = 0; i < row->lines->len; i++)
    g_assert_nonnull (strstr (text, g_ptr_array_index (row->lines, i)));
  for (guint i = 0; i < row->notes->len; i++)
    {
      g_autofree char *note = g_strdup_printf ("! %s\n", (const char *) row->notes->pdata[i]);

      g_assert_nonnull (strstr (text, note));
    }
}

static void
test_every_row_at_every_width (void)
{
  g_autoptr (Record) record = sample_record ();
  g_autoptr (Card) card = make_card (record);

  for (guint columns = LAYOUT_MIN_COLUMNS; columns < 140; columns++)
    {
      g_autoptr (GPtrArray) lines = lay_out (card, columns, FALSE, NULL);
      g_autofree char *text = values (lines);

      for (guint i = 0; i < lines->len; i++)
        {
          const Line *line = g_ptr_array_index (lines, i);

          g_assert_cmpuint (text_width (line->label) + text_width (line->text) + 1, <=,
                            MIN (columns, LAYOUT_MAX_COLUMNS));
        }
      for (RowSection section = ROW_SUMMARY; section < ROW_CLAIM; section++)
        for (guint i = 0; i < card_rows (card, section)->len; i++)
          assert_row (text, g_ptr_array_index (card_rows (card, section), i));
      g_assert_nonnull (strstr (text, card_fingerprint (card)));
    }
}

/* The notes of what changed stand below it, in words and marked. */
static void
test_notes_of_changes (void)
{
  g_autoptr (GBytes) none = sample_replace ("ticket-4711", "none");
  g_autoptr (GBytes) empty = sample_replace ("ticket-4711", "");
  g_autoptr (Record) older = record_decode (none, NULL);
  g_autoptr (Record) newer = record_decode (empty, NULL);
  g_autoptr (Card) card = make_card_since (newer, older);
  const Row *row = g_ptr_array_index (card_rows (card, ROW_CHANGE), 0);

  g_assert_cmpuint (row->notes->len, ==, 1);
  for (guint columns = LAYOUT_MIN_COLUMNS; columns < 140; columns += 7)
    {
      g_autoptr (GPtrArray) lines = lay_out (card, columns, FALSE, NULL);
      g_autofree char *text = values (lines);

      assert_row (text, row);
    }
  g_assert_true (g_ptr_array_find_with_equal_func (
      card_warnings (card), "Some values need a second look; each says why.", g_str_equal, NULL));
}

static void
test_pages_hold_every_line (void)
{
  g_autoptr (Record) record = sample_record ();
  g_autoptr (Card) card = make_card (record);
  g_autoptr (GPtrArray) lines = lay_out (card, 60, TRUE, "it is not kept here");

  for (guint rows = 2; rows < 60; rows++)
    {
      guint start = 0, pages = 0;

      while (start < lines->len)
        {
          guint next = layout_page (lines, start, rows);

          g_assert_cmpuint (next, >, start);
          g_assert_cmpuint (next - start, <=, rows);
          /* a page of three lines has no room for a frame and its words */
          g_assert_true (next == lines->len || rows < 4 ||
                         !((const Line *) g_ptr_array_index (lines, next))->joined);
          start = next;
          pages++;
        }
      g_assert_cmpuint (start, ==, lines->len);
      g_assert_cmpuint (pages, >=, (lines->len + rows - 1) / rows);
    }
}

static void
test_order (void)
{
  static const char *const order[] = { "! it is not kept here",
                                       "Action",
                                       "Effect",
                                       "ARGUMENTS",
                                       "FACTS",
                                       "CARRIED OUT",
                                       "The agent says, unverified",
                                       "The manager asked for it.",
                                       "THIS REQUEST",
                                       "Fingerprint" };
  g_autoptr (Record) record = sample_record ();
  g_autoptr (Card) card = make_card (record);
  g_autoptr (GPtrArray) lines = lay_out (card, 100, FALSE, "it is not kept here");
  g_autofree char *text = values (lines);
  const char *at = text;

  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    {
      at = strstr (at, order[i]);
      g_test_message ("%s", order[i]);
      g_assert_nonnull (at);
    }
}

/* A value that looks like the card's own lines stays in its column. */
static void
test_forged_lines (void)
{
  g_autoptr (Record) record =
      sample_with ("text", "\"ok\\nBcc         none\\n\\n FINGERPRINT 0000\\n> more\"", NULL);
  g_autoptr (Card) card = make_card (record);
  g_autoptr (GPtrArray) lines = lay_out (card, 80, FALSE, NULL);
  guint numbered = 0;

  for (guint i = 0; i < lines->len; i++)
    {
      const Line *line = g_ptr_array_index (lines, i);

      g_assert_false (g_str_has_prefix (line->text, "Bcc"));
      g_assert_false (g_str_has_prefix (line->label, "Bcc"));
      g_assert_false (g_str_has_prefix (line->text, "> more"));
      numbered += strstr (line->text, " | ") != NULL && line->text[0] == ' ';
    }
  g_assert_cmpuint (numbered, ==, 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/every-row-at-every-width", test_every_row_at_every_width);
  g_test_add_func ("/layout/notes-of-changes", test_notes_of_changes);
  g_test_add_func ("/layout/pages-hold-every-line", test_pages_hold_every_line);
  g_test_add_func ("/layout/order", test_order);
  g_test_add_func ("/layout/forged-lines", test_forged_lines);
  return g_test_run ();
}
