/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stream from the bus: the first byte says how the rest comes.  What goes on is the stream, byte
 * by byte, and its header is what a second look finds.
 */
#include "service/base/bus-body.h"
#include "service/base/bus-frames.h"
#include "tests/fuzz/refusal.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <fcntl.h>
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
  refusal_seen (error);
  g_assert (good || us_error_has_reason (error, US_REASON_TOO_LARGE) ||
            us_error_has_reason (error, US_REASON_BAD_MESSAGE));
  bus_parcel_free (parcel);
}

/* Where lines of the handshake come too, what is a message is not known here. */
static void
drop (BusParcel *parcel, gpointer data)
{
  g_assert (parcel->size > 0 && parcel->fds != NULL);
  bus_parcel_free (parcel);
}

/* How it comes, the first byte of the input. */
enum
{
  INPUT_PIECES = 0x1f,  /* eight times this, and one: bytes at a time */
  INPUT_FD = 0x20,      /* one descriptor comes with the first piece */
  INPUT_TRUSTED = 0x40, /* nobody judges */
  INPUT_LINES = 0x80,   /* lines of a handshake come first, up to an empty one */
};

/* feed: (nullable) @refused: why the stream is at its end */
static void
feed (BusFrames *frames, Stream *stream, const uint8_t *data, gsize size, GError **refused)
{
  gsize most = (data[0] & INPUT_PIECES) * 8u + 1;
  gboolean lines = (data[0] & INPUT_LINES) != 0;
  int fd = data[0] & INPUT_FD ? open ("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
  gsize left = 0; /* of the message */

  for (gsize at = 1; at < size;)
    {
      gsize n = 0;
      guint8 *space = bus_frames_space (frames, &n);
      guint32 header = 0, body = 0;

      /* Where one begins is known here by the lengths alone. */
      if (left == 0)
        {
          stream->begin = data + at;
          if (!lines && size - at >= BUS_HEADER_FIXED && bus_header_size (data + at, &header, &body))
            left = (gsize) header + body;
        }
      n = MIN (MIN (n, most), size - at);
      g_assert (n > 0 && (left == 0 || n <= left));
      memcpy (space, data + at, n);
      at += n;
      left -= MIN (n, left);
      if (!bus_frames_filled (frames, n, &fd, fd >= 0 ? 1 : 0, refused))
        return;
      fd = -1;
      if (lines && data[at - 1] == '\n' && (at < 3 || data[at - 2] == '\n'))
        {
          lines = FALSE;
          bus_frames_begin (frames);
        }
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  Stream stream = { NULL };
  g_autoptr (GError) error = NULL;
  BusFrames *frames = NULL;

  if (size == 0)
    return 0;
  frames = bus_frames_new (data[0] & INPUT_TRUSTED ? NULL : judge,
                           data[0] & INPUT_LINES ? drop : take, &stream);
  if (!(data[0] & INPUT_LINES))
    bus_frames_begin (frames);
  feed (frames, &stream, data, size, &error);
  g_assert (error == NULL || us_error_has_reason (error, US_REASON_BAD_MESSAGE));
  refusal_seen (error);
  g_assert (bus_frames_ticket (frames) == NULL);
  bus_frames_free (frames);
  return 0;
}
