/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making a blocking call of an asynchronous one: inside the library only. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * All zeros to begin with; of one call:
 *
 *   x_async (…, sync_done, sync_begin (&sync));
 *   return x_finish (…, sync_wait (&sync), error);
 */
typedef struct
{
  GMainContext *context;
  GAsyncResult *result;
} Sync;

Sync *sync_begin (Sync *sync);
void sync_done (GObject *source, GAsyncResult *result, gpointer sync);
/* sync_wait: runs only what belongs to the operation.  Returns: (transfer none): its result. */
GAsyncResult *sync_wait (Sync *sync);

void sync_clear (Sync *sync);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sync, sync_clear)

G_END_DECLS
