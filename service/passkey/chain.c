/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verifies who made a security key (WebAuthn Level 3, section 8.2).  Called through roots.c, by the
 * executor alone and at enrolment alone.  OpenSSL builds and checks the chain; what it would let
 * pass (no AAGUID, another model's, an authority as a key, an authority without basic constraints)
 * is refused here.  Nothing that came along with a registration is ever an anchor.
 */
#include "service/passkey/chain.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/passkey/passkey.h"
#include "service/passkey/public-key.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/x509v3.h>
#include <string.h>

/* id-fido-gen-ce-aaguid; its value is an octet string within the extension's. */
#define AAGUID_OID "1.3.6.1.4.1.45724.1.1.4"
#define AAGUID_SIZE 16
#define DER_OCTET_STRING 0x04

#define ATTESTATION_UNIT "Authenticator Attestation"
#define CHAIN_DEPTH 6
#define CHAIN_SECURITY 2 /* 112 bits: no SHA-1, RSA from 2048 bits */

typedef STACK_OF (X509) Certificates;

static void
certificates_free (Certificates *certificates)
{
  sk_X509_pop_free (certificates, X509_free);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ASN1_OBJECT, ASN1_OBJECT_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Certificates, certificates_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (X509_STORE_CTX, X509_STORE_CTX_free)

static gboolean
untrusted (GError **error, const char *what)
{
  ERR_clear_error ();
  return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ATTESTATION_CHAIN, "%s", what);
}

/* Every byte must be the certificate's. */
static X509 *
certificate_read (const AttestationCertificate *certificate)
{
  const guint8 *at = certificate->data;
  g_autoptr (X509) read = d2i_X509 (NULL, &at, (long) certificate->len);

  ERR_clear_error ();
  if (read == NULL || at != certificate->data + certificate->len)
    return NULL;
  return g_steal_pointer (&read);
}

static Certificates *
certificates_read (const Attestation *attestation, GError **error)
{
  g_autoptr (Certificates) all = sk_X509_new_null ();

  for (guint i = 0; i < attestation->n_certificates; i++)
    {
      X509 *certificate = certificate_read (&attestation->certificates[i]);

      if (certificate == NULL || all == NULL || sk_X509_push (all, certificate) <= 0)
        {
          X509_free (certificate);
          untrusted (error, "a certificate of the attestation is none");
          return NULL;
        }
    }
  return g_steal_pointer (&all);
}

/* --- the certificate of the key --- */

static gboolean
subject_has (X509 *leaf, int field, const char *wanted)
{
  const X509_NAME *name = X509_get_subject_name (leaf);
  int at = X509_NAME_get_index_by_NID (name, field, -1);
  const ASN1_STRING *value = NULL;

  if (at < 0 || X509_NAME_get_index_by_NID (name, field, at) >= 0)
    return FALSE;
  value = X509_NAME_ENTRY_get_data (X509_NAME_get_entry (name, at));
  if (wanted == NULL)
    return ASN1_STRING_length (value) > 0;
  return (gsize) ASN1_STRING_length (value) == strlen (wanted) &&
         memcmp (ASN1_STRING_get0_data (value), wanted, strlen (wanted)) == 0;
}

static gboolean
aaguid_check (X509 *leaf, const guint8 aaguid[AAGUID_SIZE], GError **error)
{
  g_autoptr (ASN1_OBJECT) oid = OBJ_txt2obj (AAGUID_OID, 1);
  int at = oid != NULL ? X509_get_ext_by_OBJ (leaf, oid, -1) : -1;
  X509_EXTENSION *extension = NULL;
  const ASN1_OCTET_STRING *value = NULL;
  const guint8 *data = NULL;

  if (at < 0 || X509_get_ext_by_OBJ (leaf, oid, at) >= 0)
    return untrusted (error, "the certificate does not name one model of keys");
  extension = X509_get_ext (leaf, at);
  value = X509_EXTENSION_get_data (extension);
  data = ASN1_STRING_get0_data (value);
  if (X509_EXTENSION_get_critical (extension) || ASN1_STRING_length (value) != 2 + AAGUID_SIZE ||
      data[0] != DER_OCTET_STRING || data[1] != AAGUID_SIZE)
    return untrusted (error, "the certificate names its model in another form");
  if (memcmp (data + 2, aaguid, AAGUID_SIZE) != 0)
    return untrusted (error, "the certificate is of another model of keys");
  return TRUE;
}

/* Section 8.2.1. */
static gboolean
leaf_check (X509 *leaf, const guint8 aaguid[AAGUID_SIZE], GError **error)
{
  int critical = 0;
  BASIC_CONSTRAINTS *constraints = NULL;
  gboolean authority = TRUE;

  if (X509_get_version (leaf) != X509_VERSION_3)
    return untrusted (error, "the certificate is not of version 3");
  constraints = X509_get_ext_d2i (leaf, NID_basic_constraints, &critical, NULL);
  authority = constraints == NULL || constraints->ca != 0;
  BASIC_CONSTRAINTS_free (constraints);
  if (authority)
    return untrusted (error, "the certificate does not say that it is no authority's");
  if (!subject_has (leaf, NID_countryName, NULL) ||
      !subject_has (leaf, NID_organizationName, NULL) ||
      !subject_has (leaf, NID_commonName, NULL) ||
      !subject_has (leaf, NID_organizationalUnitName, ATTESTATION_UNIT))
    return untrusted (error, "the certificate is not one for attestation");
  return aaguid_check (leaf, aaguid, error);
}

/* --- the chain --- */

static gboolean
authorities_check (const Certificates *chain, GError **error)
{
  if (sk_X509_num (chain) < 2)
    return untrusted (error, "the certificate stands for itself");
  for (int i = 1; i < sk_X509_num (chain); i++)
    if (X509_get_version (sk_X509_value (chain, i)) != X509_VERSION_3 ||
        X509_check_ca (sk_X509_value (chain, i)) != 1)
      return untrusted (error, "the chain goes through a certificate that is of no authority");
  return TRUE;
}

static gboolean
chain_build (X509_STORE *store, Certificates *certificates, GError **error)
{
  g_autoptr (X509_STORE_CTX) context = X509_STORE_CTX_new ();
  X509_VERIFY_PARAM *parameters = NULL;

  if (context == NULL ||
      X509_STORE_CTX_init (context, store, sk_X509_value (certificates, 0), certificates) != 1)
    return untrusted (error, "the chain could not be built");
  parameters = X509_STORE_CTX_get0_param (context);
  X509_VERIFY_PARAM_set_flags (parameters, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_depth (parameters, CHAIN_DEPTH);
  X509_VERIFY_PARAM_set_auth_level (parameters, CHAIN_SECURITY);
  if (X509_verify_cert (context) != 1)
    return untrusted (error, X509_verify_cert_error_string (X509_STORE_CTX_get_error (context)));
  return authorities_check (X509_STORE_CTX_get0_chain (context), error);
}

/* --- the signature --- */

static gboolean
key_fits (EVP_PKEY *key, gint64 algorithm)
{
  char group[32] = "";
  gsize len = 0;

  if (algorithm == PASSKEY_EDDSA)
    return EVP_PKEY_is_a (key, "ED25519");
  return algorithm == PASSKEY_ES256 && EVP_PKEY_is_a (key, "EC") &&
         EVP_PKEY_get_group_name (key, group, sizeof group, &len) == 1 &&
         strcmp (group, SN_X9_62_prime256v1) == 0;
}

static gboolean
signature_check (X509 *leaf, const Attestation *attestation, GBytes *signed_data, GError **error)
{
  g_autoptr (EVP_PKEY) key = X509_get_pubkey (leaf);

  if (key == NULL || !key_fits (key, attestation->algorithm))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ALGORITHM,
                         "the attestation is signed neither by ES256 nor by EdDSA");
  if (attestation->signature_len > PASSKEY_SIGNATURE_MAX)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ASSERTION_SIZE,
                         "the attestation's signature is over %d bytes", PASSKEY_SIGNATURE_MAX);
  return public_key_verify (key, attestation->signature, attestation->signature_len, signed_data,
                            error);
}

gboolean
chain_verify (X509_STORE *store,
              const Attestation *attestation,
              const guint8 aaguid[AAGUID_SIZE],
              GBytes *signed_data,
              GError **error)
{
  g_autoptr (Certificates) certificates = certificates_read (attestation, error);
  X509 *leaf = NULL;

  if (certificates == NULL)
    return FALSE;
  leaf = sk_X509_value (certificates, 0);
  return chain_build (store, certificates, error) && leaf_check (leaf, aaguid, error) &&
         signature_check (leaf, attestation, signed_data, error);
}
