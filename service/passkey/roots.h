/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The makers of security keys that root trusts: certificates of authorities, from PEM files in one
 * folder, and whether a registration was attested by one of them.
 */
#pragma once

#include "service/passkey/attestation.h"

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define ATTESTATION_ROOTS_SUFFIX ".pem"
#define ATTESTATION_ROOTS_FILE_MAX (256 * 1024)
#define ATTESTATION_ROOTS_FILES_MAX 256

typedef struct AttestationRoots AttestationRoots;

/*
 * attestation_roots_load: every NAME.pem of the folder @path, each with one or more certificates of
 * authorities; hidden files are passed over.
 * @owner: who must own folder and files; nobody else may be able to write them
 *
 * Returns: (transfer full) (nullable): none where there is no such folder.  NULL with a GError that
 *   names the file: G_FILE_ERROR, or US_ERROR with reason untrusted-file, too-large, internal
 *   or bad-value: a name of another form, no certificate, or one of no authority.
 */
AttestationRoots *attestation_roots_load (const char *path, uid_t owner, GError **error);
void attestation_roots_free (AttestationRoots *roots);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AttestationRoots, attestation_roots_free)

/* attestation_roots_count: how many certificates. */
guint attestation_roots_count (const AttestationRoots *roots);

/*
 * attestation_roots_verify: that @attestation, of form ATTESTATION_CHAIN, is signed by a key of
 * the model @aaguid whose certificate leads to one of @roots, now.
 * @signed_data: authenticator data and hash of the client data
 *
 * A root or an intermediate among @roots ends the chain; certificates that came along help to get
 * there and are trusted in nothing.
 *
 * Returns: FALSE with US_ERROR_WRONG_ASSERTION: attestation-chain, algorithm, assertion-size or
 *   signature.
 */
gboolean attestation_roots_verify (const AttestationRoots *roots,
                                   const Attestation *attestation,
                                   const guint8 aaguid[16],
                                   GBytes *signed_data,
                                   GError **error);

G_END_DECLS
