/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last step of passkey_verify(), for itself: the tests hold foreign samples against it. */
#pragma once

#include "service/passkey/passkey.h"

#include <glib.h>

G_BEGIN_DECLS

/*
 * assertion_check_signature: that @assertion is signed by @passkey over its authenticator data and
 * client data, for the relying party of @passkey.  Nothing else is looked at.
 *
 * Returns: FALSE with reason algorithm, public-key or signature.
 */
gboolean
assertion_check_signature (const Passkey *passkey, const Assertion *assertion, GError **error);

G_END_DECLS
