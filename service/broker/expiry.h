/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything that is due at a time, on one timer.  Times are CLOCK_BOOTTIME in microseconds, so that
 * a suspended machine is as late as everybody else's clock says, and nobody can set it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct Expiry Expiry;
typedef struct ExpiryTimer ExpiryTimer;

typedef void (*ExpiryCallback) (gpointer data);

/* expiry_new: NULL where the system has no such timer. */
Expiry *expiry_new (GError **error);
/* expiry_free: what is still to come is dropped, not called. */
void expiry_free (Expiry *expiry);

/*
 * expiry_add:
 * @due: may have passed: the callback then comes in the next turn of the main loop
 *
 * Returns: borrowed, until the callback was called or expiry_cancel().
 */
ExpiryTimer *expiry_add (Expiry *expiry, guint64 due, ExpiryCallback callback, gpointer data);
ExpiryTimer *
expiry_add_seconds (Expiry *expiry, guint seconds, ExpiryCallback callback, gpointer data);
/* expiry_cancel: the callback is not called. */
void expiry_cancel (Expiry *expiry, ExpiryTimer *timer);

guint expiry_count (const Expiry *expiry);

G_END_DECLS
