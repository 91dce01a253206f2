/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What holds for every record, however it came about; for the targets that get one. */
#pragma once

#include "service/record/diff.h"
#include "service/record/record.h"
#include "service/record/rows.h"

#include <glib.h>

/* Nothing that a terminal obeys or an eye can't see. */
static inline void
check_line (const char *line)
{
  g_assert (g_utf8_validate (line, -1, NULL));
  for (const char *c = line; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar u = g_utf8_get_char (c);

      g_assert (u >= 0x20 && !(u >= 0x7f && u < 0xa1) && !(u >= 0x2028 && u <= 0x202e) &&
                !(u >= 0x2066 && u <= 0x2069) && u < 0xe0000);
    }
}

static inline void
check_rows (const Record *record, const Record *superseded)
{
  g_autoptr (Rows) rows = rows_new (record, superseded);
  g_autoptr (JsonTree) tree = rows_to_tree (rows);

  g_assert (json_tree_length (tree) == rows->rows->len);
  for (guint i = 0; i < rows->rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows->rows, i);

      g_assert (row->lines->len > 0);
      check_line (row->label);
      for (guint j = 0; j < row->lines->len; j++)
        check_line (g_ptr_array_index (row->lines, j));
      for (guint j = 0; j < row->notes->len; j++)
        check_line (g_ptr_array_index (row->notes, j));
    }
}

/* The same bytes are the same record, and show the same. */
static inline void
check_record (Record *record)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) again = record_decode (record_bytes (record), &error);
  g_autoptr (GPtrArray) differences = NULL;

  g_assert_no_error (error);
  g_assert (digest_equal (record_digest (record), record_digest (again)));
  g_assert (digest_equal (record_intent (record), record_intent (again)));
  differences = record_diff (record, again);
  g_assert (differences->len == 0);
  check_rows (record, NULL);
  check_rows (record, again);
}
