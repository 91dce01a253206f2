/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cutting a stream into messages, whatever pieces it comes in. */
#include "service/base/bus-frames.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "tests/base/bus-message.h"

#include <fcntl.h>
#include <string.h>

typedef struct
{
  BusFrames *frames;
  GPtrArray *taken;
  guint32 unwanted; /* the serial of what the judge does not let go on */
  guint judged;
} Fixture;

static gboolean
judge (const BusHeader *header, BusParcel *parcel, gpointer data)
{
  Fixture *fixture = data;

  fixture->judged++;
  parcel->lane = header->serial + 100;
  return header->serial != fixture->unwanted;
}

static void
take (BusParcel *parcel, gpointer data)
{
  Fixture *fixture = data;

  g_ptr_array_add (fixture->taken, parcel);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->frames = bus_frames_new (judge, take, fixture);
  fixture->taken = g_ptr_array_new_with_free_func ((GDestroyNotify) bus_parcel_free);
  bus_frames_begin (fixture->frames);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  bus_frames_free (fixture->frames);
  g_ptr_array_unref (fixture->taken);
}

/* Gives @bytes in pieces of @most, with @fd (-1 for none) at the first. */
static gboolean
feed (Fixture *fixture, const GByteArray *bytes, gsize most, int fd, GError **error)
{
  gsize at = 0;

  while (at < bytes->len)
    {
      gsize size = 0;
      guint8 *space = bus_frames_space (fixture->frames, &size);

      g_assert_cmpuint (size, >, 0);
      size = MIN (MIN (size, most), bytes->len - at);
      memcpy (space, bytes->data + at, size);
      if (!bus_frames_filled (fixture->frames, size, &fd, at == 0 && fd >= 0 ? 1 : 0, error))
        return FALSE;
      at += size;
    }
  return TRUE;
}

static GByteArray *
blob (const char *body, guint32 serial, guint n_fds, gboolean is_big)
{
  g_autoptr (GDBusMessage) message = message_new (body, serial);

  message_set_fds (message, n_fds);
  return message_blob (message, is_big);
}

/* The write end of a pipe, and the read end with which one sees that it was closed. */
static int
pipe_new (int *out_reader)
{
  int ends[2] = { -1, -1 };

  g_assert_true (pipe2 (ends, O_CLOEXEC | O_NONBLOCK) == 0);
  *out_reader = ends[0];
  return ends[1];
}

static gboolean
is_closed (int reader)
{
  char byte = 0;

  return read (reader, &byte, 1) == 0;
}

static void
test_pieces (Fixture *fixture, gconstpointer data)
{
  static const char *const bodies[] = { "('x', @ay [1, 2, 3])", NULL, "(@t 1,)" };

  for (gsize most = 1; most < 40; most++)
    for (guint32 i = 0; i < 2 * G_N_ELEMENTS (bodies); i++)
      {
        const char *body = bodies[i / 2];
        g_autoptr (GByteArray) bytes = blob (body, i + 1, 1, i % 2 == 1);
        autofd reader = -1;
        const BusParcel *parcel = NULL;

        g_assert_true (feed (fixture, bytes, most, pipe_new (&reader), NULL));
        g_assert_cmpuint (fixture->taken->len, ==, 1);
        parcel = fixture->taken->pdata[0];
        g_assert_cmpmem (parcel->bytes, parcel->size, bytes->data, bytes->len);
        g_assert_cmpuint (parcel->serial, ==, i + 1);
        g_assert_cmpuint (parcel->lane, ==, i + 101);
        g_assert_cmpuint (parcel->fds->len, ==, 1);
        g_assert_false (is_closed (reader));
        g_ptr_array_set_size (fixture->taken, 0);
        g_assert_true (is_closed (reader));
      }
}

/* It never asks for a byte of the next message, whose descriptors would come with it. */
static void
test_space (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GByteArray) bytes = blob ("('x',)", 1, 0, FALSE);
  gsize at = 0;

  for (guint step = 0; at < bytes->len; step++)
    {
      gsize size = 0;
      guint8 *space = bus_frames_space (fixture->frames, &size);

      g_assert_cmpuint (at + size, <=, bytes->len);
      g_assert_cmpuint (step, <, 3);
      memcpy (space, bytes->data + at, size);
      at += size;
      g_assert_true (bus_frames_filled (fixture->frames, size, NULL, 0, NULL));
    }
  g_assert_cmpuint (fixture->taken->len, ==, 1);
}

