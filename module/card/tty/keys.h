/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the bytes of a terminal to keys.  Pure. */
#pragma once

#include "module/card/tty/terminal.h"

#include <glib.h>

G_BEGIN_DECLS

/*
 * keys_decode: every key of @data, one after the other, to @out.
 * @complete: nothing more comes of a sequence that @data ends in; a lone Esc then is the Esc key
 * @out: (element-type TerminalEvent)
 *
 * Returns: how many bytes were used; fewer than @len where @data ends within a sequence.
 */
gsize keys_decode (const guint8 *data, gsize len, gboolean complete, GArray *out);

G_END_DECLS
