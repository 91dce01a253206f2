/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Public keys as the ledger keeps them (ES256: x || y; EdDSA: 32 bytes), checked to be a point that
 * a signature can be held against.
 */
#pragma once

#include "service/passkey/passkey.h"

#include <glib.h>
#include <openssl/evp.h>

G_BEGIN_DECLS

#define PUBLIC_KEY_ES256_SIZE 64
#define PUBLIC_KEY_EDDSA_SIZE 32

/*
 * public_key_new:
 * @algorithm: as stored, so possibly none of the two
 *
 * Returns: (transfer full) (nullable): NULL with US_ERROR_WRONG_ASSERTION, reason algorithm, or
 *   public-key for a wrong length, a coordinate not below the prime, a point not on the curve or
 *   one of small order.
 */
EVP_PKEY *public_key_new (PasskeyAlgorithm algorithm, GBytes *key, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_PKEY, EVP_PKEY_free)

/* public_key_verify: @signature over @data; reason signature. */
gboolean public_key_verify (
    EVP_PKEY *key, const guint8 *signature, gsize signature_len, GBytes *data, GError **error);

G_END_DECLS
