/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The audit log, entry by entry: from the service, or from a file that was exported. */
#pragma once

#include "service/base/checkpoint.h"
#include "service/ctl/ctl.h"

G_BEGIN_DECLS

typedef struct
{
  GBytes *bytes;
  const guint8 *hash; /* (nullable): what the service says it is, PAE_DIGEST_SIZE bytes */
} LogEntry;

typedef struct
{
  /* FALSE stops; with @error unset it was enough. */
  gboolean (*entry) (const LogEntry *entry, gpointer data, GError **error);
  /* (nullable): a line of a file that is a checkpoint; the signature is good */
  gboolean (*checkpoint) (const Checkpoint *checkpoint, gpointer data, GError **error);
} LogFuncs;

/* log_walk: from entry @from on, or the first that is left. */
gboolean
log_walk (Ctl *ctl, guint64 from, const LogFuncs *funcs, gpointer data, GError **error);

/* log_walk_file: in constant memory; reason chain for a line that is neither. */
gboolean
log_walk_file (const char *path, const LogFuncs *funcs, gpointer data, GError **error);

/* log_checkpoint: what the service signs now: the bytes of undersign.signed/1. */
GBytes *log_checkpoint (Ctl *ctl, Checkpoint *out_checkpoint, GError **error);

G_END_DECLS
