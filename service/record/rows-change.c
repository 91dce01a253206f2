/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What changed since an older request, as rows: each line of the old value after "old: ", each of
 * the new one after "new: ".  Only the rows ask.  The values stand whole, here too, so that the
 * eye need not look for them elsewhere on the card.
 */
#include "service/record/diff.h"
#include "service/record/rows-private.h"

static void
add_side (Row *row, const char *side, const char *type, const JsonTree *value)
{
  RowsSum unused = { 0 };
  Row *shown = row_new (ROW_CHANGE, "", "", type);

  if (value != NULL)
    row_set_value (shown, value, &unused);
  else
    row_add_line (shown, "(not there)");
  for (guint i = 0; i < shown->lines->len; i++)
    {
      g_autofree char *line =
          g_strdup_printf ("%s: %s", side, (const char *) g_ptr_array_index (shown->lines, i));

      row_add_line (row, line);
    }
  row_free (shown);
  g_free (unused.why);
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
