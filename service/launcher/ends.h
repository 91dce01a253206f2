/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a command and whoever had it started have between them: a terminal and a socket. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* ends_terminal: a new terminal; @out_slave is kept until the command has it, or the other end would
 * look closed. */
gboolean
ends_terminal (guint16 rows, guint16 columns, int *out_master, int *out_slave, GError **error);

/* ends_link: @out_far is for whoever had it started. */
gboolean ends_link (int *out_near, int *out_far, GError **error);

/* ends_say: FALSE: nobody has the other end of the link any more, or ever reads @word. */
gboolean ends_say (int near, const char *word);

G_END_DECLS
