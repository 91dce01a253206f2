/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each flaw alone, in an assertion that is otherwise right and rightly signed, is refused with its
 * own reason; of several, the first in the order of dbus/reason.h.
 */
#include "tests/passkey/fixture.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

/* In the order of the checks. */
typedef enum
{
  FLAW_ASSERTION_SIZE,
  FLAW_CLIENT_DATA,
  FLAW_CLIENT_TYPE,
  FLAW_CHALLENGE,
  FLAW_ORIGIN,
  FLAW_CROSS_ORIGIN,
  FLAW_TOP_ORIGIN,
  FLAW_AUTH_DATA_SIZE,
  FLAW_RP_ID,
  FLAW_USER_PRESENCE,
  FLAW_USER_VERIFICATION,
  FLAW_FLAGS,
  FLAW_BACKUP_FLAGS,
  FLAW_ALGORITHM,
  FLAW_PUBLIC_KEY,
  FLAW_SIGNATURE,
  FLAW_N
} Flaw;

static const char *const reasons[FLAW_N] = {
  US_REASON_ASSERTION_SIZE,
  US_REASON_CLIENT_DATA,
  US_REASON_CLIENT_TYPE,
  US_REASON_CHALLENGE,
  US_REASON_ORIGIN,
  US_REASON_CROSS_ORIGIN,
  US_REASON_TOP_ORIGIN,
  US_REASON_AUTH_DATA_SIZE,
  US_REASON_RP_ID,
  US_REASON_USER_PRESENCE,
  US_REASON_USER_VERIFICATION,
  US_REASON_FLAGS,
  US_REASON_BACKUP_FLAGS,
  US_REASON_ALGORITHM,
  US_REASON_PUBLIC_KEY,
  US_REASON_SIGNATURE,
};

#define HAS(flaws, flaw) (((flaws) >> (flaw)) & 1u)

static GBytes *
flawed_client_data (const TestKey *key, guint flaws)
{
  g_autoptr (GString) extra = g_string_new ("");
  guint8 challenge[PAE_DIGEST_SIZE];
  GBytes *bytes;

  memcpy (challenge, key->challenge, sizeof challenge);
  challenge[31] ^= HAS (flaws, FLAW_CHALLENGE);
  if (HAS (flaws, FLAW_TOP_ORIGIN))
    g_string_append (extra, ",\"topOrigin\":\"" TEST_RP "\"");
  if (HAS (flaws, FLAW_CLIENT_DATA))
    g_string_append (extra, ",\"type\":\"webauthn.get\"");
  if (HAS (flaws, FLAW_ASSERTION_SIZE))
    {
      g_string_append (extra, ",\"x\":\"");
      for (guint i = 0; i < PASSKEY_CLIENT_DATA_MAX; i++)
        g_string_append_c (extra, 'x');
      g_string_append_c (extra, '"');
    }
  bytes = test_client_data (HAS (flaws, FLAW_CLIENT_TYPE) ? "webauthn.create" : "webauthn.get",
                            challenge, sizeof challenge,
                            HAS (flaws, FLAW_ORIGIN) ? TEST_RP ":8443" : TEST_RP, extra->str);
  if (HAS (flaws, FLAW_CROSS_ORIGIN))
    {
      gsize len;
      char *text = g_bytes_unref_to_data (bytes, &len),
           *at = g_strstr_len (text, (gssize) len, ":false");

      memcpy (at, ":true ", 6);
      bytes = g_bytes_new_take (text, len);
    }
  return bytes;
}

static GBytes *
flawed_auth_data (guint flaws)
{
  g_autoptr (GByteArray) tail = g_byte_array_new ();
  guint8 flags = TEST_FLAGS;

  if (HAS (flaws, FLAW_AUTH_DATA_SIZE))
    g_byte_array_append (tail, &flags, 1);
  if (HAS (flaws, FLAW_USER_PRESENCE))
    flags &= (guint8) ~0x01;
  if (HAS (flaws, FLAW_USER_VERIFICATION))
    flags &= (guint8) ~0x04;
  if (HAS (flaws, FLAW_FLAGS))
    flags |= 0x02;
  if (HAS (flaws, FLAW_BACKUP_FLAGS))
    flags |= 0x10;
  return test_auth_data (HAS (flaws, FLAW_RP_ID) ? "example.org" : TEST_RP, flags, 7, tail);
}

