/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One row of a card, for the files that fill it: what is put into it is shown as it is. */
#include "service/record/rows-private.h"

void
row_free (Row *row)
{
  g_free (row->name);
  g_free (row->label);
  g_free (row->type);
  g_ptr_array_unref (row->lines);
  g_ptr_array_unref (row->notes);
  g_free (row);
}

Row *
row_new (RowSection section, const char *name, const char *label, const char *type)
{
  Row *row = g_new0 (Row, 1);

  row->section = section;
  row->name = g_strdup (name);
  row->label = escape_line (label);
  row->type = g_strdup (type);
  row->lines = g_ptr_array_new_with_free_func (g_free);
  row->notes = g_ptr_array_new_with_free_func (g_free);
  return row;
}

void
row_add_line (Row *row, const char *line)
{
  g_ptr_array_add (row->lines, g_strdup (line));
}

void
row_add_note (Row *row, const char *note)
{
  g_ptr_array_add (row->notes, g_strdup (note));
}

void
row_set_empty (Row *row)
{
  row->empty = TRUE;
  row_add_line (row, "none");
}
