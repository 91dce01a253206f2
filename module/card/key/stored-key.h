/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One software passkey as it is kept: a canonical JSON object, undersign.passkey/1. */
#pragma once

#include "module/card/key/private-key.h"

#include <glib.h>

G_BEGIN_DECLS

#define STORED_KEY_FORMAT "undersign.passkey/1"
#define STORED_KEY_MAX 8192
#define STORED_KEY_ID_SIZE 32
#define STORED_KEY_LABEL_MAX 64

typedef struct
{
  GBytes *credential; /* credential id, STORED_KEY_ID_SIZE random bytes */
  char *rp;
  char *label;
  guint32 counter; /* of the last signature */
  guint8 point[PRIVATE_KEY_POINT_SIZE];
  GBytes *sealed; /* private_key_seal() */
} StoredKey;

void stored_key_free (StoredKey *key);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StoredKey, stored_key_free)

GBytes *stored_key_encode (const StoredKey *key);

/* stored_key_decode: strict; @name is where it was kept and must be its own.  NULL with key-store.
 */
StoredKey *stored_key_decode (GBytes *bytes, const char *name, GError **error);

/* stored_key_name: the credential id as text, which names it in a store.  (transfer full) */
char *stored_key_name (GBytes *credential);

G_END_DECLS
