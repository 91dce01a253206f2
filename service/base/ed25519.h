/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ed25519 (RFC 8032) over the pre-authentication encoding: a signature always has a type, so that
 * none is good for two things.  The private key is its seed of 32 bytes.
 */
#pragma once

#include "service/base/secret.h"

#include <glib.h>

G_BEGIN_DECLS

#define ED25519_SEED_SIZE 32
#define ED25519_PUBLIC_SIZE 32
#define ED25519_SIGNATURE_SIZE 64

/* ed25519_public: FALSE with reason internal where @seed is of another size or memory can't be
 * locked. */
gboolean
ed25519_public (Secret *seed, guint8 out_public[ED25519_PUBLIC_SIZE], GError **error);

/* ed25519_sign: over PAE (@type, @body). */
gboolean ed25519_sign (Secret *seed,
                       const char *type,
                       GBytes *body,
                       guint8 out_signature[ED25519_SIGNATURE_SIZE],
                       GError **error);

/* ed25519_verify: FALSE for anything but a good signature. */
gboolean ed25519_verify (const guint8 public[ED25519_PUBLIC_SIZE],
                         const char *type,
                         GBytes *body,
                         const guint8 signature[ED25519_SIGNATURE_SIZE]);

G_END_DECLS
