/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attestation object of a registration, read (WebAuthn Level 3, sections 6.5.4 and 8.2). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ATTESTATION_CERTIFICATES_MAX 6

typedef enum
{
  ATTESTATION_NONE,
  ATTESTATION_SELF,  /* "packed": signed by the new key itself */
  ATTESTATION_CHAIN, /* "packed" with x5c: signed by the first certificate's key */
} AttestationForm;

typedef struct
{
  const guint8 *data;
  gsize len;
} AttestationCertificate;

/* Everything points into the bytes that were read. */
typedef struct
{
  AttestationForm form;
  gint64 algorithm; /* of the signature: COSE identifier */
  const guint8 *signature;
  gsize signature_len;
  AttestationCertificate certificates[ATTESTATION_CERTIFICATES_MAX]; /* DER; unverified */
  guint n_certificates;
  const guint8 *auth_data;
  gsize auth_data_len;
} Attestation;

/*
 * attestation_read: @bytes must be one strict CBOR object of one of the three forms, to the last
 * byte.  Nothing is verified.
 * Returns: FALSE with US_ERROR_WRONG_ASSERTION, reason attestation.
 */
gboolean attestation_read (GBytes *bytes, Attestation *out_attestation, GError **error);

G_END_DECLS
