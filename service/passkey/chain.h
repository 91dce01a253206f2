/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The certificates of one attestation, held against a store of authorities. */
#pragma once

#include "service/passkey/attestation.h"

#include <glib.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

G_BEGIN_DECLS

G_DEFINE_AUTOPTR_CLEANUP_FUNC (X509, X509_free)

/* chain_verify: as attestation_roots_verify(). */
gboolean chain_verify (X509_STORE *store,
                       const Attestation *attestation,
                       const guint8 aaguid[16],
                       GBytes *signed_data,
                       GError **error);

G_END_DECLS
