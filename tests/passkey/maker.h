/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A maker of security keys for the tests: authorities, and keys that they attest, each certificate
 * wrong in whatever way a test asks for.
 */
#pragma once

#include "tests/passkey/fixture.h"

#include <glib.h>
#include <openssl/x509.h>

typedef struct
{
  X509 *certificate;
  EVP_PKEY *key;
} Issuer;

void issuer_free (Issuer *issuer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Issuer, issuer_free)

typedef enum
{
  AAGUID_RIGHT,
  AAGUID_ABSENT,
  AAGUID_OTHER,
  AAGUID_BARE, /* not wrapped in an octet string of its own */
  AAGUID_LONG,
  AAGUID_CRITICAL,
  AAGUID_TWICE,
} AaguidForm;

/* What makes a certificate; all zero is an authority's, good from yesterday for two days. */
typedef struct
{
  const char *name;
  gboolean leaf;             /* of a key: no authority, with a unit and an AAGUID */
  gboolean no_constraints;   /* says nothing of authority */
  gboolean wrong_constraint; /* says the opposite of what it should */
  gboolean version_1;
  gboolean no_unit, no_country;
  AaguidForm aaguid;
  int from, until;       /* days from now; both 0: yesterday to tomorrow */
  const char *path_len;  /* (nullable): e.g. "0" */
  const char *algorithm; /* (nullable): "P-384", "ED25519"; P-256 */
  gboolean sha1, unknown_critical;
} CertificatePlan;

/* issuer_new: @by is (nullable): it signs itself then. */
Issuer *issuer_new (const CertificatePlan *plan, const Issuer *by);

/* issuer_write_pem: appends the certificate to the file @name of @folder. */
void issuer_write_pem (const Issuer *issuer, const char *folder, const char *name);

/*
 * maker_attestation: the new key @key, attested by the key of @leaf.
 * @chain: (array length=n): certificates that come along behind it
 * @algorithm: what the statement says
 */
GBytes *maker_attestation (TestKey *key,
                           GBytes *client_data,
                           guint8 flags,
                           const Issuer *leaf,
                           const Issuer *const *chain,
                           guint n,
                           int algorithm);

/* maker_folder: a new empty folder; maker_folder_remove: with the files in it. */
char *maker_folder (void);
void maker_folder_remove (char *path);
