/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Deficit round robin: a lane saves what its turns allow until that is as much as its next call. */
#include "service/base/bus-turns.h"

#define TURN (8 * 1024) /* bytes */

typedef struct
{
  guint64 id;
  gsize saved;
  GQueue parcels; /* (element-type BusParcel), never empty */
} Lane;

struct BusTurns
{
  GHashTable *lanes; /* id → Lane */
  GQueue order;      /* (element-type Lane) */
};

static void
lane_free (gpointer data)
{
  Lane *lane = data;

  g_assert (g_queue_is_empty (&lane->parcels));
  g_free (lane);
}

BusTurns *
bus_turns_new (void)
{
  BusTurns *turns = g_new0 (BusTurns, 1);

  turns->lanes = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, lane_free);
  g_queue_init (&turns->order);
  return turns;
}

void
bus_turns_free (BusTurns *turns)
{
  if (turns == NULL)
    return;
  g_assert (g_queue_is_empty (&turns->order));
  g_hash_table_unref (turns->lanes);
  g_free (turns);
}

void
bus_turns_add (BusTurns *turns, BusParcel *parcel)
{
  Lane *lane = g_hash_table_lookup (turns->lanes, &parcel->lane);

  if (lane == NULL)
    {
      lane = g_new0 (Lane, 1);
      lane->id = parcel->lane;
      g_queue_init (&lane->parcels);
      g_hash_table_insert (turns->lanes, &lane->id, lane);
      g_queue_push_tail (&turns->order, lane);
    }
  g_queue_push_tail (&lane->parcels, parcel);
}

const BusParcel *
bus_turns_peek (BusTurns *turns)
{
  Lane *lane = NULL;

  while ((lane = g_queue_peek_head (&turns->order)) != NULL)
    {
      const BusParcel *first = g_queue_peek_head (&lane->parcels);

      if (lane->saved >= first->size)
        return first;
      lane->saved += TURN;
      g_queue_push_tail (&turns->order, g_queue_pop_head (&turns->order));
    }
  return NULL;
}

BusParcel *
bus_turns_take (BusTurns *turns)
{
  const BusParcel *first = bus_turns_peek (turns);
  Lane *lane = g_queue_peek_head (&turns->order);
  BusParcel *parcel = NULL;

  if (first == NULL)
    return NULL;
  parcel = g_queue_pop_head (&lane->parcels);
  lane->saved -= parcel->size;
  if (g_queue_is_empty (&lane->parcels))
    {
      g_queue_pop_head (&turns->order);
      g_hash_table_remove (turns->lanes, &lane->id);
    }
  return parcel;
}
