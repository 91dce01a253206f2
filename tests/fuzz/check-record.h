/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What holds for every record, however it came about; for the targets that get one. */
#pragma once

#include "service/record/diff.h"
#include "service/record/record.h"
#include "service/record/rows.h"

#include <glib.h>
#include <string.h>

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

static inline void
check_entries (const Record *record,
               const char *section,
               const JsonTree *object,
               const JsonTree *(*find) (const Record *, const char *, const char **))
{
  const JsonTree *list = json_tree_member (object, section);
  const char *type = NULL;

  for (guint i = 0; i < json_tree_length (list); i++)
    {
      const JsonTree *entry = json_tree_item (list, i);

      g_assert (find (record, json_tree_get_string (entry, "name"), &type) ==
                json_tree_member (entry, "value"));
      g_assert_cmpstr (type, ==, json_tree_get_string (entry, "type"));
    }
  g_assert (find (record, "", NULL) == NULL);
}

/* What is asked of a record has an answer. */
static inline void
check_members (const Record *record)
{
  const JsonTree *tree = record_tree (record);
  const char *texts[] = { record_host (record),          record_agent_name (record),
                          record_agent_owner (record),   record_agent_part (record),
                          record_run_id (record),        record_action_id (record),
                          record_action_effect (record), record_action_summary (record),
                          record_policy (record),        record_module (record) };
  g_autofree char *fingerprint = record_fingerprint (record);
  const char *name = NULL;
  guint32 uid = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_assert (texts[i] != NULL && *texts[i] != '\0');
  g_assert (record_agent_uid (record) != G_MAXUINT32 && strlen (fingerprint) == 14);
  g_assert (record_run_label (record) != NULL && record_credential (record) != NULL);
  g_assert (record_claim (record) != NULL);
  g_assert (!record_initiator (record, &name, &uid) || *name != '\0');
  check_entries (record, "arguments", tree, record_argument);
  check_entries (record, "facts", tree, record_fact);
  check_entries (record, "settings", json_tree_member (tree, "executor"), record_setting);
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
  check_members (record);
  check_rows (record, NULL);
  check_rows (record, again);
}
