/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the two kinds of key that may be enrolled.  Called by auth-data.c alone.  A member too
 * many, too few or twice is refused, so that one key has one reading.
 */
#include "service/passkey/cose.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/passkey/public-key.h"

#include <string.h>

/* Labels and values of RFC 9052 and RFC 9053. */
#define COSE_KTY 1
#define COSE_ALG 3
#define COSE_CRV (-1)
#define COSE_X (-2)
#define COSE_Y (-3)
#define COSE_KTY_OKP 1
#define COSE_KTY_EC2 2
#define COSE_CRV_P256 1
#define COSE_CRV_ED25519 6
#define COSE_COORDINATE 32
#define COSE_MAX_MEMBERS 8

typedef struct
{
  gboolean has_kty, has_alg, has_crv;
  gint64 kty, alg, crv;
  const guint8 *x, *y;
  gsize x_len, y_len;
  guint others; /* members of no meaning here */
} CoseKey;

static gboolean
malformed (GError **error)
{
  return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ATTESTATION,
                       "the public key is not a COSE key in its strict form");
}

static gboolean
read_once (Cbor *cbor, gboolean *has, gint64 *out_value)
{
  if (*has)
    return FALSE;
  *has = TRUE;
  return cbor_read_int (cbor, out_value);
}

/* A key of another kind may hold anything under other labels: it is counted, to be refused by its
 * algorithm first, which says more. */
static gboolean
read_other (Cbor *cbor, CoseKey *key)
{
  const guint8 *data;
  gsize len, start = cbor->at;
  gint64 value;

  key->others++;
  if (cbor_read_bytes (cbor, &data, &len))
    return TRUE;
  cbor->at = start;
  return cbor_read_int (cbor, &value);
}

static gboolean
read_member (Cbor *cbor, CoseKey *key)
{
  gsize start;
  gint64 label;

  if (!cbor_read_int (cbor, &label))
    return FALSE;
  start = cbor->at;
  switch (label)
    {
    case COSE_KTY:
      return read_once (cbor, &key->has_kty, &key->kty);
    case COSE_ALG:
      return read_once (cbor, &key->has_alg, &key->alg);
    case COSE_CRV:
      if (key->has_crv)
        return FALSE;
      key->has_crv = TRUE;
      if (cbor_read_int (cbor, &key->crv))
        return TRUE;
      cbor->at = start; /* of an RSA key this label is the modulus */
      return read_other (cbor, key);
    case COSE_X:
      return key->x == NULL && cbor_read_bytes (cbor, &key->x, &key->x_len);
    case COSE_Y:
      return key->y == NULL && cbor_read_bytes (cbor, &key->y, &key->y_len);
    default:
      return read_other (cbor, key);
    }
}

static gboolean
read_members (Cbor *cbor, CoseKey *key)
{
  guint64 members;

  if (!cbor_read_map (cbor, &members) || members > COSE_MAX_MEMBERS)
    return FALSE;
  for (guint64 i = 0; i < members; i++)
    if (!read_member (cbor, key))
      return FALSE;
  return key->has_kty && key->has_alg;
}

static GBytes *
es256_bytes (const CoseKey *key)
{
  guint8 xy[PUBLIC_KEY_ES256_SIZE];

  if (key->kty != COSE_KTY_EC2 || !key->has_crv || key->crv != COSE_CRV_P256 || key->x == NULL ||
      key->y == NULL || key->x_len != COSE_COORDINATE || key->y_len != COSE_COORDINATE)
    return NULL;
  memcpy (xy, key->x, COSE_COORDINATE);
  memcpy (xy + COSE_COORDINATE, key->y, COSE_COORDINATE);
  return g_bytes_new (xy, sizeof xy);
}

static GBytes *
eddsa_bytes (const CoseKey *key)
{
  if (key->kty != COSE_KTY_OKP || !key->has_crv || key->crv != COSE_CRV_ED25519 || key->x == NULL ||
      key->x_len != PUBLIC_KEY_EDDSA_SIZE || key->y != NULL)
    return NULL;
  return g_bytes_new (key->x, key->x_len);
}

gboolean
cose_read_key (Cbor *cbor, PasskeyAlgorithm *out_algorithm, GBytes **out_key, GError **error)
{
  g_autoptr (EVP_PKEY) point = NULL;
  g_autoptr (GBytes) bytes = NULL;
  CoseKey key = { 0 };

  if (!read_members (cbor, &key))
    return malformed (error);
  if (key.alg != PASSKEY_ES256 && key.alg != PASSKEY_EDDSA)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ALGORITHM,
                         "COSE algorithm %" G_GINT64_FORMAT " is neither ES256 nor EdDSA", key.alg);

  bytes = key.alg == PASSKEY_ES256 ? es256_bytes (&key) : eddsa_bytes (&key);
  if (bytes == NULL || key.others != 0)
    return malformed (error);
  point = public_key_new ((PasskeyAlgorithm) key.alg, bytes, error);
  if (point == NULL)
    return FALSE;

  *out_algorithm = (PasskeyAlgorithm) key.alg;
  *out_key = g_steal_pointer (&bytes);
  return TRUE;
}