static Assertion
flawed_assertion (TestKey *key, guint flaws)
{
  Assertion assertion =
      test_assertion (key, flawed_client_data (key, flaws), flawed_auth_data (flaws));

  if (HAS (flaws, FLAW_SIGNATURE))
    {
      gsize len;
      guint8 *data = g_bytes_unref_to_data (assertion.signature, &len);

      data[len - 1] ^= 1;
      assertion.signature = g_bytes_new_take (data, len);
    }
  if (HAS (flaws, FLAW_PUBLIC_KEY))
    {
      gsize len;
      guint8 *data = g_bytes_unref_to_data (key->passkey->public_key, &len);

      /* 2 is no y of Ed25519, and no x || y of mostly zeros is on P-256 */
      memset (data, 0, len);
      data[0] = 2;
      key->passkey->public_key = g_bytes_new_take (data, len);
    }
  if (HAS (flaws, FLAW_ALGORITHM))
    key->passkey->algorithm = (PasskeyAlgorithm) -257;
  return assertion;
}

static void
assert_verdict (TestKey *key, guint flaws, const char *reason)
{
  g_auto (Assertion) assertion = flawed_assertion (key, flaws);
  g_autoptr (GError) error = NULL;
  guint32 counter = 4711;
  gboolean ok = passkey_verify (key->passkey, key->challenge, &assertion, &counter, &error);

  if (reason == NULL)
    {
      g_assert_no_error (error);
      g_assert_true (ok);
      g_assert_cmpuint (counter, ==, 7);
      return;
    }
  g_assert_false (ok);
  g_assert_error (error, US_ERROR, US_ERROR_WRONG_ASSERTION);
  g_test_message ("%s", error->message);
  g_assert_true (us_error_has_reason (error, reason));
  g_assert_cmpuint (counter, ==, 4711);
}

static void
test_each_flaw (gconstpointer algorithm)
{
  for (guint flaw = 0; flaw < FLAW_N; flaw++)
    {
      g_autoptr (TestKey) key = test_key_new (GPOINTER_TO_INT (algorithm));

      assert_verdict (key, 0, NULL);
      assert_verdict (key, 1u << flaw, reasons[flaw]);
    }
}

static void
test_order (gconstpointer algorithm)
{
  for (guint first = 0; first < FLAW_N; first++)
    {
      g_autoptr (TestKey) key = test_key_new (GPOINTER_TO_INT (algorithm));
      guint all = (1u << FLAW_N) - 1;

      assert_verdict (key, all & ~((1u << first) - 1), reasons[first]);
    }
}

/* --- client data that another reader would forgive --- */

static const struct
{
  const char *json; /* %s is the right challenge */
  const char *reason;
} client_data[] = {
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\"}", NULL },
  { "{\"crossOrigin\":false,\"origin\":\"" TEST_RP
    "\",\"challenge\":\"%s\",\"type\":\"webauthn.get\"}",
    NULL },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP
    "\",\"later\":{\"a\":[1,null]}}",
    NULL },
  { "{\"type\":\"webauthn\\u002eget\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\"}", NULL },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\"}\n{}",
    US_REASON_CLIENT_DATA },
  { "\xef\xbb\xbf{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\"}",
    US_REASON_CLIENT_DATA },
  { "[{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\"}]",
    US_REASON_CLIENT_DATA },
  { "\"%s\"", US_REASON_CLIENT_DATA },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\",}",
    US_REASON_CLIENT_DATA },
  { "{'type':'webauthn.get',\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\"}",
    US_REASON_CLIENT_DATA },
  { "/**/{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\"}",
    US_REASON_CLIENT_DATA },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\\u0000\"}",
    US_REASON_CLIENT_DATA },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"https://"
    "evil.example\",\"origin\":\"" TEST_RP "\"}",
    US_REASON_CLIENT_DATA },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP
    "\",\"\\u006frigin\":\"x\"}",
    US_REASON_CLIENT_DATA },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\",\"x\":\"\xff\"}",
    US_REASON_CLIENT_DATA },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\",\"x\":[[[[[]]]]]}",
    US_REASON_CLIENT_DATA },
  { "{\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\"}", US_REASON_CLIENT_TYPE },
  { "{\"type\":[\"webauthn.get\"],\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\"}",
    US_REASON_CLIENT_TYPE },
  { "{\"type\":\"Webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "\"}",
    US_REASON_CLIENT_TYPE },
  { "{\"type\":\"webauthn.get\",\"origin\":\"" TEST_RP "\",\"x\":\"%s\"}", US_REASON_CHALLENGE },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s=\",\"origin\":\"" TEST_RP "\"}",
    US_REASON_CHALLENGE },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%sAA\",\"origin\":\"" TEST_RP "\"}",
    US_REASON_CHALLENGE },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"\",\"origin\":\"" TEST_RP "\",\"x\":\"%s\"}",
    US_REASON_CHALLENGE },
  { "{\"type\":\"webauthn.get\",\"challenge\":null,\"origin\":\"" TEST_RP "\",\"x\":\"%s\"}",
    US_REASON_CHALLENGE },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\"}", US_REASON_ORIGIN },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"\"}", US_REASON_ORIGIN },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP "/\"}",
    US_REASON_ORIGIN },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP
    "\",\"crossOrigin\":\"false\"}",
    US_REASON_CROSS_ORIGIN },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP
    "\",\"crossOrigin\":null}",
    US_REASON_CROSS_ORIGIN },
  { "{\"type\":\"webauthn.get\",\"challenge\":\"%s\",\"origin\":\"" TEST_RP
    "\",\"topOrigin\":null}",
    US_REASON_TOP_ORIGIN },
};

