/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a record to what a person sees.  Every screen calls this and nothing else; it reads the
 * record alone: no clock, no file, no locale, so the same bytes look the same everywhere.  Every
 * member of a record is in some row.
 */
#include "service/record/rows-private.h"

#include <string.h>

#define SUMMARY_MAX_LINES 3 /* of one row */
#define LINES(...)                                                                                 \
  (const char *const[SUMMARY_MAX_LINES]) { __VA_ARGS__ }

static const char *const section_names[] = { "summary", "change",  "argument",
                                             "fact",    "setting", "claim" };

void
rows_free (Rows *rows)
{
  if (rows == NULL)
    return;
  g_ptr_array_unref (rows->rows);
  g_free (rows->deny_only);
  g_free (rows);
}

/* A row of members that are no typed values; the notes are those of the first, which may be
 * somebody's own words.  NULL is left out. */
static void
add_plain (GPtrArray *rows,
           RowSection section,
           const char *label,
           const char *const lines[SUMMARY_MAX_LINES],
           RowsSum *sum)
{
  Row *row = row_new (section, "", label, "");

  for (guint i = 0; i < SUMMARY_MAX_LINES; i++)
    {
      g_autofree char *line = lines[i] != NULL ? escape_line (lines[i]) : NULL;

      if (line != NULL && row->lines->len == 0)
        row_set_words (row, lines[i], sum);
      else if (line != NULL)
        row_add_line (row, line);
    }
  g_ptr_array_add (rows, row);
}

static const char *
effect_in_words (const char *effect)
{
  if (strcmp (effect, "read") == 0)
    return "only reads";
  if (strcmp (effect, "reversible") == 0)
    return "can be undone";
  return "cannot be undone";
}

static void
add_summary (GPtrArray *rows, const Record *record, RowsSum *sum)
{
  g_autofree char *uid = g_strdup_printf ("uid %" G_GUINT32_FORMAT, record_agent_uid (record));
  g_autofree char *part = g_strdup_printf ("part %s", record_agent_part (record));
  g_autofree char *run = g_strdup_printf ("id %s", record_run_id (record));
  g_autofree char *initiator_uid = NULL;
  const char *label = record_run_label (record);
  const char *initiator = "the agent itself";
  guint32 number;

  if (record_initiator (record, &initiator, &number))
    initiator_uid = g_strdup_printf ("uid %" G_GUINT32_FORMAT, number);

  add_plain (rows, ROW_SUMMARY, "Action",
             LINES (record_action_summary (record), record_action_id (record)), sum);
  add_plain (rows, ROW_SUMMARY, "Agent", LINES (record_agent_name (record), uid, part), sum);
  add_plain (rows, ROW_SUMMARY, "Acting for", LINES (record_agent_owner (record)), sum);
  add_plain (rows, ROW_SUMMARY, "Run", LINES (label[0] != '\0' ? label : NULL, run), sum);
  add_plain (rows, ROW_SUMMARY, "Started by", LINES (initiator, initiator_uid), sum);
  add_plain (rows, ROW_SUMMARY, "Effect", LINES (effect_in_words (record_action_effect (record))),
             sum);
  add_plain (rows, ROW_SUMMARY, "Host", LINES (record_host (record)), sum);
}

static void
add_entries (GPtrArray *rows, RowSection section, const JsonTree *list, RowsSum *sum)
{
  for (guint i = 0; i < json_tree_length (list); i++)
    {
      const JsonTree *entry = json_tree_item (list, i);
      Row *row =
          row_new (section, json_tree_get_string (entry, "name"),
                   json_tree_get_string (entry, "label"), json_tree_get_string (entry, "type"));
      gboolean recheck = FALSE;

      row_set_value (row, json_tree_member (entry, "value"), sum);
      if (json_tree_boolean (json_tree_member (entry, "recheck"), &recheck) && recheck)
        row_add_note (row, "looked up again before it runs");
      g_ptr_array_add (rows, row);
    }
}

static void
add_executor (GPtrArray *rows, const Record *record, RowsSum *sum)
{
  const JsonTree *executor = json_tree_member (record_tree (record), "executor");
  const char *credential = record_credential (record);

  add_plain (rows, ROW_SETTING, "Module", LINES (record_module (record)), sum);
  if (credential[0] != '\0')
    add_plain (rows, ROW_SETTING, "Credential", LINES (credential), sum);
  else
    {
      Row *row = row_new (ROW_SETTING, "", "Credential", "");

      row_set_empty (row);
      g_ptr_array_add (rows, row);
    }
  add_entries (rows, ROW_SETTING, json_tree_member (executor, "settings"), sum);
  add_plain (rows, ROW_SETTING, "Policy", LINES (record_policy (record)), sum);
}

static void
add_claim (GPtrArray *rows, const Record *record, RowsSum *sum)
{
  Row *row = row_new (ROW_CLAIM, "", "The agent says, unverified", "text");
  g_autoptr (JsonTree) claim = json_tree_new_string (record_claim (record));

  row_set_value (row, claim, sum);
  g_ptr_array_add (rows, row);
}

static void
count_lines (const GPtrArray *rows, RowsSum *sum)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);

      for (guint j = 0; j < row->lines->len; j++)
        sum->lines +=
            1 + (gsize) g_utf8_strlen (g_ptr_array_index (row->lines, j), -1) / ROWS_LINE_WIDTH;
    }
}

Rows *
rows_new (const Record *record, const Record *superseded)
{
  const JsonTree *tree = record_tree (record);
  Rows *rows = g_new0 (Rows, 1);
  RowsSum sum = { 0 };

  rows->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) row_free);
  add_summary (rows->rows, record, &sum);
  if (superseded != NULL)
    rows_add_changes (rows->rows, superseded, record);
  add_entries (rows->rows, ROW_ARGUMENT, json_tree_member (tree, "arguments"), &sum);
  add_entries (rows->rows, ROW_FACT, json_tree_member (tree, "facts"), &sum);
  add_executor (rows->rows, record, &sum);
  add_claim (rows->rows, record, &sum);

  count_lines (rows->rows, &sum);
  if (sum.lines > ROWS_MAX_LINES && sum.why == NULL)
    sum.why = g_strdup_printf ("the card has more than %d lines", ROWS_MAX_LINES);
  rows->deny_only = sum.why;
  return rows;
}

static void
add_strings (JsonTree *object, const char *name, const GPtrArray *strings)
{
  JsonTree *array = json_tree_add (object, name, json_tree_new_array ());

  for (guint i = 0; i < strings->len; i++)
    json_tree_append_string (array, g_ptr_array_index (strings, i));
}

JsonTree *
rows_to_tree (const Rows *rows)
{
  JsonTree *tree = json_tree_new_array ();

  for (guint i = 0; i < rows->rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows->rows, i);
      JsonTree *object = json_tree_append (tree, json_tree_new_object ());

      json_tree_add_string (object, "section", section_names[row->section]);
      json_tree_add_string (object, "name", row->name);
      json_tree_add_string (object, "label", row->label);
      json_tree_add_string (object, "type", row->type);
      add_strings (object, "lines", row->lines);
      add_strings (object, "notes", row->notes);
      json_tree_add_boolean (object, "empty", row->empty);
    }
  return tree;
}
