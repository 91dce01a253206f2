/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* COSE keys: the two kinds, members too many, and points that are not on their curve. */
#include "service/passkey/cose.h"
#include "service/passkey/public-key.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "tests/passkey/fixture.h"

#include <string.h>

static void
assert_key (PasskeyAlgorithm algorithm, const char *hex, const char *reason)
{
  gsize len = strlen (hex) / 2;
  g_autofree guint8 *data = g_malloc0 (len + 1);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (EVP_PKEY) key = NULL;

  g_assert_true (hex_decode (hex, data, len));
  bytes = g_bytes_new (data, len);
  key = public_key_new (algorithm, bytes, &error);
  g_test_message ("%s: %s", hex, key != NULL ? "ok" : error->message);
  if (reason == NULL)
    g_assert_no_error (error);
  else
    g_assert_true (us_error_has_reason (error, reason));
  g_assert_true ((key != NULL) == (reason == NULL));
}

/* The base point of P-256, and what is not a point of it. */
#define P256_X "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
#define P256_Y "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
#define P256_P "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
#define ZERO "0000000000000000000000000000000000000000000000000000000000000000"
/* (0, sqrt b) is a point; (p, sqrt b) is another spelling of it */
#define P256_Y0 "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4"

static void
test_es256_points (void)
{
  assert_key (PASSKEY_ES256, P256_X P256_Y, NULL);
  assert_key (PASSKEY_ES256, ZERO P256_Y0, NULL);
  assert_key (PASSKEY_ES256, P256_P P256_Y0, US_REASON_PUBLIC_KEY);
  assert_key (PASSKEY_ES256, P256_X P256_X, US_REASON_PUBLIC_KEY);
  assert_key (PASSKEY_ES256, ZERO ZERO, US_REASON_PUBLIC_KEY);
  assert_key (PASSKEY_ES256, P256_X, US_REASON_PUBLIC_KEY);
  assert_key (PASSKEY_ES256, "04" P256_X P256_Y, US_REASON_PUBLIC_KEY);
  assert_key (PASSKEY_ES256, "", US_REASON_PUBLIC_KEY);
  assert_key ((PasskeyAlgorithm) -257, P256_X P256_Y, US_REASON_ALGORITHM);
  assert_key ((PasskeyAlgorithm) 0, P256_X P256_Y, US_REASON_ALGORITHM);
}

static void
test_eddsa_points (void)
{
  static const char *const bad[] = {
    /* the points of small order, in every spelling below 2^255 */
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    /* y = 3 + p is not the spelling of 3 */
    "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    /* y = 2 and y = 7 have no x */
    "0200000000000000000000000000000000000000000000000000000000000000",
    "0700000000000000000000000000000000000000000000000000000000000000",
  };

  /* RFC 8032, section 7.1, the first three keys; the base point; y = 3 */
  assert_key (PASSKEY_EDDSA, "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
              NULL);
  assert_key (PASSKEY_EDDSA, "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
              NULL);
  assert_key (PASSKEY_EDDSA, "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
              NULL);
  assert_key (PASSKEY_EDDSA, "5866666666666666666666666666666666666666666666666666666666666666",
              NULL);
  assert_key (PASSKEY_EDDSA, "0300000000000000000000000000000000000000000000000000000000000000",
              NULL);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    assert_key (PASSKEY_EDDSA, bad[i], US_REASON_PUBLIC_KEY);
  assert_key (PASSKEY_EDDSA, P256_X P256_Y, US_REASON_PUBLIC_KEY);
}

/* Whatever OpenSSL makes, passes; about half of all other y have no x. */
static void
test_eddsa_agrees (void)
{
  guint on_curve = 0;

  for (guint i = 0; i < 200; i++)
    {
      g_autoptr (TestKey) key = test_key_new (PASSKEY_EDDSA);
      g_autoptr (GError) error = NULL;
      g_autoptr (EVP_PKEY) good = NULL, other = NULL;
      g_autoptr (GBytes) random = g_bytes_new (key->challenge, 32);

      good = public_key_new (PASSKEY_EDDSA, key->passkey->public_key, &error);
      g_assert_no_error (error);
      other = public_key_new (PASSKEY_EDDSA, random, NULL);
      on_curve += other != NULL;
    }
  g_assert_cmpuint (on_curve, >, 50);
  g_assert_cmpuint (on_curve, <, 150);
}

