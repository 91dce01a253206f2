/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cutting a stream into messages.  Memory for a body is taken only after the judge has seen the
 * header, and not a byte of the body is looked at here.
 */
#include "service/base/bus-frames.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <string.h>

struct BusFrames
{
  BusFramesJudge judge;
  BusFramesTake take;
  gpointer data;
  gboolean has_begun;

  guint8 head[BUS_HEADER_MAX]; /* a line, the header, or what is thrown away */
  gsize have;                  /* of the line or header */
  guint32 header_size;         /* 0: not known yet */
  guint32 body_size;
  guint32 n_fds;               /* that the header says there are */
  gsize left;                  /* of what comes after the header */
  BusParcel *parcel;           /* NULL: it is thrown away */
  GArray *fds;                 /* of this message, so far */
};

/* --- parcels --- */

static void
close_one (gpointer data)
{
  fd_clear (data);
}

static GArray *
fds_new (void)
{
  GArray *fds = g_array_new (FALSE, FALSE, sizeof (int));

  g_array_set_clear_func (fds, close_one);
  return fds;
}

static BusParcel *
parcel_new (gsize size)
{
  BusParcel *parcel = g_new0 (BusParcel, 1);

  parcel->bytes = g_malloc (size);
  parcel->size = size;
  return parcel;
}

void
bus_parcel_free (BusParcel *parcel)
{
  if (parcel == NULL)
    return;
  g_assert (parcel->ticket == NULL);
  g_clear_pointer (&parcel->fds, g_array_unref);
  g_free (parcel->bytes);
  g_free (parcel);
}

/* --- the stream --- */

BusFrames *
bus_frames_new (BusFramesJudge judge, BusFramesTake take, gpointer data)
{
  BusFrames *frames = g_new0 (BusFrames, 1);

  frames->judge = judge;
  frames->take = take;
  frames->data = data;
  frames->fds = fds_new ();
  return frames;
}

void
bus_frames_free (BusFrames *frames)
{
  if (frames == NULL)
    return;
  bus_parcel_free (frames->parcel);
  g_array_unref (frames->fds);
  g_free (frames);
}

void
bus_frames_begin (BusFrames *frames)
{
  frames->has_begun = TRUE;
}

gpointer
bus_frames_ticket (BusFrames *frames)
{
  return frames->parcel != NULL ? g_steal_pointer (&frames->parcel->ticket) : NULL;
}

guint8 *
bus_frames_space (BusFrames *frames, gsize *out_size)
{
  if (!frames->has_begun)
    *out_size = 1;
  else if (frames->header_size == 0)
    *out_size = BUS_HEADER_FIXED - frames->have;
  else if (frames->have < frames->header_size && frames->header_size <= BUS_HEADER_MAX)
    *out_size = frames->header_size - frames->have;
  else if (frames->parcel != NULL)
    {
      *out_size = frames->left;
      return frames->parcel->bytes + frames->parcel->size - frames->left;
    }
  else
    {
      *out_size = MIN (frames->left, sizeof frames->head);
      return frames->head;
    }
  return frames->head + frames->have;
}

static void
message_reset (BusFrames *frames)
{
  frames->have = 0;
  frames->header_size = 0;
  frames->n_fds = 0;
  g_array_set_size (frames->fds, 0);
}

static gboolean
message_end (BusFrames *frames, GError **error)
{
  BusParcel *parcel = g_steal_pointer (&frames->parcel);

  if (parcel != NULL && frames->fds->len != frames->n_fds)
    {
      frames->parcel = parcel;
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                           "a message has %u descriptors and came with %u", frames->n_fds,
                           frames->fds->len);
    }
  if (parcel != NULL)
    {
      parcel->fds = g_steal_pointer (&frames->fds);
      frames->fds = fds_new ();
    }
  message_reset (frames);
  if (parcel != NULL)
    frames->take (parcel, frames->data);
  return TRUE;
}

/* The header is there: what becomes of the message? */
static gboolean
message_judge (BusFrames *frames, GError **error)
{
  BusHeader header = { 0 };
  BusParcel parcel = { 0 };
  gboolean is_good = bus_header_read (frames->head, frames->have, &header, error);

  if (!is_good && frames->judge == NULL)
    return FALSE;
  g_clear_error (error);
  frames->left = frames->body_size;
  if (is_good && (frames->judge == NULL || frames->judge (&header, &parcel, frames->data)))
    {
      frames->n_fds = header.n_fds;
      frames->parcel = parcel_new (frames->have + frames->left);
      frames->parcel->lane = parcel.lane;
      frames->parcel->serial = header.serial;
      frames->parcel->ticket = parcel.ticket;
      memcpy (frames->parcel->bytes, frames->head, frames->have);
    }
  else
    g_array_set_size (frames->fds, 0);
  return frames->left > 0 || message_end (frames, error);
}

static gboolean
header_filled (BusFrames *frames, gsize n, GError **error)
{
  frames->have += n;
  if (frames->header_size == 0)
    {
      if (frames->have < BUS_HEADER_FIXED)
        return TRUE;
      if (!bus_header_size (frames->head, &frames->header_size, &frames->body_size))
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                             "what came is no message of D-Bus");
      if (frames->header_size > BUS_HEADER_MAX)
        frames->left = (gsize) frames->header_size - frames->have + frames->body_size;
    }
  if (frames->have == frames->header_size)
    return message_judge (frames, error);
  return TRUE;
}

static gboolean
line_filled (BusFrames *frames, GError **error)
{
  frames->have++;
  if (frames->head[frames->have - 1] == '\n')
    {
      BusParcel *line = parcel_new (frames->have);

      memcpy (line->bytes, frames->head, frames->have);
      message_reset (frames);
      line->fds = fds_new ();
      frames->take (line, frames->data);
    }
  else if (frames->have == sizeof frames->head)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "a line of the handshake is too long");
  return TRUE;
}

gboolean
bus_frames_filled (BusFrames *frames, gsize n, const int *fds, guint n_fds, GError **error)
{
  gboolean in_header = frames->header_size == 0 || (frames->have < frames->header_size &&
                                                    frames->header_size <= BUS_HEADER_MAX);

  g_array_append_vals (frames->fds, fds, n_fds);
  if (!frames->has_begun)
    return line_filled (frames, error);
  if (in_header)
    return header_filled (frames, n, error);
  frames->left -= n;
  if (frames->parcel == NULL)
    g_array_set_size (frames->fds, 0);
  return frames->left > 0 || message_end (frames, error);
}
