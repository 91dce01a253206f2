/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads attestation objects: "none", "packed" self and "packed" with certificates, each with the
 * members of its form and no other.  Called by register.c on bytes that nobody has vouched for.  It
 * must never verify or trust anything: what it returns are places in those bytes.
 */
#include "service/passkey/attestation.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/passkey/cbor.h"

static gboolean
malformed (GError **error, const char *what)
{
  return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ATTESTATION, "%s", what);
}

static gboolean
read_format (Cbor *cbor, gboolean *out_packed, GError **error)
{
  const char *format;
  gsize len;

  if (!cbor_read_text (cbor, &format, &len))
    return malformed (error, "the attestation format is not a text");
  *out_packed = cbor_text_is (format, len, "packed");
  if (!*out_packed && !cbor_text_is (format, len, "none"))
    return malformed (error, "the attestation format is neither none nor packed");
  return TRUE;
}

static gboolean
read_certificates (Cbor *cbor, Attestation *attestation)
{
  guint64 items;

  if (!cbor_read_array (cbor, &items) || items == 0 || items > ATTESTATION_CERTIFICATES_MAX)
    return FALSE;
  for (guint i = 0; i < items; i++)
    {
      AttestationCertificate *certificate = &attestation->certificates[i];

      if (!cbor_read_bytes (cbor, &certificate->data, &certificate->len) || certificate->len == 0)
        return FALSE;
    }
  attestation->n_certificates = (guint) items;
  return TRUE;
}

static gboolean
read_packed_member (Cbor *cbor, Attestation *attestation, gboolean *has_algorithm)
{
  const char *name;
  gsize len;

  if (!cbor_read_text (cbor, &name, &len))
    return FALSE;
  if (cbor_text_is (name, len, "alg") && !*has_algorithm)
    {
      *has_algorithm = TRUE;
      return cbor_read_int (cbor, &attestation->algorithm);
    }
  if (cbor_text_is (name, len, "sig") && attestation->signature == NULL)
    return cbor_read_bytes (cbor, &attestation->signature, &attestation->signature_len);
  if (cbor_text_is (name, len, "x5c") && attestation->n_certificates == 0)
    return read_certificates (cbor, attestation);
  return FALSE;
}

/* Two members are alg and sig, three those and x5c: none can be there twice. */
static gboolean
read_packed (Cbor *cbor, guint64 members, Attestation *attestation, GError **error)
{
  gboolean has_algorithm = FALSE;

  if (members != 2 && members != 3)
    return malformed (error, "a packed attestation of other members than alg, sig and x5c");
  for (guint64 i = 0; i < members; i++)
    if (!read_packed_member (cbor, attestation, &has_algorithm))
      return malformed (error, "a packed attestation is not alg and sig, with x5c or without");
  if (!has_algorithm || attestation->signature == NULL)
    return malformed (error, "a packed attestation without alg or sig");
  attestation->form = attestation->n_certificates > 0 ? ATTESTATION_CHAIN : ATTESTATION_SELF;
  return TRUE;
}

static gboolean
read_statement (Cbor *cbor, gboolean packed, Attestation *attestation, GError **error)
{
  guint64 members;

  if (!cbor_read_map (cbor, &members))
    return malformed (error, "the attestation statement is not a map");
  if (packed)
    return read_packed (cbor, members, attestation, error);
  attestation->form = ATTESTATION_NONE;
  return members == 0 || malformed (error, "attestation none with a statement");
}

/* Browsers differ in the order; the statement can only be read after its format. */
static gboolean
read_members (Cbor *cbor, Attestation *attestation, GError **error)
{
  gboolean has_format = FALSE, has_statement = FALSE, packed = FALSE;

  for (guint i = 0; i < 3; i++)
    {
      const char *name;
      gsize len;

      if (!cbor_read_text (cbor, &name, &len))
        return malformed (error, "a name of the attestation object is not a text");
      if (cbor_text_is (name, len, "fmt") && !has_format)
        {
          has_format = TRUE;
          if (!read_format (cbor, &packed, error))
            return FALSE;
        }
      else if (cbor_text_is (name, len, "attStmt") && has_format && !has_statement)
        {
          has_statement = TRUE;
          if (!read_statement (cbor, packed, attestation, error))
            return FALSE;
        }
      else if (cbor_text_is (name, len, "authData") && attestation->auth_data == NULL)
        {
          if (!cbor_read_bytes (cbor, &attestation->auth_data, &attestation->auth_data_len))
            return malformed (error, "authData is not a byte string");
        }
      else
        return malformed (error, "a member of the attestation object is unknown or twice there");
    }
  return TRUE;
}

gboolean
attestation_read (GBytes *bytes, Attestation *out_attestation, GError **error)
{
  Attestation attestation = { 0 };
  gsize len;
  const guint8 *data = g_bytes_get_data (bytes, &len);
  guint64 members;
  Cbor cbor;

  cbor_init (&cbor, data, len);
  if (!cbor_read_map (&cbor, &members) || members != 3)
    return malformed (error, "the attestation object is not a map of three");
  if (!read_members (&cbor, &attestation, error))
    return FALSE;
  if (!cbor_at_end (&cbor))
    return malformed (error, "bytes are left over after the attestation object");

  *out_attestation = attestation;
  return TRUE;
}
