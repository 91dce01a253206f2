/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of a request: sealed memfds as they came over the bus, and their copies on disk, from
 * which a restarted daemon makes sealed memfds again.  Copying and hashing go on in slices, of all
 * jobs together one in a turn of the main loop.
 */
#pragma once

#include "service/base/handover.h"

#include <gio/gio.h>
#include <gio/gunixfdlist.h>

G_BEGIN_DECLS

typedef struct
{
  gatomicrefcount refs;
  int fds[HANDOVER_MAX_FILES];
  guint64 sizes[HANDOVER_MAX_FILES];
  guint n;
  guint64 bytes;      /* of all */
  gboolean is_stored; /* they are on the disk, and not loaded: there are no descriptors */
} Files;

/*
 * files_new_steal: the descriptors of a message, each checked to be a fully sealed memfd within the
 * sizes before a byte is read.
 * @list: (nullable): loses its descriptors, whether this succeeds or not
 */
Files *files_new_steal (GUnixFDList *list, GError **error);
Files *files_ref (Files *files);
void files_unref (Files *files);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Files, files_unref)

/*
 * Three jobs that never call back from within.  Those of one uid are done one after the other, and
 * uids take turns by slices: who has many waits for them alone.
 * files_digest: SHA-256 of each file.
 * files_spool: copies them into DIR/ID/0, 1, …; a partial copy is removed.
 * files_load: makes sealed memfds of the copies that there are.
 * @dirfd: of the spool; must stay open until the callback
 */
typedef struct
{
  Files *files;               /* borrowed */
  const guint8 (*digests)[32]; /* of files_digest() alone */
} FilesDone;

/* @done: only good within the call; NULL on error */
typedef void (*FilesCallback) (const FilesDone *done, const GError *error, gpointer data);

void files_digest (Files *files, uid_t uid, FilesCallback callback, gpointer data);
void files_spool (
    Files *files, uid_t uid, int dirfd, const char *id, FilesCallback callback, gpointer data);
void
files_load (uid_t uid, int dirfd, const char *id, FilesCallback callback, gpointer data);
/* files_stop: every job that is under way ends with an error. */
void files_stop (void);

/* files_open: a copy, to be read by somebody else; -1 with reason not-found. */
int files_open (int dirfd, const char *id, guint index, GError **error);
/* files_rename: the copies are now those of another request; where there are none it does nothing. */
gboolean files_rename (
    int dirfd, const char *from, const char *to, const Files *files, GError **error);
/* files_stored: the copies that there are, not loaded; one that can't be looked at is there. */
Files *files_stored (int dirfd, const char *id);
/* files_drop: removes the copies; that there are none is no error. */
void files_drop (int dirfd, const char *id);
/* files_sweep: removes every copy whose id is not a key of @keep. */
void files_sweep (int dirfd, GHashTable *keep);

/* files_have_room: whether the disk holds @bytes more and leaves @reserve free. */
gboolean files_have_room (int dirfd, guint64 bytes, guint64 reserve, GError **error);

G_END_DECLS