/* One COSE key, its members as text: "1:2 3:-7 -1:1 -2:X -3:Y". */
static void
assert_cose (const char *members, const char *reason)
{
  g_auto (GStrv) pairs = g_strsplit (members, " ", -1);
  g_autoptr (GByteArray) out = g_byte_array_new ();
  g_autoptr (GBytes) key = NULL;
  g_autoptr (GError) error = NULL;
  PasskeyAlgorithm algorithm;
  gboolean ok;
  Cbor cbor;

  cbor_put_head (out, 5, g_strv_length (pairs));
  for (guint i = 0; pairs[i] != NULL; i++)
    {
      const char *value = strchr (pairs[i], ':') + 1;
      guint8 point[32];

      cbor_put_int (out, g_ascii_strtoll (pairs[i], NULL, 10));
      if (*value == 'X' || *value == 'Y')
        {
          g_assert_true (hex_decode (*value == 'X' ? P256_X : P256_Y, point, sizeof point));
          cbor_put_bytes (out, point, sizeof point);
        }
      else if (*value == 'Z')
        cbor_put_bytes (out, "short", 5);
      else
        cbor_put_int (out, g_ascii_strtoll (value, NULL, 10));
    }
  cbor_init (&cbor, out->data, out->len);
  ok = cose_read_key (&cbor, &algorithm, &key, &error);
  g_test_message ("%s: %s", members, ok ? "ok" : error->message);
  g_assert_true (ok == (reason == NULL));
  g_assert_true (ok || us_error_has_reason (error, reason));
  g_assert_true (!ok || cbor_at_end (&cbor));
}

static void
test_cose (void)
{
  assert_cose ("1:2 3:-7 -1:1 -2:X -3:Y", NULL);
  assert_cose ("-3:Y -2:X -1:1 3:-7 1:2", NULL);
  assert_cose ("1:2 3:-7 -1:1 -2:X -3:X", US_REASON_PUBLIC_KEY);
  assert_cose ("1:2 3:-7 -1:1 -2:X", US_REASON_ATTESTATION);
  assert_cose ("1:2 3:-7 -2:X -3:Y", US_REASON_ATTESTATION);
  assert_cose ("1:2 -1:1 -2:X -3:Y", US_REASON_ATTESTATION);
  assert_cose ("3:-7 -1:1 -2:X -3:Y", US_REASON_ATTESTATION);
  assert_cose ("1:1 3:-7 -1:1 -2:X -3:Y", US_REASON_ATTESTATION);
  assert_cose ("1:2 3:-7 -1:2 -2:X -3:Y", US_REASON_ATTESTATION);
  assert_cose ("1:2 3:-7 -1:1 -2:X -3:Z", US_REASON_ATTESTATION);
  assert_cose ("1:2 3:-7 -1:1 -2:X -3:1", US_REASON_ATTESTATION);
  assert_cose ("1:2 3:-7 -1:1 -2:X -2:X", US_REASON_ATTESTATION);
  assert_cose ("1:2 1:2 3:-7 -1:1 -2:X -3:Y", US_REASON_ATTESTATION);
  assert_cose ("1:2 3:-7 3:-7 -1:1 -2:X -3:Y", US_REASON_ATTESTATION);
  assert_cose ("1:2 3:-7 -1:1 -1:1 -2:X -3:Y", US_REASON_ATTESTATION);
  assert_cose ("1:2 3:-7 -1:1 -2:X -3:Y 4:1", US_REASON_ATTESTATION);
  assert_cose ("1:2 3:-7 -1:1 -2:X -3:Y -4:Z", US_REASON_ATTESTATION);
  assert_cose ("1:1 3:-8 -1:6 -2:X -3:Y", US_REASON_ATTESTATION);
  assert_cose ("1:2 3:-8 -1:6 -2:X", US_REASON_ATTESTATION);
  assert_cose ("1:1 3:-8 -1:4 -2:X", US_REASON_ATTESTATION);
  assert_cose ("1:3 3:-257 -1:Z -2:Z", US_REASON_ALGORITHM);
  assert_cose ("1:2 3:-35 -1:2 -2:X -3:Y", US_REASON_ALGORITHM);
  assert_cose ("1:2 3:-9 -1:1 -2:X -3:Y", US_REASON_ALGORITHM);
  assert_cose ("1:2 3:7 -1:1 -2:X -3:Y", US_REASON_ALGORITHM);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cose/es256-points", test_es256_points);
  g_test_add_func ("/cose/eddsa-points", test_eddsa_points);
  g_test_add_func ("/cose/eddsa-agrees", test_eddsa_agrees);
  g_test_add_func ("/cose/members", test_cose);
  return g_test_run ();
}
