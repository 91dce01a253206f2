/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one pure function from a record to what a person sees.  Every screen (terminal, desktop,
 * phone, receipt) lays these rows out and adds nothing: what can change the effect has a row, in
 * the record's order, empty ones too, whole, with everything invisible made visible.
 */
#pragma once

#include "service/record/record.h"

#include <glib.h>

G_BEGIN_DECLS

/* The sections, in the order of the card. */
typedef enum
{
  ROW_SUMMARY,  /* what, by whom, for whom, effect */
  ROW_CHANGE,   /* old → new, on a card that supersedes another */
  ROW_ARGUMENT,
  ROW_FACT,
  ROW_SETTING,
  ROW_CLAIM, /* the agent's words, last and apart */
} RowSection;

/* A card of more lines than this, counted as if a screen had this width, is deny-only. */
#define ROWS_MAX_LINES 4000
#define ROWS_LINE_WIDTH 80

typedef struct
{
  RowSection section;
  char *name;       /* of the argument, fact or setting; of a change its path; "" elsewhere */
  char *label;      /* from policy, escaped */
  char *type;       /* as in the record; "" in the summary, for module, credential and policy */
  GPtrArray *lines; /* (element-type utf8): the value, escaped, whole; at least one */
  GPtrArray *notes; /* (element-type utf8): warnings in words, e.g. "right-to-left text" */
  gboolean empty;   /* the value is empty; lines then hold the word "none" */
} Row;

typedef struct
{
  GPtrArray *rows; /* (element-type Row) */
  /* (nullable): why this record cannot be shown honestly; such a card can be denied only */
  char *deny_only;
} Rows;

void rows_free (Rows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Rows, rows_free)

/*
 * rows_new:
 * @record: to be shown
 * @superseded: (nullable): the older record that @record replaces; its differences come as
 *   ROW_CHANGE rows
 */
Rows *rows_new (const Record *record, const Record *superseded);

/* rows_to_tree: for vectors and --json: [{"section","name","label","type","lines","notes","empty"}] */
JsonTree *rows_to_tree (const Rows *rows);

/*
 * escape_line: one value on one line: every character without a picture of its own as \u{XXXX}, or
 * \u{XXXX*N} for N in a row; the backslash doubled; likewise spaces at the ends and in a row.  Two
 * texts never give the same line.
 * @text: valid UTF-8
 * Returns: (transfer full)
 */
char *escape_line (const char *text);

/*
 * escape_text: split at line feeds, each line escaped, which may be indented; more than three empty
 * lines in a row are counted: "\(79 empty lines)", which no escaped line can be.
 * Returns: (transfer full) (element-type utf8)
 */
GPtrArray *escape_text (const char *text);

G_END_DECLS
