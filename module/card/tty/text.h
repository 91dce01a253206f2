/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text for a terminal: what may be written, how wide it is at most, and where it breaks.  Pure.
 * Rows come escaped from the record layer; this is the second net, for the terminal's own rules.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * text_safe: @text without anything that a terminal could obey: control, format, unassigned and
 * private characters as \u{XXXX}; where @utf8 is FALSE everything beyond ASCII too.
 * Returns: (transfer full)
 */
char *text_safe (const char *text, gboolean utf8);

/*
 * text_width: the most columns that any terminal gives @text: a character whose width is in doubt
 * counts as two, a combining one as one, so that a page never grows beyond its screen.
 */
guint text_width (const char *text);

/*
 * text_wrap: breaks @text into pieces of at most @columns, at spaces where that loses little, else
 * anywhere; joined, the pieces are @text.
 * @columns: at least 2
 * Returns: (transfer full) (element-type utf8): at least one
 */
GPtrArray *text_wrap (const char *text, guint columns);

/* text_pad: @text with spaces behind, up to @columns.  (transfer full) */
char *text_pad (const char *text, guint columns);

/* text_duration: "9 min 12 s", "2 h 5 min", "3 d 1 h".  (transfer full) */
char *text_duration (guint64 seconds);

G_END_DECLS
