/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether what a screen holds is a sequence that may reach a person's terminal.  Only for screen.c. */
#pragma once

#include "module/card/tty/screen.h"

G_BEGIN_DECLS

/* Each says whether it may pass, and notes what it leaves to be undone; one that was too long may not.
 * @last: the byte that ends it, which is not held */
gboolean sequence_escape_passes (const Screen *screen, guint8 last);
gboolean sequence_control_passes (Screen *screen, guint8 last);
gboolean sequence_command_passes (Screen *screen);

/* sequence_undo_modes: adds what sets the modes of @changed, bits as in Screen, as a shell has them. */
void sequence_undo_modes (guint64 changed, GString *text);

G_END_DECLS
