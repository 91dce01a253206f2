/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files that make rows. */
#pragma once

#include "service/record/escape-private.h"
#include "service/record/rows.h"
#include "service/record/type.h"

G_BEGIN_DECLS

/* Added up over a whole card. */
typedef struct
{
  gsize lines; /* of ROWS_LINE_WIDTH characters */
  char *why;   /* (nullable): the first reason for which the card can't be approved */
} RowsSum;

/* row.c: @label is escaped here. */
Row *row_new (RowSection section, const char *name, const char *label, const char *type);
void row_free (Row *row);
void row_add_line (Row *row, const char *line);
void row_add_note (Row *row, const char *note);
void row_set_empty (Row *row);

/* rows-value.c: the lines and notes of a value of @row->type, which type_check() accepts. */
void row_set_value (Row *row, const JsonTree *value, RowsSum *sum);
/* row_set_words: a member of the record that is no typed value, with the notes of a line. */
void row_set_words (Row *row, const char *text, RowsSum *sum);
/* row_says: whether a person sees @words and nothing else: blank lines and spaces around them do
 * not count, nor does upper or lower case.  With "" : whether there are blank lines alone. */
gboolean row_says (const Row *row, const char *words);

/* rows-change.c: ROW_CHANGE rows for what differs. */
void rows_add_changes (GPtrArray *rows, const Record *older, const Record *newer);

G_END_DECLS
