/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When a card may be approved, the same for every renderer: it is all there, it has been seen to
 * its end, and for the last second it had the focus and did not change.  Approve is dead until then
 * and dead again after each change; Deny has the focus and is alive at once.
 *
 * A pure object: the renderer tells it what happened and when, and asks.  Times are microseconds of
 * any clock that does not go back.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ARMING_DELAY ((guint64) G_USEC_PER_SEC)

typedef struct
{
  gboolean barred;  /* this card can be denied only */
  gboolean shown;   /* it has been drawn */
  gboolean focused; /* the person's input goes to it */
  gboolean seen;    /* its end has been seen */
  guint64 since;    /* of the last change of what is above, of its content or place */
} Arming;

/* arming_init: nothing has been drawn: dead.  @barred: and stays so, until arming_content(). */
void arming_init (Arming *arming, gboolean barred);

/* arming_content: the card was drawn with new content, which nobody has seen the end of. */
void arming_content (Arming *arming, gboolean barred, guint64 now);

/* arming_focus: it got the focus or lost it; telling the same again changes nothing. */
void arming_focus (Arming *arming, gboolean focused, guint64 now);

/* arming_moved: it was moved, resized or uncovered under the person's hand. */
void arming_moved (Arming *arming, guint64 now);

/* arming_seen: the end of the content was on the screen. */
void arming_seen (Arming *arming);

/* arming_is_armed: whether an approval given @now counts. */
gboolean arming_is_armed (const Arming *arming, guint64 now);

/*
 * arming_wait: what is left until arming_is_armed() by time alone: 0 where it holds, G_MAXUINT64
 * where something else is missing.  For a timer.
 */
guint64 arming_wait (const Arming *arming, guint64 now);

/* arming_take: arming_is_armed(), and if so it is dead again: one approval for one look. */
gboolean arming_take (Arming *arming, guint64 now);

G_END_DECLS
