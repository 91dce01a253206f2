/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The disk under the queue, for tests that have it fail: from disk_install() on, every database that
 * is opened in this process reads, writes, syncs and locks through here.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  DISK_WELL,
  DISK_BROKEN,    /* a read fails */
  DISK_FULL,      /* a write fails */
  DISK_UNSYNCED,  /* a sync fails: what was written can be read all the same */
  DISK_READ_ONLY, /* a sync fails, and every write after it */
} DiskFault;

void disk_install (void);

/*
 * disk_fail: what befalls the operations after the next @after of that kind; DISK_FULL counts the
 *   transactions that write, so that "after 1" leaves one whole; syncs are not counted.
 * @once: only the first of them
 */
void disk_fail (DiskFault fault, guint after, gboolean once);
/* disk_has_struck: whether it came to a fault since. */
gboolean disk_has_struck (void);
/* disk_heal: whether it came to a fault since disk_fail(). */
gboolean disk_heal (void);

G_END_DECLS
