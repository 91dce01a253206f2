/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines out of a stream of bytes, each of a limited length. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct LineReader LineReader;

typedef enum
{
  LINE_NONE,     /* more bytes are needed */
  LINE_WHOLE,    /* a line, without its end */
  LINE_TOO_LONG, /* there was one beyond the limit; it is dropped, up to its end */
} LineFound;

LineReader *line_reader_new (gsize max);
void line_reader_free (LineReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LineReader, line_reader_free)

void line_reader_feed (LineReader *reader, const char *data, gsize len);

/*
 * line_reader_next: to be called until LINE_NONE after each feed.
 * @out_line: (out): borrowed, until the next call; set for LINE_WHOLE only
 */
LineFound line_reader_next (LineReader *reader, const char **out_line, gsize *out_len);

G_END_DECLS
