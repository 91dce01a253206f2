/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that wait to be unpacked, in lanes that take turns: each lane may go on by as many bytes as
 * any other, so one that is full of large calls holds up its own sender alone.
 */
#pragma once

#include "service/base/bus-frames.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct BusTurns BusTurns;

BusTurns *bus_turns_new (void);
/* bus_turns_free: there must be none left. */
void bus_turns_free (BusTurns *turns);
/* bus_turns_add: the last of its lane.  (transfer full) */
void bus_turns_add (BusTurns *turns, BusParcel *parcel);
/* bus_turns_peek: (nullable): the one whose turn it is, until it is taken. */
const BusParcel *bus_turns_peek (BusTurns *turns);
/* bus_turns_take: that one; NULL where none waits.  (transfer full) */
BusParcel *bus_turns_take (BusTurns *turns);

G_END_DECLS
