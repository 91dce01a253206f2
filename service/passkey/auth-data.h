/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* authenticatorData: what the authenticator says of itself (WebAuthn Level 3, section 6.1). */
#pragma once

#include "service/passkey/passkey.h"

#include <glib.h>

G_BEGIN_DECLS

/*
 * auth_data_check_assertion:
 * @backup_eligible: as enrolled
 *
 * Returns: FALSE with US_ERROR_WRONG_ASSERTION: auth-data-size, rp-id, user-presence,
 *   user-verification, flags or backup-flags, the first that fails in this order.
 */
gboolean auth_data_check_assertion (GBytes *auth_data,
                                    const char *rp,
                                    gboolean backup_eligible,
                                    guint32 *out_counter,
                                    GError **error);

/*
 * auth_data_read_attested: reads header, attested credential and extensions to the last byte, and
 * fills in aaguid, credential, algorithm, public_key, backup_eligible and counter.  It judges the
 * form alone; auth_data_check_registration() judges the rest.
 *
 * Returns: FALSE with reason auth-data-size, flags, attestation, algorithm or public-key.
 */
gboolean auth_data_read_attested (const guint8 *data, gsize len, Passkey *passkey, GError **error);

/* auth_data_check_registration: rp-id, user-presence, user-verification, flags, backup-flags. */
gboolean
auth_data_check_registration (const guint8 *data, gsize len, const char *rp, GError **error);

G_END_DECLS
