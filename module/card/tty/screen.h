/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What of an agent's output reaches a person's terminal, and what has to be undone there.  Text and
 * what draws passes; what reaches beyond the window, or stays when the command has gone, does not.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SCREEN_HELD_MAX 4096               /* of one sequence; a longer one is left out */
#define SCREEN_ROOM (SCREEN_HELD_MAX + 16) /* more than came that screen_pass() may give */

typedef enum
{
  SCREEN_GROUND,
  SCREEN_ESCAPE,  /* ESC and what may stand between it and its end */
  SCREEN_CONTROL, /* CSI */
  SCREEN_COMMAND, /* OSC, of which some pass */
  SCREEN_STRING,  /* the other strings, of which none does */
} ScreenState;

/* All zeros to begin with, but for is_utf8, whether the terminal is, and is_deaf. */
typedef struct
{
  gboolean is_utf8;
  gboolean is_deaf; /* the command would not hear the terminal: it is asked nothing */
  ScreenState state;
  gboolean may_end; /* a string's ESC */
  guint8 held[SCREEN_HELD_MAX];
  gsize held_len;
  gboolean is_too_long;
  guint8 character[4];
  gsize character_len, character_want;
  gboolean is_shifted; /* by SO */

  guint64 modes;      /* that are not as a shell has them, a bit each */
  guint64 touched;    /* that ever were not */
  gboolean has_drawn; /* by more than text */
  gboolean has_region, has_shape, has_console_cursor, has_link, has_colours, has_title, has_keys;
  gboolean has_asked; /* the terminal may have something to say, now or later */
  guint asked;        /* how often for what it is, the question that screen_undo() asks last */
} Screen;

/*
 * screen_pass: what there is to be shown after @len more bytes came.
 * @out: has room for @len and SCREEN_ROOM
 * Returns: how many there are.
 */
gsize screen_pass (Screen *screen, const guint8 *in, gsize len, guint8 *out);

/*
 * screen_undo: what makes the terminal as it was, as far as that can be said.
 * @is_whole: whether all that screen_pass() gave has been shown; else any end of it may be lost
 * Returns: (transfer full)
 */
GString *screen_undo (const Screen *screen, gboolean is_whole);

G_END_DECLS
