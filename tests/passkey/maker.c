/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See maker.h.  OpenSSL writes the certificates; the extension of the AAGUID is put in by hand. */
#include "tests/passkey/maker.h"

#include <glib/gstdio.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <string.h>

#define AAGUID_OID "1.3.6.1.4.1.45724.1.1.4"
#define UNKNOWN_OID "1.3.6.1.4.1.45724.9.9"
#define DAY (24 * 60 * 60)

void
issuer_free (Issuer *issuer)
{
  X509_free (issuer->certificate);
  EVP_PKEY_free (issuer->key);
  g_free (issuer);
}

static void
put_extension (X509 *certificate, const char *oid, gboolean critical, const void *data, gsize len)
{
  ASN1_OBJECT *object = OBJ_txt2obj (oid, 1);
  ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new ();
  X509_EXTENSION *extension = NULL;

  ASN1_OCTET_STRING_set (value, data, (int) len);
  extension = X509_EXTENSION_create_by_OBJ (NULL, object, critical, value);
  g_assert_cmpint (X509_add_ext (certificate, extension, -1), ==, 1);
  X509_EXTENSION_free (extension);
  ASN1_OCTET_STRING_free (value);
  ASN1_OBJECT_free (object);
}

static void
put_aaguid (X509 *certificate, AaguidForm form)
{
  /* test_attested() writes this AAGUID */
  guint8 value[2 + 17] = { 0x04, 0x10, form == AAGUID_OTHER ? 0xab : 0xaa };

  if (form == AAGUID_ABSENT)
    return;
  if (form == AAGUID_LONG)
    value[1] = 17;
  if (form == AAGUID_BARE)
    put_extension (certificate, AAGUID_OID, FALSE, value + 2, 16);
  else
    put_extension (certificate, AAGUID_OID, form == AAGUID_CRITICAL, value,
                   form == AAGUID_LONG ? 19 : 18);
  if (form == AAGUID_TWICE)
    put_extension (certificate, AAGUID_OID, FALSE, value, 18);
}

static void
put_constraints (X509 *certificate, const CertificatePlan *plan)
{
  gboolean authority = plan->leaf == plan->wrong_constraint;
  g_autofree char *text = g_strdup_printf ("critical,CA:%s%s%s", authority ? "TRUE" : "FALSE",
                                           plan->path_len != NULL ? ",pathlen:" : "",
                                           plan->path_len != NULL ? plan->path_len : "");
  X509_EXTENSION *extension = X509V3_EXT_nconf_nid (NULL, NULL, NID_basic_constraints, text);

  g_assert_nonnull (extension);
  g_assert_cmpint (X509_add_ext (certificate, extension, -1), ==, 1);
  X509_EXTENSION_free (extension);
}

static void
put_entry (X509_NAME *name, const char *field, const char *text)
{
  g_assert_cmpint (
      X509_NAME_add_entry_by_txt (name, field, MBSTRING_UTF8, (const guint8 *) text, -1, -1, 0), ==,
      1);
}

static void
put_names (X509 *certificate, const CertificatePlan *plan)
{
  X509_NAME *name = X509_get_subject_name (certificate);

  if (!plan->no_country)
    put_entry (name, "C", "XX");
  put_entry (name, "O", "Test Maker");
  if (plan->leaf && !plan->no_unit)
    put_entry (name, "OU", "Authenticator Attestation");
  put_entry (name, "CN", plan->name);
}

static EVP_PKEY *
key_make (const CertificatePlan *plan)
{
  if (g_strcmp0 (plan->algorithm, "ED25519") == 0)
    return EVP_PKEY_Q_keygen (NULL, NULL, "ED25519");
  return EVP_EC_gen (plan->algorithm != NULL ? plan->algorithm : "P-256");
}

