/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What goes out on a descriptor, without ever waiting for who reads it.  What it does not take yet
 * is kept, up to a limit.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct Output Output;

/*
 * OutputChanged: all that was kept is out, or @broken: nothing more goes out, since nobody reads or
 * more than the limit would have to be kept.
 */
typedef void (*OutputChanged) (gboolean broken, gpointer data);

/* output_new: @fd: borrowed, and left in the mode that it is in; @max: bytes that are kept */
Output *output_new (int fd, gsize max, OutputChanged changed, gpointer data);
void output_free (Output *output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Output, output_free)

/* output_send: nothing, once it is broken.  @changed may be called before it returns. */
void output_send (Output *output, const char *bytes, gsize len);

/* output_is_empty: nothing is kept. */
gboolean output_is_empty (const Output *output);

G_END_DECLS
