/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What changed since an older request, as rows: each line and note of the old value after "old: ",
 * each of the new one after "new: ".  Only the rows ask.  The values stand whole, here too, so that
 * the eye need not look for them elsewhere on the card.
 */
#include "service/record/diff.h"
#include "service/record/rows-private.h"

#define NOT_THERE "(not there)"

/* The lines and notes of one value, or that there is none. */
static Row *
side_new (const char *type, const JsonTree *value)
{
  RowsSum unused = { 0 }; /* what is new has a row of its own, which is counted */
  Row *row = row_new (ROW_CHANGE, "", "", type);

  if (value == NULL)
    row_add_line (row, NOT_THERE);
  else
    {
      row_set_value (row, value, &unused);
      if (row_says (row, NOT_THERE))
        g_ptr_array_insert (row->notes, 0,
                            g_strdup ("the words " NOT_THERE ": the value is there"));
    }
  g_free (unused.why);
  return row;
}

static void
add_side (Row *row, const char *side, const char *type, const JsonTree *value)
{
  Row *shown = side_new (type, value);

  for (guint i = 0; i < shown->lines->len; i++)
    {
      g_autofree char *line =
          g_strdup_printf ("%s: %s", side, (const char *) g_ptr_array_index (shown->lines, i));

      row_add_line (row, line);
    }
  for (guint i = 0; i < shown->notes->len; i++)
    {
      g_autofree char *note =
          g_strdup_printf ("%s: %s", side, (const char *) g_ptr_array_index (shown->notes, i));

      row_add_note (row, note);
    }
  row_free (shown);
}

void
rows_add_changes (GPtrArray *rows, const Record *older, const Record *newer)
{
  g_autoptr (GPtrArray) differences = record_diff (older, newer);
  Row *row;

  for (guint i = 0; i < differences->len; i++)
    {
      const Difference *difference = g_ptr_array_index (differences, i);

      row = row_new (ROW_CHANGE, difference->path, difference->label, difference->new_type);
      add_side (row, "old", difference->old_type, difference->old_value);
      add_side (row, "new", difference->new_type, difference->new_value);
      g_ptr_array_add (rows, row);
    }
  if (differences->len > 0)
    return;
  row = row_new (ROW_CHANGE, "", "Changed", "");
  row_add_line (row, "nothing: this is the same action once more");
  g_ptr_array_add (rows, row);
}
