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
} Turn;

struct Turns
{
  GHashTable *rows; /* what is wanted → GQueue of Turn; the first goes on */
};

static void
row_free (gpointer row)
{
  g_queue_free_full (row, g_free);
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
  GQueue *row = g_hash_table_lookup (turns->rows, what);
  Turn *turn = g_new0 (Turn, 1);

  if (row == NULL)
    {
      row = g_queue_new ();
      g_hash_table_insert (turns->rows, g_strdup (what), row);
    }
  turn->begin = begin;
  turn->data = data;
  g_queue_push_tail (row, turn);
  return row->length == 1;
}

static int
compare_data (gconstpointer turn, gconstpointer data)
{
  return ((const Turn *) turn)->data == data ? 0 : 1;
}

void
turns_leave (Turns *turns, const char *what, gpointer data)
{
  GQueue *row = g_hash_table_lookup (turns->rows, what);
  GList *link = row != NULL ? g_queue_find_custom (row, data, compare_data) : NULL;
  gboolean was_first = FALSE;
  Turn *next = NULL;

  g_assert (link != NULL);
  was_first = link == row->head;
  g_free (link->data);
  g_queue_delete_link (row, link);
  next = g_queue_peek_head (row);
  if (next == NULL)
    g_hash_table_remove (turns->rows, what);
  else if (was_first)
    next->begin (next->data);
}

guint
turns_waiting (const Turns *turns)
{
  GHashTableIter iter;
  gpointer row = NULL;
  guint n = 0;

  g_hash_table_iter_init (&iter, turns->rows);
  while (g_hash_table_iter_next (&iter, NULL, &row))
    n += ((const GQueue *) row)->length - 1;
  return n;
}

gboolean
turns_is_empty (const Turns *turns)
{
  return g_hash_table_size (turns->rows) == 0;
}
