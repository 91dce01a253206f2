/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making a blocking call of an asynchronous one: inside the library only. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Start the operation between sync_begin() and sync_wait(), with sync_done and &sync. */
typedef struct
{
  GMainContext *context;
  GAsyncResult *result;
} Sync;

void sync_begin (Sync *sync);
void sync_done (GObject *source, GAsyncResult *result, gpointer sync);
/* sync_wait: runs only what belongs to the operation.  Returns: (transfer full): its result. */
GAsyncResult *sync_wait (Sync *sync);

G_END_DECLS
