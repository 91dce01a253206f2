/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of those that wait for each other.  It knows nothing of what they do, and never has two of one
 * row go on.
 */
#include "service/broker/turns.h"

typedef struct
{
  TurnBegin begin;
  gpointer data;
  gboolean has_begun;
} Turn;

/* Those who want the same; the first goes on. */
typedef struct
{
  GQueue turns;        /* Turn */
  gboolean is_calling; /* somebody begins, and may leave within that */
} Row;

struct Turns
{
  GHashTable *rows; /* what is wanted → Row */
};

static void
row_free (gpointer data)
{
  Row *row = data;

  g_queue_clear_full (&row->turns, g_free);
  g_free (row);
}

Turns *
turns_new (void)
{
  Turns *turns = g_new0 (Turns, 1);

  turns->rows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, row_free);
  return turns;
}

void
turns_free (Turns *turns)
{
  if (turns == NULL)
    return;
  g_hash_table_unref (turns->rows);
  g_free (turns);
}

gboolean
turns_take (Turns *turns, const char *what, TurnBegin begin, gpointer data)
{
  Row *row = g_hash_table_lookup (turns->rows, what);
  Turn *turn = g_new0 (Turn, 1);

  if (row == NULL)
    {
      row = g_new0 (Row, 1);
      g_hash_table_insert (turns->rows, g_strdup (what), row);
    }
  turn->begin = begin;
  turn->data = data;
  turn->has_begun = g_queue_is_empty (&row->turns);
  g_queue_push_tail (&row->turns, turn);
  return turn->has_begun;
}

static int
compare_data (gconstpointer turn, gconstpointer data)
{
  return ((const Turn *) turn)->data == data ? 0 : 1;
}

/* The first begins, and where it leaves within that, the next: however many do, one after the other. */
static void
row_go_on (Row *row)
{
  Turn *first = NULL;

  row->is_calling = TRUE;
  while ((first = g_queue_peek_head (&row->turns)) != NULL && !first->has_begun)
    {
      first->has_begun = TRUE;
      first->begin (first->data);
    }
  row->is_calling = FALSE;
}

void
turns_leave (Turns *turns, const char *what, gpointer data)
{
  Row *row = g_hash_table_lookup (turns->rows, what);
  GList *link = row != NULL ? g_queue_find_custom (&row->turns, data, compare_data) : NULL;

  g_assert (link != NULL);
  g_free (link->data);
  g_queue_delete_link (&row->turns, link);
  if (row->is_calling)
    return;
  row_go_on (row);
  if (g_queue_is_empty (&row->turns))
    g_hash_table_remove (turns->rows, what);
}

guint
turns_waiting (const Turns *turns)
{
  GHashTableIter iter;
  gpointer row = NULL;
  guint n = 0;

  g_hash_table_iter_init (&iter, turns->rows);
  while (g_hash_table_iter_next (&iter, NULL, &row))
    n += MAX (((const Row *) row)->turns.length, 1u) - 1;
  return n;
}

gboolean
turns_is_empty (const Turns *turns)
{
  return g_hash_table_size (turns->rows) == 0;
}
