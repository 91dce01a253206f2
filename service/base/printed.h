/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a program printed has arrived, or the program says so and does not end with 0: a receipt on
 * a full disk is none.  For the programs that people and agents call; printf() and its like need no
 * check of their own then.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * printed_watch:
 * @program: (not copied): what its messages begin with
 * @status: how the program ends instead of with 0 where standard output took not all
 *
 * Looks when the program ends, whoever ends it, --help of GLib's included.  A status that says already
 * that something was refused stays.  Calling it again changes nothing.
 */
void printed_watch (const char *program, int status);

G_END_DECLS
