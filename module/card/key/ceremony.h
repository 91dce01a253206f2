/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The byte strings of WebAuthn that are made on this machine, by a software passkey or around what
 * a security key made. */
#pragma once

#include "service/base/pae.h"

#include <glib.h>

G_BEGIN_DECLS

#define CEREMONY_GET "webauthn.get"
#define CEREMONY_CREATE "webauthn.create"
#define CEREMONY_POINT_SIZE 64

/* ceremony_rp_is_valid: whether @rp is "undersign:" and 32 lower-case hex digits. */
gboolean ceremony_rp_is_valid (const char *rp);

/* ceremony_client_data: clientDataJSON; the origin is @rp, which must be valid. */
GBytes *
ceremony_client_data (const char *type, const guint8 challenge[PAE_DIGEST_SIZE], const char *rp);

/* ceremony_auth_data: user present and verified, no extensions, never backed up. */
GBytes *ceremony_auth_data (const char *rp, guint32 counter);

/*
 * ceremony_attestation: attestation "none" of a new ES256 key.
 * @point: x || y
 */
GBytes *ceremony_attestation (const char *rp,
                              guint32 counter,
                              GBytes *credential,
                              const guint8 point[CEREMONY_POINT_SIZE]);

/*
 * ceremony_attestation_object:
 * @format: (nullable): NULL is attestation "none", without @statement
 * @statement: CBOR, as an authenticator made it
 */
GBytes *ceremony_attestation_object (const char *format, GBytes *statement, GBytes *auth_data);

G_END_DECLS
