/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passkeys: what is known of an enrolled credential, the checks of an assertion (WebAuthn Level 3,
 * section 7.2) and of a registration (section 7.1).  libfido2 checks the signature; everything else
 * is checked here, before it.  No check looks anything up: the caller passes what must hold.
 */
#pragma once

#include "service/base/pae.h"
#include "service/passkey/roots.h"

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define PASSKEY_CREDENTIAL_MAX 1023 /* bytes of a credential id */
#define PASSKEY_CLIENT_DATA_MAX 4096
#define PASSKEY_AUTH_DATA_SIZE 37
#define PASSKEY_SIGNATURE_MAX 256
#define PASSKEY_ATTESTATION_MAX 8192

typedef enum
{
  PASSKEY_ES256 = -7, /* COSE algorithm identifiers, RFC 9053 */
  PASSKEY_EDDSA = -8,
} PasskeyAlgorithm;

typedef struct
{
  GBytes *credential; /* credential id */
  char *name;         /* the approver, a user name */
  uid_t uid;          /* and uid, both as enrolled */
  char *kind;         /* "hardware", "unattested", "synced", "phone" or "software" */
  PasskeyAlgorithm algorithm;
  GBytes *public_key; /* ES256: x || y, 64 bytes; EdDSA: 32 bytes */
  char *rp;           /* relying party id */
  char *origin;       /* exact origin of its ceremonies, or "" for a key held on the desktop */
  char *label;        /* the person's own word for it */
  guint8 aaguid[16];
  gboolean backup_eligible;
  guint32 counter;
  gint64 enrolled; /* wall time, for display */
  gboolean active; /* not revoked and not suspect */
} Passkey;

void passkey_free (Passkey *passkey);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Passkey, passkey_free)

typedef struct
{
  GBytes *client_data; /* clientDataJSON */
  GBytes *auth_data;   /* authenticatorData, raw */
  GBytes *signature;
} Assertion;

void assertion_clear (Assertion *assertion);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Assertion, assertion_clear)

/* passkey_origin: what client data must name: @origin, or where that is "" the relying party id: a
 * key held on the desktop has "undersign:<host>" for both, which no browser can claim.  Borrowed.
 */
const char *passkey_origin (const char *rp, const char *origin);

/*
 * passkey_verify: every check of an assertion but that of the counter, in the order of
 * dbus/reason.h; the first that fails names the error (US_ERROR_WRONG_ASSERTION).
 * @challenge: what the statement demands
 * @out_counter: (out): the asserted counter, for passkey_check_counter()
 */
gboolean passkey_verify (const Passkey *passkey,
                         const guint8 challenge[PAE_DIGEST_SIZE],
                         const Assertion *assertion,
                         guint32 *out_counter,
                         GError **error);

/* passkey_check_counter: 0 after 0 is fine, else it must have grown; reason counter. */
gboolean passkey_check_counter (const Passkey *passkey, guint32 counter, GError **error);

typedef struct
{
  const char *rp;
  const char *origin; /* "" for a key held on the desktop */
  guint8 challenge[PAE_DIGEST_SIZE];
  GBytes *client_data;
  GBytes *attestation;           /* the attestationObject, CBOR */
  const AttestationRoots *roots; /* (nullable): of the makers of hardware keys */
} Registration;

/*
 * passkey_register: checks a registration and fills in credential, algorithm, public_key, rp,
 * origin, aaguid, backup_eligible, counter and active of a new passkey; name, kind and label are ""
 * and uid is (uid_t) -1 until the caller sets them.  Without roots, attestation "none" and "packed"
 * self are accepted and a chain is refused; with roots, a chain to one of them is accepted and
 * nothing else, so that nobody becomes "hardware" unverified.
 *
 * Returns: (transfer full) (nullable): NULL with US_ERROR_WRONG_ASSERTION: the reasons of an
 *   assertion where they apply, attestation for an object of another form, attestation-chain.
 */
Passkey *passkey_register (const Registration *registration, GError **error);

/*
 * passkey_warm: has the libraries fetch and build what the first signature takes, by verifying one that
 * is nobody's; nothing comes of it.
 */
void passkey_warm (void);

G_END_DECLS
