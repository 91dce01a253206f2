/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The card as JSON, for programs that show or log it.  Nothing can be approved from it: an answer
 * needs the statement, and a person.
 */
#include "module/card/model/card-private.h"

static JsonTree *
strings (GPtrArray *texts)
{
  JsonTree *array = json_tree_new_array ();

  for (guint i = 0; i < texts->len; i++)
    json_tree_append_string (array, g_ptr_array_index (texts, i));
  return array;
}

static JsonTree *
history (const Card *card)
{
  JsonTree *array = json_tree_new_array ();

  for (guint i = 0; i < card->history->len; i++)
    {
      const CardHistory *entry = g_ptr_array_index (card->history, i);
      JsonTree *object = json_tree_append (array, json_tree_new_object ());

      json_tree_add_string (object, "summary", entry->summary);
      json_tree_add_string (object, "state", entry->state);
    }
  return array;
}

JsonTree *
card_to_tree (const Card *card)
{
  g_autofree char *digest = digest_to_string (record_digest (card->record));
  g_autofree char *counted = g_strdup_printf ("%u", card->counted);
  g_autofree char *needed = g_strdup_printf ("%u", card->needed);
  JsonTree *tree = json_tree_new_object ();

  json_tree_add_string (tree, "request", card->request);
  json_tree_add_string (tree, "state", card->state);
  json_tree_add_string (tree, "expires", card->expires);
  json_tree_add_string (tree, "digest", digest);
  json_tree_add_string (tree, "fingerprint", card->fingerprint);
  json_tree_add_string (tree, "deny-only", card->deny_only != NULL ? card->deny_only : "");
  json_tree_add_string (tree, "answers", counted);
  json_tree_add_string (tree, "needed", needed);
  json_tree_add (tree, "warnings", strings (card->warnings));
  json_tree_add (tree, "rows", rows_to_tree (card->rows));
  json_tree_add (tree, "history", history (card));
  return tree;
}
