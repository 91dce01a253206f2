/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host key: Ed25519, made by the executor when it is first needed and kept beside the ledger.
 * It signs checkpoints and outcomes, and nothing else; it approves nothing.
 */
#pragma once

#include "service/base/signed.h"
#include "service/executor/executor.h"

#include <glib.h>

G_BEGIN_DECLS

#define HOST_KEY_NAME "host.key"

typedef struct HostKey HostKey;

/* host_key_open: reads the key, or makes it, and has the audit log name it.  FALSE with reason
 * untrusted-file, ledger or internal. */
HostKey *host_key_open (Executor *executor, GError **error);
void host_key_free (HostKey *key);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (HostKey, host_key_free)

const char *host_key_id (const HostKey *key);

/* host_key_sign: undersign.signed/1 over @body, as a tree.  (transfer full) (nullable) */
JsonTree *host_key_sign (HostKey *key, const char *type, GBytes *body, GError **error);

/* host_key_checkpoint: of the ledger as it is. */
JsonTree *host_key_checkpoint (HostKey *key, Executor *executor, GError **error);

G_END_DECLS
