/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clientDataJSON: what the browser or card says it was asked (WebAuthn Level 3, section 5.8.1). */
#pragma once

#include "service/base/pae.h"

#include <glib.h>

G_BEGIN_DECLS

#define CLIENT_DATA_GET "webauthn.get"
#define CLIENT_DATA_CREATE "webauthn.create"

/*
 * client_data_check:
 * @client_data: untrusted, at most PASSKEY_CLIENT_DATA_MAX bytes
 * @type: CLIENT_DATA_GET or CLIENT_DATA_CREATE
 * @origin: the one origin, compared byte for byte
 *
 * Returns: FALSE with US_ERROR_WRONG_ASSERTION: client-data, client-type, challenge, origin,
 *   cross-origin or top-origin, the first that fails in this order.
 */
gboolean client_data_check (GBytes *client_data,
                            const char *type,
                            const guint8 challenge[PAE_DIGEST_SIZE],
                            const char *origin,
                            GError **error);

G_END_DECLS
