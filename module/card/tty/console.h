/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Standard input and output while a command of an agent has them: raw, told, and as they were before
 * afterwards.  Neither need be a terminal.
 */
#pragma once

#include "module/card/tty/screen.h"

#include <glib.h>
#include <termios.h>

G_BEGIN_DECLS

typedef struct
{
  int output;           /* standard output, where a write does not wait */
  gboolean is_terminal; /* standard input is one */
  gboolean is_shown;    /* what is written may come to one, through a pipe, too */
  gboolean has_before;
  struct termios before;
  Screen screen;
  guint answered;   /* how often the terminal has said what it is */
  guint answer_len; /* of the answer that is being read */
} Console;

/* console_open: changes nothing yet.  console_close() ends it. */
void console_open (Console *console);

/* console_make_raw: at the start, and when this process was stopped; FALSE where that cannot be. */
gboolean console_make_raw (Console *console);

/*
 * console_say: a line of ours, if there is a person to be told; between two of them is the command's,
 * whatever it looks like.
 * @whose: (nullable): a name; without one nothing is said
 */
void console_say (const Console *console, const char *whose, const char *text);

/*
 * console_pass: what there is to be written to output after @len more bytes came of the command.
 * @out: has room for @len and SCREEN_ROOM
 * Returns: how many there are.
 */
gsize console_pass (Console *console, const guint8 *in, gsize len, guint8 *out);

/* console_note: what was read of standard input; the terminal's answers are counted. */
void console_note (Console *console, const guint8 *bytes, gsize len);

/*
 * console_close: as it was before.
 * @is_whole: whether all that console_pass() gave has been written
 */
void console_close (Console *console, gboolean is_whole);

G_END_DECLS