static void
test_unwanted (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new ("('");
  g_autoptr (GByteArray) good = blob (NULL, 2, 0, FALSE);

  fixture->unwanted = 1;
  for (guint i = 0; i < 100000; i++)
    g_string_append_c (text, 'x');
  g_string_append (text, "',)");
  for (gsize most = 1; most <= 100000; most *= 10)
    {
      g_autoptr (GByteArray) bytes = blob (most == 1 ? NULL : text->str, 1, 1, FALSE);
      autofd reader = -1;

      g_assert_true (feed (fixture, bytes, most, pipe_new (&reader), NULL));
      g_assert_true (is_closed (reader));
      g_assert_cmpuint (fixture->taken->len, ==, 0);
      g_assert_true (feed (fixture, good, most, -1, NULL));
      g_assert_cmpuint (fixture->taken->len, ==, 1);
      g_ptr_array_set_size (fixture->taken, 0);
    }
}

/* A header that is too long, or that makes no sense, is passed by without being judged. */
static void
test_bad_header (Fixture *fixture, gconstpointer data)
{
  g_autofree char *name = g_strnfill (BUS_HEADER_MAX, 'a');
  g_autofree char *path = g_strconcat ("/", name, NULL);
  g_autoptr (GDBusMessage) message = message_new ("('x',)", 1);
  g_autoptr (GByteArray) good = blob (NULL, 2, 0, FALSE);

  g_dbus_message_set_path (message, path);
  for (gsize most = 1; most <= 100000; most *= 10)
    {
      g_autoptr (GByteArray) large = message_blob (message, FALSE);
      g_autoptr (GByteArray) wrong = blob ("('x',)", 1, 1, FALSE);
      autofd first = -1, second = -1;

      wrong->data[1] = 9; /* no such kind of message */
      g_assert_true (feed (fixture, large, most, pipe_new (&first), NULL));
      g_assert_true (is_closed (first));
      g_assert_true (feed (fixture, wrong, most, pipe_new (&second), NULL));
      g_assert_true (is_closed (second));
      g_assert_cmpuint (fixture->judged, ==, 0);
      g_assert_true (feed (fixture, good, most, -1, NULL));
      g_assert_cmpuint (fixture->judged, ==, 1);
      fixture->judged = 0;
    }
}

static void
test_no_stream (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GByteArray) bytes = blob (NULL, 1, 0, FALSE);
  g_autoptr (GError) error = NULL;

  bytes->data[0] = 'x';
  g_assert_false (feed (fixture, bytes, 100, -1, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
}

static void
test_descriptors (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GByteArray) none = blob ("('x',)", 1, 0, FALSE);
  g_autoptr (GByteArray) two = blob ("('x',)", 1, 2, FALSE);
  g_autoptr (GError) error = NULL;
  autofd reader = -1;

  g_assert_false (feed (fixture, two, 100, pipe_new (&reader), &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
  tear_down (fixture, NULL);
  g_assert_true (is_closed (reader));
  fd_clear (&reader);

  set_up (fixture, NULL);
  g_clear_error (&error);
  g_assert_false (feed (fixture, none, 100, pipe_new (&reader), &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
}

static void
test_lines (void)
{
  static const char text[] = "\0AUTH EXTERNAL 30\r\nBEGIN\r\n";
  Fixture fixture = { .taken = g_ptr_array_new_with_free_func ((GDestroyNotify) bus_parcel_free) };
  g_autoptr (GByteArray) lines = g_byte_array_new ();
  g_autoptr (GByteArray) endless = g_byte_array_new ();
  const BusParcel *line = NULL;

  fixture.frames = bus_frames_new (NULL, take, &fixture);
  g_byte_array_append (lines, (const guint8 *) text, sizeof text - 1);
  g_assert_true (feed (&fixture, lines, 1000, -1, NULL));
  g_assert_cmpuint (fixture.taken->len, ==, 2);
  line = fixture.taken->pdata[0];
  g_assert_cmpmem (line->bytes, line->size, text, 19);
  line = fixture.taken->pdata[1];
  g_assert_cmpmem (line->bytes, line->size, "BEGIN\r\n", 7);

  g_byte_array_set_size (endless, BUS_HEADER_MAX);
  memset (endless->data, 'x', endless->len);
  g_assert_false (feed (&fixture, endless, 1000, -1, NULL));
  bus_frames_free (fixture.frames);
  g_ptr_array_unref (fixture.taken);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/bus-frames/pieces", Fixture, NULL, set_up, test_pieces, tear_down);
  g_test_add ("/bus-frames/space", Fixture, NULL, set_up, test_space, tear_down);
  g_test_add ("/bus-frames/unwanted", Fixture, NULL, set_up, test_unwanted, tear_down);
  g_test_add ("/bus-frames/bad-header", Fixture, NULL, set_up, test_bad_header, tear_down);
  g_test_add ("/bus-frames/no-stream", Fixture, NULL, set_up, test_no_stream, tear_down);
  g_test_add ("/bus-frames/descriptors", Fixture, NULL, set_up, test_descriptors, tear_down);
  g_test_add_func ("/bus-frames/lines", test_lines);
  return g_test_run ();
}
