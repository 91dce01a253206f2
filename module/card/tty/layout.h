/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A card as lines of a screen: nothing is left out, nothing is cut, and what the agent says stands
 * apart in a frame.  Pure: the same card and width give the same lines.
 */
#pragma once

#include "module/card/model/card.h"

#include <glib.h>

G_BEGIN_DECLS

/* The narrowest and widest layout; a wider screen keeps a margin. */
#define LAYOUT_MIN_COLUMNS 40
#define LAYOUT_MAX_COLUMNS 110

typedef enum
{
  LINE_PLAIN,
  LINE_HEADING, /* of a section */
  LINE_DANGER,  /* what cannot be undone */
  LINE_WARNING, /* a note of ours about a value */
  LINE_FAINT,   /* frames */
} LineStyle;

typedef struct
{
  char *label; /* bold; with its padding; "" where there is none */
  char *text;
  LineStyle style;
  gboolean first;  /* of its row, or no row at all */
  gboolean joined; /* to the line before it: it does not begin a page */
  char *continued; /* the label of the row that this line goes on with; "" where first */
} Line;

typedef struct
{
  guint columns;   /* of the screen */
  gboolean utf8;   /* the terminal shows more than ASCII */
  const char *bar; /* (nullable): why it can't be approved here, where the card does not say so */
  guint64 boottime;
} LayoutOptions;

/* layout_card: (element-type Line) (transfer full) */
GPtrArray *layout_card (const Card *card, const LayoutOptions *options);

/*
 * layout_page: the lines of one page.
 * @rows: lines that a page may have, at least 2
 * @start: of the page, 0 for the first
 *
 * Returns: where the next page starts; @lines->len after the last.  A heading or the top of a frame
 * does not stand last, and the end of a frame not first, unless the page would be empty.
 */
guint layout_page (GPtrArray *lines, guint start, guint rows);

G_END_DECLS
