/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lays a card out for a terminal.  Called by pager.c and verb-show.c.  Labels stand in a column of
 * their own, a wrapped value goes on behind a mark in a gutter that no value can write to.  Must
 * never add a word to a value, or leave a row out.
 */
#include "module/card/tty/layout.h"

#include "module/card/tty/text.h"

#include <string.h>

#define MARGIN 1
#define LABEL_MAX 18
#define GUTTER 2 /* between label and value */
#define VALUE_MIN 16

typedef struct
{
  GPtrArray *lines;
  guint columns; /* that may be used, the margin taken off */
  guint label;   /* width of the column of labels */
  gboolean utf8;
} Layout;

static void
line_free (Line *line)
{
  g_free (line->label);
  g_free (line->text);
  g_free (line->continued);
  g_free (line);
}

static void
add (Layout *layout, const char *label, LineStyle style, const char *continued, const char *text)
{
  Line *line = g_new0 (Line, 1);

  line->label = g_strdup (label);
  line->text = g_strdup (text);
  line->style = style;
  line->first = continued[0] == '\0';
  line->continued = g_strdup (continued);
  g_ptr_array_add (layout->lines, line);
}

static Line *
last_line (Layout *layout)
{
  return g_ptr_array_index (layout->lines, layout->lines->len - 1);
}

static const char *
choose (const Layout *layout, const char *pretty, const char *ascii)
{
  return layout->utf8 ? pretty : ascii;
}

static char *
repeat (const char *text, guint n)
{
  GString *out = g_string_new (NULL);

  while (n-- > 0)
    g_string_append (out, text);
  return g_string_free (out, FALSE);
}

static void
add_blank (Layout *layout)
{
  add (layout, "", LINE_PLAIN, "", "");
}

static void
add_heading (Layout *layout, const char *title)
{
  g_autofree char *upper = g_ascii_strup (title, -1);

  add_blank (layout);
  add (layout, "", LINE_HEADING, "", upper);
}

/* A value line in the column of values.  @mark is what stands before it where it is wrapped. */
static void
add_value (Layout *layout, const char *label, const char *row, LineStyle style, const char *text)
{
  const guint width = layout->columns - layout->label - GUTTER;
  g_autofree char *safe = text_safe (text, layout->utf8);
  g_autoptr (GPtrArray) pieces = text_wrap (safe, width);
  g_autofree char *indent = text_pad ("", layout->label);

  for (guint i = 0; i < pieces->len; i++)
    {
      g_autofree char *head = i == 0 ? text_pad (label, layout->label) : g_strdup (indent);
      const char *mark = i == 0 ? "  " : choose (layout, "\xe2\x86\xaa ", "> ");
      g_autofree char *joined = g_strconcat (mark, g_ptr_array_index (pieces, i), NULL);

      add (layout, head, style, i == 0 && label[0] != '\0' ? "" : row, joined);
    }
}

/* The label, and what of it does not fit beside the value on lines before it. */
static char *
add_label (Layout *layout, const char *label)
{
  g_autofree char *safe = text_safe (label, layout->utf8);
  g_autoptr (GPtrArray) pieces = NULL;

  if (text_width (safe) <= layout->label)
    return g_steal_pointer (&safe);
  pieces = text_wrap (safe, layout->columns);
  for (guint i = 0; i < pieces->len; i++)
    add (layout, g_ptr_array_index (pieces, i), LINE_PLAIN, i == 0 ? "" : safe, "");
  return g_strdup ("");
}

/* Lines of a text are numbered, so that no line of it can pass for one of ours. */
static char *
number_line (const Layout *layout, const Row *row, guint i)
{
  const char *line = g_ptr_array_index (row->lines, i);

  if (strcmp (row->type, "text") != 0 || row->empty || row->lines->len < 2)
    return g_strdup (line);
  return g_strdup_printf ("%*u %s %s", row->lines->len > 99 ? 4 : 2, i + 1,
                          choose (layout, "\xe2\x94\x82", "|"), line);
}

static void
add_row (Layout *layout, const Row *row, LineStyle style)
{
  g_autofree char *safe = text_safe (row->label, layout->utf8);
  g_autofree char *label = add_label (layout, row->label);

  for (guint i = 0; i < row->lines->len; i++)
    {
      g_autofree char *line = number_line (layout, row, i);

      add_value (layout, i == 0 ? label : "", safe, style, line);
    }
  for (guint i = 0; i < row->notes->len; i++)
    {
      g_autofree char *note = g_strconcat ("! ", g_ptr_array_index (row->notes, i), NULL);

      add_value (layout, "", safe, LINE_WARNING, note);
    }
}

static LineStyle
style_of (const Card *card, const Row *row)
{
  return row->section == ROW_SUMMARY && strcmp (row->label, "Effect") == 0 &&
                 strcmp (record_action_effect (card_record (card)), "irreversible") == 0
             ? LINE_DANGER
             : LINE_PLAIN;
}

static void
add_section (Layout *layout, const Card *card, RowSection section)
{
  GPtrArray *rows = card_rows (card, section);

  if (rows->len == 0)
    return;
  if (section != ROW_SUMMARY)
    add_heading (layout, card_section_title (section));
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);

      add_row (layout, row, style_of (card, row));
    }
}

static void
add_wrapped (Layout *layout, LineStyle style, const char *before, const char *text)
{
  g_autofree char *safe = text_safe (text, layout->utf8);
  g_autoptr (GPtrArray) pieces = text_wrap (safe, layout->columns - text_width (before));
  g_autofree char *indent = text_pad ("", text_width (before));

  for (guint i = 0; i < pieces->len; i++)
    {
      g_autofree char *line =
          g_strconcat (i == 0 ? before : indent, g_ptr_array_index (pieces, i), NULL);

      add (layout, "", style, "", line);
    }
}

