/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between a person's terminal and the one that a command of an agent has. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define RELAY_LOST 255 /* nobody says how the command ended */

/*
 * relay_run: passes what is typed, what is shown and the size, until the command has ended, the
 * person leaves by Ctrl-] three times in a row, or this process is told to end by a signal.
 * Standard input need not be a terminal; its end is passed on as Ctrl-D.
 * @terminal: the master of the command's terminal
 * @link: says how the command ended; a line, or only its end
 * @whose: (nullable): a name; the person is told when the terminal is theirs, and when no more
 * @out_left: (out): whether nobody has said by then that the command has ended
 *
 * Returns: the exit status: the command's, or 128 and the number of the signal that ended it or
 *   this process; RELAY_LOST.
 */
int relay_run (int terminal, int link, const char *whose, gboolean *out_left);

G_END_DECLS
