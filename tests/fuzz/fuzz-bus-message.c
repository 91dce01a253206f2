/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stream from the bus: the first byte says in how large pieces the rest comes.  What goes on is
 * the stream, byte by byte, and its header is what a second look finds.
 */
#include "service/base/bus-body.h"
#include "service/base/bus-frames.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

typedef struct
{
  const guint8 *begin; /* of the message that it is at */
} Stream;

static gboolean
judge (const BusHeader *header, BusParcel *parcel, gpointer data)
{
  g_assert (header->type >= BUS_CALL && header->type <= BUS_SIGNAL && header->serial != 0);
  g_assert (header->type != BUS_CALL || (header->path[0] == '/' && header->member[0] != '\0'));
  g_assert (header->header_size <= BUS_HEADER_MAX && header->header_size % 8 == 0);
  g_assert ((header->signature[0] == '\0') == (header->body_size == 0));
  return header->body_size < 65536 && header->n_fds == 0;
}

static void
take (BusParcel *parcel, gpointer data)
{
  Stream *stream = data;
  guint32 body_at = 0, body_size = 0;
  BusHeader header = { 0 };
  g_autoptr (GError) error = NULL;
  gboolean good = FALSE;

  g_assert (memcmp (parcel->bytes, stream->begin, parcel->size) == 0);
  g_assert (bus_header_size (parcel->bytes, &body_at, &body_size));
  g_assert (parcel->size == (gsize) body_at + body_size);
  g_assert (bus_header_read (parcel->bytes, body_at, &header, NULL));
  g_assert (header.serial == parcel->serial);
  good = bus_body_check (parcel->bytes, parcel->size, body_at, header.signature, &error);
  g_assert (good || us_error_has_reason (error, US_REASON_TOO_LARGE) ||
            us_error_has_reason (error, US_REASON_BAD_MESSAGE));
  bus_parcel_free (parcel);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  gsize most = size > 0 ? data[0] + 1u : 1;
  Stream stream = { NULL };
  BusFrames *frames = bus_frames_new (judge, take, &stream);
  gsize left = 0; /* of the message */

  bus_frames_begin (frames);
  for (gsize at = 1; at < size;)
    {
      gsize n = 0;
      guint8 *space = bus_frames_space (frames, &n);
      guint32 header = 0, body = 0;

      /* Where one begins is known here by the lengths alone. */
      if (left == 0)
        {
          stream.begin = data + at;
          if (size - at < BUS_HEADER_FIXED || !bus_header_size (data + at, &header, &body))
            break;
          left = (gsize) header + body;
        }
      n = MIN (MIN (n, most), size - at);
      g_assert (n > 0 && n <= left);
      memcpy (space, data + at, n);
      at += n;
      left -= n;
      g_assert (bus_frames_filled (frames, n, NULL, 0, NULL));
    }
  bus_frames_free (frames);
  return 0;
}