static void
test_client_data_forms (void)
{
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);
  g_autofree char *challenge = NULL;

  {
    g_autoptr (GBytes) sample = test_client_data ("", key->challenge, 32, "", "");
    const char *text = g_bytes_get_data (sample, NULL);

    challenge = g_strndup (strstr (text, "challenge\":\"") + 12, 43);
  }
  for (guint i = 0; i < G_N_ELEMENTS (client_data); i++)
    {
      g_auto (GStrv) parts = g_strsplit (client_data[i].json, "%s", 2);
      g_autofree char *json = g_strjoinv (challenge, parts);
      g_auto (Assertion) assertion = test_assertion (key, g_bytes_new (json, strlen (json)),
                                                     test_auth_data (TEST_RP, TEST_FLAGS, 7, NULL));
      g_autoptr (GError) error = NULL;
      guint32 counter;
      gboolean ok = passkey_verify (key->passkey, key->challenge, &assertion, &counter, &error);

      g_test_message ("form %u: %s", i, ok ? "ok" : error->message);
      if (client_data[i].reason == NULL)
        g_assert_no_error (error);
      else
        g_assert_true (us_error_has_reason (error, client_data[i].reason));
      g_assert_true (ok == (client_data[i].reason == NULL));
    }
}

/* Every value of the flags: which are refused, and why. */
static void
test_flags (void)
{
  g_autoptr (TestKey) key = test_key_new (PASSKEY_EDDSA);

  for (guint flags = 0; flags < 256; flags++)
    {
      g_auto (Assertion) assertion =
          test_assertion (key, test_client_data ("webauthn.get", key->challenge, 32, TEST_RP, ""),
                          test_auth_data (TEST_RP, (guint8) flags, 7, NULL));

      for (guint eligible = 0; eligible < 2; eligible++)
        {
          g_autoptr (GError) error = NULL;
          guint32 counter;
          gboolean ok;
          gboolean good = flags == (eligible ? 0x0d : 0x05) || (eligible && flags == 0x1d);

          key->passkey->backup_eligible = (gboolean) eligible;
          ok = passkey_verify (key->passkey, key->challenge, &assertion, &counter, &error);
          g_assert_true (ok == good);
          if (!(flags & 1))
            g_assert_true (us_error_has_reason (error, US_REASON_USER_PRESENCE));
          else if (!(flags & 4))
            g_assert_true (us_error_has_reason (error, US_REASON_USER_VERIFICATION));
          else if (flags & 0xe2)
            g_assert_true (us_error_has_reason (error, US_REASON_FLAGS));
          else if (!good)
            g_assert_true (us_error_has_reason (error, US_REASON_BACKUP_FLAGS));
        }
    }
}

static void
test_sizes (void)
{
  static const gsize sizes[] = { 0, 36, 38, 55, PASSKEY_ATTESTATION_MAX };
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_auto (Assertion) assertion =
          test_assertion (key, test_client_data ("webauthn.get", key->challenge, 32, TEST_RP, ""),
                          g_bytes_new_take (g_malloc0 (sizes[i] + 1), sizes[i]));
      g_autoptr (GError) error = NULL;
      guint32 counter;

      g_assert_false (passkey_verify (key->passkey, key->challenge, &assertion, &counter, &error));
      g_assert_true (us_error_has_reason (error, sizes[i] == 0 ? US_REASON_ASSERTION_SIZE
                                                               : US_REASON_AUTH_DATA_SIZE));
    }
}

