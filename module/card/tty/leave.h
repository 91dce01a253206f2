/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds Ctrl-] three times in a row in what a terminal sends, in whichever form the command has
 * asked it to send keys.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define LEAVE_TIMES 3
#define LEAVE_HELD_MAX 64 /* of one sequence; a longer one is no key */

typedef enum
{
  LEAVE_GROUND,
  LEAVE_ESCAPE,
  LEAVE_CONTROL, /* CSI */
  LEAVE_STRING,  /* an answer, to its end */
} LeaveState;

/* All zeros to begin with. */
typedef struct
{
  LeaveState state;
  guint8 held[LEAVE_HELD_MAX];
  gsize held_len;
  gboolean is_too_long;
  guint skip; /* bytes that say where the mouse is */
  guint times;
} Leave;

/*
 * leave_take: what came next.
 * Returns: TRUE when Ctrl-] came LEAVE_TIMES with no other key in between.  What is no key does not
 *   count as one: a command can have the terminal answer as often as it likes.
 */
gboolean leave_take (Leave *leave, const guint8 *bytes, gsize len);

G_END_DECLS
