/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The audit chain, followed entry by entry in constant memory.  The executor, undersignctl and
 * whoever has an export all follow it by this; undersign-receipt(7) says what an entry is.
 */
#pragma once

#include "service/base/json.h"
#include "service/base/pae.h"

#include <glib.h>

G_BEGIN_DECLS

#define CHAIN_FORMAT "undersign.audit/1"
#define CHAIN_ENTRY_MAX (1024 * 1024)
#define CHAIN_DETAILS_MAX 256

/* Who says so: the executor checked it itself, uid 0 said it, the broker said it, or it carries a
 * passkey's signature. */
#define AUDIT_EXECUTOR "executor"
#define AUDIT_ADMIN "admin"
#define AUDIT_BROKER "broker"
#define AUDIT_SIGNED "signed"

gboolean chain_source_is_known (const char *source);

/* chain_event_is_of_log: whether it is about the log itself, so that its details count. */
gboolean chain_event_is_of_log (const char *event);

/* chain_hash: of one entry. */
void chain_hash (GBytes *entry, guint8 out_hash[PAE_DIGEST_SIZE]);

/* chain_entry_parse: NULL with reason chain for anything that is not an entry. */
JsonTree *chain_entry_parse (GBytes *entry, GError **error);

/* Starts as { 0 }. */
typedef struct
{
  guint64 seq;                        /* of the last entry; 0 before the first */
  guint8 head[PAE_DIGEST_SIZE];       /* its hash */
  guint64 start;                      /* number of the last entry that is not here */
  guint8 start_head[PAE_DIGEST_SIZE]; /* its hash, as the first entry here says */
  gboolean begun;
  gboolean explained; /* nothing is missing before the first, or an entry says that it was pruned */
  char ledger[33];    /* id; "" where no entry names it */
} Chain;

/* chain_add: FALSE with reason chain where @entry does not continue it.
 * @out_tree: (out) (optional): the entry, read */
gboolean chain_add (Chain *chain, GBytes *entry, JsonTree **out_tree, GError **error);

/* chain_end: FALSE with reason chain where the beginning is missing and nothing here says why. */
gboolean chain_end (const Chain *chain, GError **error);

G_END_DECLS
