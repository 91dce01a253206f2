/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One direction of a connection to a bus, cut into its messages.  It never asks for bytes beyond
 * the message that it is at, so the descriptors that come meanwhile are that message's.  What is
 * not wanted is read into the same few kilobytes, and its descriptors are closed at once.
 */
#pragma once

#include "service/base/bus-header.h"

#include <glib.h>

G_BEGIN_DECLS

/* A message, or a line of the handshake, that is to go on. */
typedef struct
{
  guint8 *bytes;
  gsize size;
  gsize sent;      /* of the bytes; the descriptors go with the first */
  GArray *fds;     /* (element-type int), its own */
  guint64 lane;    /* whose turn it waits for; of calls alone */
  guint32 serial;
  gpointer ticket; /* (nullable): what the judge gave with a call */
} BusParcel;

/* bus_parcel_free: closes its descriptors; the ticket must be gone by then. */
void bus_parcel_free (BusParcel *parcel);

typedef struct BusFrames BusFrames;

/*
 * BusFramesJudge: looks at a message of which only the header was read; may fill in @parcel->lane
 * and @parcel->ticket.
 * Returns: FALSE where the message is not to go on
 */
typedef gboolean (*BusFramesJudge) (const BusHeader *header, BusParcel *parcel, gpointer data);
/* BusFramesTake: gets what is complete.  (transfer full) */
typedef void (*BusFramesTake) (BusParcel *parcel, gpointer data);

/* bus_frames_new: it starts with lines; @judge may be NULL, for what is trusted. */
BusFrames *bus_frames_new (BusFramesJudge judge, BusFramesTake take, gpointer data);
void bus_frames_free (BusFrames *frames);

/* bus_frames_begin: the lines of the handshake are over. */
void bus_frames_begin (BusFrames *frames);

/* bus_frames_space: where the next bytes go and how many may come, at least one. */
guint8 *bus_frames_space (BusFrames *frames, gsize *out_size);

/*
 * bus_frames_filled:
 * @n: so many bytes were put there
 * @fds: came with them; (transfer full)
 *
 * Returns: FALSE with reason bad-message where this is no stream of messages: it is at its end.
 */
gboolean
bus_frames_filled (BusFrames *frames, gsize n, const int *fds, guint n_fds, GError **error);

/* bus_frames_ticket: (nullable) (transfer full): that of the message it is in the middle of. */
gpointer bus_frames_ticket (BusFrames *frames);

G_END_DECLS