static void
test_absent_parts (void)
{
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);

  for (guint part = 0; part < 3; part++)
    {
      g_auto (Assertion) assertion = flawed_assertion (key, 0);
      GBytes **bytes[] = { &assertion.client_data, &assertion.auth_data, &assertion.signature };
      g_autoptr (GError) error = NULL;
      guint32 counter;

      g_clear_pointer (bytes[part], g_bytes_unref);
      g_assert_false (passkey_verify (key->passkey, key->challenge, &assertion, &counter, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_ASSERTION_SIZE));
    }
}

/* Another person's key, and one assertion shown for another statement. */
static void
test_not_transferable (void)
{
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);
  g_autoptr (TestKey) other = test_key_new (PASSKEY_ES256);
  g_auto (Assertion) assertion = flawed_assertion (key, 0);
  g_autoptr (GError) error = NULL, other_error = NULL;
  guint32 counter;

  g_assert_false (passkey_verify (other->passkey, key->challenge, &assertion, &counter, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_SIGNATURE));
  g_assert_false (
      passkey_verify (key->passkey, other->challenge, &assertion, &counter, &other_error));
  g_assert_true (us_error_has_reason (other_error, US_REASON_CHALLENGE));
}

static void
test_origin_of_a_phone (void)
{
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);
  static const char *const wrong[] = { "https://phone.example.test",
                                       "https://phone.example.test:443",
                                       "http://phone.example.test:8443",
                                       "https://PHONE.example.test:8443",
                                       "https://phone.example.test:8443/",
                                       "phone.example.test",
                                       "" };

  g_free (key->passkey->rp);
  g_free (key->passkey->origin);
  key->passkey->rp = g_strdup ("phone.example.test");
  key->passkey->origin = g_strdup ("https://phone.example.test:8443");
  for (guint i = 0; i <= G_N_ELEMENTS (wrong); i++)
    {
      const char *origin = i < G_N_ELEMENTS (wrong) ? wrong[i] : key->passkey->origin;
      g_auto (Assertion) assertion =
          test_assertion (key, test_client_data ("webauthn.get", key->challenge, 32, origin, ""),
                          test_auth_data (key->passkey->rp, TEST_FLAGS, 7, NULL));
      g_autoptr (GError) error = NULL;
      guint32 counter;
      gboolean ok = passkey_verify (key->passkey, key->challenge, &assertion, &counter, &error);

      g_assert_true (ok == (i == G_N_ELEMENTS (wrong)));
      g_assert_true (ok || us_error_has_reason (error, US_REASON_ORIGIN));
    }
}

static void
test_counter (void)
{
  static const struct
  {
    guint32 stored, asserted;
    gboolean ok;
  } cases[] = {
    { 0, 0, TRUE },
    { 0, 1, TRUE },
    { 1, 2, TRUE },
    { G_MAXUINT32 - 1, G_MAXUINT32, TRUE },
    { 1, 1, FALSE },
    { 1, 0, FALSE },
    { G_MAXUINT32, 0, FALSE },
    { 5, 4, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Passkey passkey = { .counter = cases[i].stored };
      g_autoptr (GError) error = NULL;

      g_assert_true (passkey_check_counter (&passkey, cases[i].asserted, &error) == cases[i].ok);
      g_assert_true (cases[i].ok || us_error_has_reason (error, US_REASON_COUNTER));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/assertion/each-flaw/es256", GINT_TO_POINTER (PASSKEY_ES256),
                        test_each_flaw);
  g_test_add_data_func ("/assertion/each-flaw/eddsa", GINT_TO_POINTER (PASSKEY_EDDSA),
                        test_each_flaw);
  g_test_add_data_func ("/assertion/order/es256", GINT_TO_POINTER (PASSKEY_ES256), test_order);
  g_test_add_data_func ("/assertion/order/eddsa", GINT_TO_POINTER (PASSKEY_EDDSA), test_order);
  g_test_add_func ("/assertion/client-data", test_client_data_forms);
  g_test_add_func ("/assertion/flags", test_flags);
  g_test_add_func ("/assertion/sizes", test_sizes);
  g_test_add_func ("/assertion/absent-parts", test_absent_parts);
  g_test_add_func ("/assertion/not-transferable", test_not_transferable);
  g_test_add_func ("/assertion/origin-of-a-phone", test_origin_of_a_phone);
  g_test_add_func ("/assertion/counter", test_counter);
  return g_test_run ();
}
