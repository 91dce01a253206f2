/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A public key as an authenticator writes it: COSE_Key, RFC 9052 section 7 and RFC 9053. */
#pragma once

#include "service/passkey/cbor.h"
#include "service/passkey/passkey.h"

#include <glib.h>

G_BEGIN_DECLS

/*
 * cose_read_key: reads one COSE_Key, which must hold the members of its kind and no other.
 * @out_key: (transfer full): as in Passkey, a point of its curve
 *
 * Returns: FALSE with US_ERROR_WRONG_ASSERTION: attestation, algorithm or public-key.
 */
gboolean
cose_read_key (Cbor *cbor, PasskeyAlgorithm *out_algorithm, GBytes **out_key, GError **error);

G_END_DECLS