static void
add_warnings (Layout *layout, const Card *card, const char *bar)
{
  GPtrArray *warnings = card_warnings (card);

  for (guint i = 0; i < warnings->len; i++)
    add_wrapped (layout, LINE_WARNING, "! ", g_ptr_array_index (warnings, i));
  if (bar != NULL)
    add_wrapped (layout, LINE_WARNING, "! ", bar);
  if (warnings->len > 0 || bar != NULL)
    add_blank (layout);
}

/* What the agent says, behind a bar on every line: a frame open to the right cannot be forged by
 * a line that is as wide as the screen. */
static void
add_claim (Layout *layout, const Card *card)
{
  GPtrArray *rows = card_rows (card, ROW_CLAIM);
  const char *bar = choose (layout, "\xe2\x94\x82", "|");
  const char *title = card_section_title (ROW_CLAIM);
  g_autofree char *rule =
      repeat (choose (layout, "\xe2\x94\x80", "-"), layout->columns - text_width (title) - 4);
  g_autofree char *long_rule = repeat (choose (layout, "\xe2\x94\x80", "-"), layout->columns - 1);
  g_autofree char *top =
      g_strconcat (choose (layout, "\xe2\x94\x8c ", "+ "), title, " ", rule, NULL);
  g_autofree char *bottom = g_strconcat (choose (layout, "\xe2\x94\x94", "+"), long_rule, NULL);

  add_blank (layout);
  add (layout, "", LINE_WARNING, "", top);
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);

      for (guint j = 0; j < row->lines->len + row->notes->len; j++)
        {
          gboolean note = j >= row->lines->len;
          g_autofree char *safe =
              text_safe (note ? g_ptr_array_index (row->notes, j - row->lines->len)
                              : g_ptr_array_index (row->lines, j),
                         layout->utf8);
          g_autoptr (GPtrArray) pieces = text_wrap (safe, layout->columns - 4);

          for (guint k = 0; k < pieces->len; k++)
            {
              g_autofree char *line = g_strconcat (bar,
                                                   note    ? "! "
                                                   : k > 0 ? choose (layout, "\xe2\x86\xaa ", "> ")
                                                           : "  ",
                                                   g_ptr_array_index (pieces, k), NULL);

              add (layout, "", LINE_PLAIN, i + j + k == 0 ? "" : title, line);
              last_line (layout)->joined = i + j + k == 0;
            }
        }
    }
  add (layout, "", LINE_WARNING, "", bottom);
  last_line (layout)->joined = TRUE;
}

static void
add_plain (Layout *layout, const char *label, LineStyle style, const char *text)
{
  add_value (layout, label, label, style, text);
}

static void
add_end (Layout *layout, const Card *card, guint64 boottime)
{
  guint64 left = card_seconds_left (card, boottime);
  g_autofree char *duration = text_duration (left);
  g_autofree char *expires =
      g_strdup_printf ("%s%s, at %s", left > 0 ? "in " : "", left > 0 ? duration : "has expired",
                       card_expires (card));
  GPtrArray *history = card_history (card);
  guint counted, needed;
  g_autofree char *answers = NULL;

  card_answers (card, &counted, &needed);
  answers = g_strdup_printf ("%u given, %u needed", counted, needed);
  add_heading (layout, "This request");
  add_plain (layout, "Expires", left > 0 ? LINE_PLAIN : LINE_WARNING, expires);
  add_plain (layout, "Approvals", LINE_PLAIN, answers);
  for (guint i = 0; i < history->len; i++)
    {
      const CardHistory *entry = g_ptr_array_index (history, i);
      g_autofree char *text = g_strconcat (entry->summary, ": ", entry->state, NULL);

      add_value (layout, i == 0 ? "In this run" : "", "In this run", LINE_PLAIN, text);
    }
  if (history->len == 0)
    add_plain (layout, "In this run", LINE_PLAIN, "nothing else");
  add_plain (layout, "Fingerprint", LINE_HEADING, card_fingerprint (card));
}

static guint
label_column (const Card *card, guint columns)
{
  guint widest = text_width ("Fingerprint");

  for (RowSection section = ROW_SUMMARY; section < ROW_CLAIM; section++)
    for (guint i = 0; i < card_rows (card, section)->len; i++)
      {
        const Row *row = g_ptr_array_index (card_rows (card, section), i);
        guint width = text_width (row->label);

        if (width <= LABEL_MAX)
          widest = MAX (widest, width);
      }
  return MIN (widest, columns - GUTTER - VALUE_MIN);
}

GPtrArray *
layout_card (const Card *card, const LayoutOptions *options)
{
  Layout layout = {
    .lines = g_ptr_array_new_with_free_func ((GDestroyNotify) line_free),
    .columns = CLAMP (options->columns, LAYOUT_MIN_COLUMNS, LAYOUT_MAX_COLUMNS) - 2 * MARGIN,
    .utf8 = options->utf8,
  };

  layout.label = label_column (card, layout.columns);
  add_warnings (&layout, card, options->bar);
  for (RowSection section = ROW_SUMMARY; section < ROW_CLAIM; section++)
    add_section (&layout, card, section);
  add_claim (&layout, card);
  add_end (&layout, card, options->boottime);
  return layout.lines;
}

guint
layout_page (GPtrArray *lines, guint start, guint rows)
{
  const guint full = MIN (start + MAX (rows, 2), lines->len);
  guint end = full;

  while (end < lines->len && end > start + 1)
    {
      const Line *last = g_ptr_array_index (lines, end - 1);
      const Line *next = g_ptr_array_index (lines, end);

      if (!next->joined && (last->style != LINE_HEADING || last->label[0] != '\0'))
        return end;
      end--;
    }
  return end < lines->len ? full : end;
}