Issuer *
issuer_new (const CertificatePlan *plan, const Issuer *by)
{
  Issuer *issuer = g_new0 (Issuer, 1);
  const Issuer *signer = by != NULL ? by : issuer;
  gboolean usual = plan->from == 0 && plan->until == 0;
  const EVP_MD *digest = plan->sha1 ? EVP_sha1 () : EVP_sha256 ();
  guint32 serial = 0;

  issuer->key = key_make (plan);
  issuer->certificate = X509_new ();
  g_assert_nonnull (issuer->key);
  X509_set_version (issuer->certificate, plan->version_1 ? X509_VERSION_1 : X509_VERSION_3);
  g_assert_cmpint (RAND_bytes ((guint8 *) &serial, sizeof serial), ==, 1);
  ASN1_INTEGER_set (X509_get_serialNumber (issuer->certificate), serial & G_MAXINT32);
  X509_gmtime_adj (X509_getm_notBefore (issuer->certificate), (usual ? -1 : plan->from) * DAY);
  X509_gmtime_adj (X509_getm_notAfter (issuer->certificate), (usual ? 1 : plan->until) * DAY);
  put_names (issuer->certificate, plan);
  X509_set_issuer_name (issuer->certificate, X509_get_subject_name (signer->certificate));
  X509_set_pubkey (issuer->certificate, issuer->key);
  if (!plan->version_1 && !plan->no_constraints)
    put_constraints (issuer->certificate, plan);
  if (!plan->version_1 && plan->leaf)
    put_aaguid (issuer->certificate, plan->aaguid);
  if (plan->unknown_critical)
    put_extension (issuer->certificate, UNKNOWN_OID, TRUE, "\x05\x00", 2);
  g_assert_cmpint (X509_sign (issuer->certificate, signer->key,
                              EVP_PKEY_is_a (signer->key, "ED25519") ? NULL : digest),
                   >, 0);
  return issuer;
}

void
issuer_write_pem (const Issuer *issuer, const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  FILE *file = fopen (path, "a");

  g_assert_nonnull (file);
  g_assert_cmpint (PEM_write_X509 (file, issuer->certificate), ==, 1);
  g_assert_cmpint (fclose (file), ==, 0);
  g_assert_cmpint (g_chmod (path, 0644), ==, 0);
}

static void
put_certificate (GByteArray *out, const Issuer *issuer)
{
  guint8 *der = NULL;
  int len = i2d_X509 (issuer->certificate, &der);

  g_assert_cmpint (len, >, 0);
  cbor_put_bytes (out, der, (gsize) len);
  OPENSSL_free (der);
}

GBytes *
maker_attestation (TestKey *key,
                   GBytes *client_data,
                   guint8 flags,
                   const Issuer *leaf,
                   const Issuer *const *chain,
                   guint n,
                   int algorithm)
{
  g_autoptr (GByteArray) attested = test_attested (key, 32);
  g_autoptr (GBytes) auth_data = test_auth_data (TEST_RP, flags, 3, attested);
  g_autoptr (GBytes) signature = test_sign (leaf->key, client_data, auth_data);
  GByteArray *out = g_byte_array_new ();
  gsize len;
  const void *data = g_bytes_get_data (signature, &len);

  cbor_put_head (out, 5, 3);
  cbor_put_text (out, "fmt");
  cbor_put_text (out, "packed");
  cbor_put_text (out, "attStmt");
  cbor_put_head (out, 5, 3);
  cbor_put_text (out, "alg");
  cbor_put_int (out, algorithm);
  cbor_put_text (out, "sig");
  cbor_put_bytes (out, data, len);
  cbor_put_text (out, "x5c");
  cbor_put_head (out, 4, 1 + n);
  put_certificate (out, leaf);
  for (guint i = 0; i < n; i++)
    put_certificate (out, chain[i]);
  cbor_put_text (out, "authData");
  data = g_bytes_get_data (auth_data, &len);
  cbor_put_bytes (out, data, len);
  return g_byte_array_free_to_bytes (out);
}

char *
maker_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *path = g_dir_make_tmp ("undersign-attestation-XXXXXX", &error);

  g_assert_no_error (error);
  return path;
}

void
maker_folder_remove (char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);

  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      g_assert_cmpint (g_remove (file), ==, 0);
    }
  g_assert_cmpint (g_rmdir (path), ==, 0);
  g_free (path);
}
