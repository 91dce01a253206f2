/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The person's terminal, for as long as a card is on it: raw keys, no echo, nothing read ahead.
 * Only what text_safe() lets pass is ever written; the few control sequences are written here.
 */
#pragma once

#include "service/base/secret.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct Terminal Terminal;

typedef enum
{
  STYLE_PLAIN,
  STYLE_BOLD,
  STYLE_FAINT,
  STYLE_WARNING,
  STYLE_DANGER,
  STYLE_TITLE,
} TerminalStyle;

typedef enum
{
  EVENT_CHAR, /* a printable ASCII character */
  EVENT_ENTER,
  EVENT_BACKSPACE,
  EVENT_KILL, /* erase the line: Ctrl-U */
  EVENT_UP,
  EVENT_DOWN,
  EVENT_PAGE_UP,
  EVENT_PAGE_DOWN,
  EVENT_OTHER_KEY,
  EVENT_LEAVE, /* Esc, Ctrl-C, Ctrl-D, end of file, hang-up, termination */
  EVENT_FOCUS_IN,
  EVENT_FOCUS_OUT,
  EVENT_RESIZED,
  EVENT_WOKEN, /* terminal_wake() */
  EVENT_TIMEOUT,
} TerminalEventKind;

typedef struct
{
  TerminalEventKind kind;
  char c; /* of EVENT_CHAR */
} TerminalEvent;

/*
 * terminal_check: that standard input and output are terminals, and this process in the foreground
 * of the one that controls it; reason no-terminal.
 */
gboolean terminal_check (GError **error);

typedef enum
{
  TERMINAL_SCREEN, /* pages, on a screen that is put away at the end */
  TERMINAL_LINES,  /* a question or two among the lines that are there */
} TerminalUse;

/* terminal_open: as terminal_check(), and then the keys are this program's. */
Terminal *terminal_open (TerminalUse use, GError **error);

/* terminal_close: as it was before; what was typed and not read is thrown away. */
void terminal_close (Terminal *terminal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Terminal, terminal_close)

void terminal_size (Terminal *terminal, guint *out_columns, guint *out_rows);
gboolean terminal_is_utf8 (const Terminal *terminal);

/*
 * terminal_begin_page: an empty screen, or on a terminal without one a rule of its own.  The cursor
 * is hidden until the page is whole.
 */
void terminal_begin_page (Terminal *terminal);

/*
 * terminal_end_page: shows what was put, throws away every key typed until now, and then shows the
 * cursor: whoever sees it can type.
 */
void terminal_end_page (Terminal *terminal);

/* terminal_put, terminal_newline: @text is made safe once more. */
void terminal_put (Terminal *terminal, TerminalStyle style, const char *text);
void terminal_newline (Terminal *terminal);

/* terminal_show: shows what was put since, without a new page; keys are kept. */
void terminal_show (Terminal *terminal);

/* terminal_erase_char: takes the last character back, on the screen. */
void terminal_erase_char (Terminal *terminal);

/* terminal_flush_input: throws away every key typed until now. */
void terminal_flush_input (Terminal *terminal);

/*
 * terminal_wait: the next event; runs the default main context meanwhile.
 * @timeout: microseconds, or -1
 */
TerminalEvent terminal_wait (Terminal *terminal, gint64 timeout);

/* terminal_wake: makes terminal_wait() return; for callbacks of the main context. */
void terminal_wake (Terminal *terminal);

/*
 * terminal_read_secret: shows what was put, and reads a line that is not shown, byte by byte into
 * locked memory.  What was typed before is thrown away.
 * Returns: (transfer full) (nullable): NULL where the person left.
 */
Secret *terminal_read_secret (Terminal *terminal, gsize max);

G_END_DECLS
