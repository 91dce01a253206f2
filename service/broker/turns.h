/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One at a time: of those who want the same, the first goes on and the others wait, in the order in
 * which they came.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct Turns Turns;
typedef void (*TurnBegin) (gpointer data);

Turns *turns_new (void);
/* turns_free: whoever is still there is not called any more. */
void turns_free (Turns *turns);

/*
 * turns_take: @data is in the row for @what until turns_leave().
 * @what: a name for what is wanted
 * @begin: called with @data when all that came before have left
 *
 * Returns: whether it is its turn already; @begin is not called then.
 */
gboolean turns_take (Turns *turns, const char *what, TurnBegin begin, gpointer data);

/* turns_leave: the next begins where it was the turn of @data, which may be one that waits; but where
 * another is just beginning, after that one, not within. */
void turns_leave (Turns *turns, const char *what, gpointer data);

/* turns_waiting: how many wait for their turn, in all rows. */
guint turns_waiting (const Turns *turns);
/* turns_is_empty: nobody is in any row. */
gboolean turns_is_empty (const Turns *turns);

G_END_DECLS
