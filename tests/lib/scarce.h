/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that runs out, for a test program of its own: scarce.c replaces malloc(), calloc() and
 * realloc() of the whole process, so that those of libfido2 and libcbor fail, too, as OpenSSL's do.
 * GLib's alone never fail: it ends the process where it gets none, which a caller of the worker hears
 * as no answer.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* An attempt must give the same verdict each time that it is let alone. */
typedef gboolean (*ScarceAttempt) (gpointer data);

/* Whose allocations fail. */
typedef enum
{
  SCARCE_FOR_FIDO, /* those of libfido2 and libcbor */
  SCARCE_FOR_ALL,  /* all but GLib's */
} ScarceFor;

/*
 * scarce_run: calls @attempt again and again: each time another allocation is refused, alone, and with
 * all that follow it; at @points points at most, evenly from the first to the last.  What is refused
 * with memory must be refused without; what is taken may be refused.
 * Returns: how many allocations of @of an attempt makes
 */
guint scarce_run (ScarceAttempt attempt, gpointer data, ScarceFor of, guint points);

/* scarce_refused: within an attempt: whether something was refused by now. */
gboolean scarce_refused (void);

G_END_DECLS
