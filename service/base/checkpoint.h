/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A checkpoint, undersign.checkpoint/1: up to where the audit chain of one ledger went at a time,
 * signed by the executor's host key.  Kept elsewhere, nothing that happens to the host can change
 * what it says.
 */
#pragma once

#include "service/base/signed.h"

#include <glib.h>

G_BEGIN_DECLS

#define CHECKPOINT_FORMAT "undersign.checkpoint/1"
#define CHECKPOINT_MAX 4096

typedef struct
{
  char *host;   /* as in records */
  char *key;    /* id of the host key */
  char *ledger; /* id of the ledger */
  guint64 seq;  /* of the last entry */
  guint8 head[PAE_DIGEST_SIZE]; /* its hash */
  char *time;
} Checkpoint;

void checkpoint_clear (Checkpoint *checkpoint);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Checkpoint, checkpoint_clear)

GBytes *checkpoint_encode (const Checkpoint *checkpoint);

/* checkpoint_read: verifies the signature; reason bad-signed, bad-key or signature.  Whether the key
 * is the right one the caller has to say. */
gboolean checkpoint_read (const JsonTree *tree, Checkpoint *out_checkpoint, GError **error);
/* checkpoint_parse: of a file; a line feed may end it. */
gboolean checkpoint_parse (GBytes *bytes, Checkpoint *out_checkpoint, GError **error);

G_END_DECLS
