/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Splits what a client writes into lines.  It keeps no more of an unfinished line than the limit,
 * says once that one was too long, and goes on with the next.  What a line means is not its
 * business.
 */
#include "agentlib/mcp/line.h"

#include <string.h>

struct LineReader
{
  GByteArray *bytes; /* what was fed and not given out */
  gsize start;       /* of the line at hand, in @bytes */
  gsize seen;        /* up to here there is no end of a line */
  gsize max;
  gboolean skipping; /* inside a line that was too long */
};

LineReader *
line_reader_new (gsize max)
{
  LineReader *reader = g_new0 (LineReader, 1);

  reader->bytes = g_byte_array_new ();
  reader->max = max;
  return reader;
}

void
line_reader_free (LineReader *reader)
{
  if (reader == NULL)
    return;
  g_byte_array_unref (reader->bytes);
  g_free (reader);
}

void
line_reader_feed (LineReader *reader, const char *data, gsize len)
{
  g_byte_array_append (reader->bytes, (const guint8 *) data, (guint) len);
}

/* Drops what was given out. */
static void
reader_settle (LineReader *reader)
{
  g_byte_array_remove_range (reader->bytes, 0, (guint) reader->start);
  reader->seen -= reader->start;
  reader->start = 0;
}

/* No end of the line at hand has come. */
static LineFound
reader_wait (LineReader *reader)
{
  gsize held = reader->bytes->len - reader->start;
  gboolean over = held > reader->max;

  reader->seen = reader->bytes->len;
  if (reader->skipping || over)
    reader->start = reader->bytes->len;
  reader_settle (reader);
  if (!over || reader->skipping)
    return LINE_NONE;
  reader->skipping = TRUE;
  return LINE_TOO_LONG;
}

LineFound
line_reader_next (LineReader *reader, const char **out_line, gsize *out_len)
{
  const char *bytes = (const char *) reader->bytes->data;

  for (;;)
    {
      gsize left = reader->bytes->len - reader->seen;
      const char *end = left > 0 ? memchr (bytes + reader->seen, '\n', left) : NULL;
      const char *line = bytes + reader->start;

      if (end == NULL)
        return reader_wait (reader);
      reader->start = reader->seen = (gsize) (end - bytes) + 1;
      if (reader->skipping)
        {
          reader->skipping = FALSE;
          continue;
        }
      if ((gsize) (end - line) > reader->max)
        return LINE_TOO_LONG;
      *out_line = line;
      *out_len = (gsize) (end - line);
      return LINE_WHOLE;
    }
}
