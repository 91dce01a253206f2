/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Idempotency keys.  The id of a request follows from its key and uid, so that the ledger, whose
 * primary key it is, lets it run once even where the queue has forgotten it; and from a secret, so
 * that an agent cannot choose keys for the ids that they give.
 */
#pragma once

#include "service/base/secret.h"
#include "service/broker/files.h"

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define KEY_MAX 128

/* key_check: 1 to KEY_MAX printable ASCII characters without spaces. */
gboolean key_check (const char *key, GError **error);

/* key_request_id: 32 lower-case hex digits; @id_key is that of id-key.h. */
char *key_request_id (Secret *id_key, uid_t uid, const char *key);

/*
 * key_digest: of what is asked under a key: the action, every argument as sent, with the content of
 * files in place of handles, and whose place it is to take.
 * @supersedes: (nullable): request id
 * @arguments: a(sv)
 * @digests: of the files, (array length=n)
 *
 * Returns: NULL with reason bad-handle.
 */
char *key_digest (const char *action,
                  const char *supersedes,
                  GVariant *arguments,
                  const guint8 (*digests)[32],
                  guint n,
                  GError **error);

G_END_DECLS
