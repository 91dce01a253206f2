/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A P-256 key and its sealed form: PKCS#8, encrypted by a passphrase through scrypt (RFC 7914). */
#pragma once

#include "service/base/secret.h"

#include <glib.h>
#include <openssl/evp.h>

G_BEGIN_DECLS

#define PRIVATE_KEY_POINT_SIZE 64
#define PRIVATE_KEY_SEALED_MAX 4096

/* private_key_prepare: keeps OpenSSL's secrets in locked memory; once a process, before any key. */
void private_key_prepare (void);

EVP_PKEY *private_key_generate (GError **error);

/* private_key_point: x || y. */
gboolean
private_key_point (EVP_PKEY *key, guint8 out_point[PRIVATE_KEY_POINT_SIZE], GError **error);

/* private_key_seal: (transfer full): the encrypted PKCS#8, DER. */
GBytes *private_key_seal (EVP_PKEY *key, Secret *passphrase, GError **error);

/*
 * private_key_unseal:
 * @sealed: as private_key_seal() wrote it: the very scheme and cost, no other
 * @point: what the key's public half must be
 *
 * Returns: (transfer full) (nullable): NULL with reason key-store for another form, or passphrase.
 */
EVP_PKEY *private_key_unseal (GBytes *sealed,
                              Secret *passphrase,
                              const guint8 point[PRIVATE_KEY_POINT_SIZE],
                              GError **error);

/* private_key_sign: ES256 over @first || @second, DER. */
GBytes *private_key_sign (EVP_PKEY *key, GBytes *first, GBytes *second, GError **error);

G_END_DECLS
