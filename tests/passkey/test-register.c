/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registrations: the two attestations that are taken, and every other form refused. */
#include "tests/passkey/fixture.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

#define REG_FLAGS (TEST_FLAGS | 0x40)

static Passkey *
enrol (TestKey *key, GBytes *client_data, GBytes *attestation, GError **error)
{
  Registration registration = {
    .rp = TEST_RP,
    .origin = "",
    .client_data = client_data,
    .attestation = attestation,
  };

  memcpy (registration.challenge, key->challenge, PAE_DIGEST_SIZE);
  return passkey_register (&registration, error);
}

static GBytes *
create_data (TestKey *key)
{
  return test_client_data ("webauthn.create", key->challenge, PAE_DIGEST_SIZE, TEST_RP, "");
}

static void
assert_taken (TestKey *key, GBytes *attestation)
{
  g_autoptr (GBytes) client_data = create_data (key);
  g_autoptr (GError) error = NULL;
  g_autoptr (Passkey) passkey = enrol (key, client_data, attestation, &error);

  g_assert_no_error (error);
  g_assert_nonnull (passkey);
  g_assert_true (g_bytes_equal (passkey->public_key, key->passkey->public_key));
  g_assert_cmpint (passkey->algorithm, ==, key->passkey->algorithm);
  g_assert_cmpstr (passkey->rp, ==, TEST_RP);
  g_assert_cmpstr (passkey->origin, ==, "");
  g_assert_cmpuint (passkey->counter, ==, 3);
  g_assert_cmpuint (passkey->aaguid[0], ==, 0xaa);
  g_assert_true (passkey->active);
  g_assert_false (passkey->backup_eligible);
}

static void
assert_refused (TestKey *key, GBytes *attestation, const char *reason)
{
  g_autoptr (GBytes) client_data = create_data (key);
  g_autoptr (GError) error = NULL;
  g_autoptr (Passkey) passkey = enrol (key, client_data, attestation, &error);

  g_assert_null (passkey);
  g_assert_error (error, US_ERROR, US_ERROR_WRONG_ASSERTION);
  g_test_message ("%s", error->message);
  g_assert_true (us_error_has_reason (error, reason));
}

/* Attestation none around flags and a tail. */
static GBytes *
none (guint8 flags, GByteArray *tail)
{
  g_autoptr (GBytes) auth_data = test_auth_data (TEST_RP, flags, 3, tail);

  return test_attestation (auth_data, 0, NULL);
}

static void
test_none (gconstpointer algorithm)
{
  static const gsize sizes[] = { 1, 16, 255, 256, 1023 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (TestKey) key = test_key_new (GPOINTER_TO_INT (algorithm));
      g_autoptr (GByteArray) attested = test_attested (key, sizes[i]);
      g_autoptr (GBytes) attestation = none (REG_FLAGS, attested);

      assert_taken (key, attestation);
    }
}

static void
test_packed_self (gconstpointer algorithm)
{
  g_autoptr (TestKey) key = test_key_new (GPOINTER_TO_INT (algorithm));
  g_autoptr (TestKey) other = test_key_new (GPOINTER_TO_INT (algorithm));
  g_autoptr (GByteArray) attested = test_attested (key, 32);
  g_autoptr (GBytes) auth_data = test_auth_data (TEST_RP, REG_FLAGS, 3, attested);
  g_autoptr (GBytes) client_data = create_data (key);
  g_autoptr (GBytes) own = test_sign (key->key, client_data, auth_data);
  g_autoptr (GBytes) foreign = test_sign (other->key, client_data, auth_data);
  g_autoptr (GBytes) good = test_attestation (auth_data, GPOINTER_TO_INT (algorithm), own);
  g_autoptr (GBytes) bad = test_attestation (auth_data, GPOINTER_TO_INT (algorithm), foreign);
  g_autoptr (GBytes) mixed = test_attestation (auth_data, -257, own);

  assert_taken (key, good);
  assert_refused (key, bad, US_REASON_SIGNATURE);
  assert_refused (key, mixed, US_REASON_ALGORITHM);
}

/* Keys that anybody could sign for, or that are another spelling of one, are never enrolled. */
static void
test_unsound_keys (void)
{
  static const guint8 neutral[32] = { 1 };
  static const guint8 order_4[32] = { 0 };
  static const guint8 order_2[32] = {
    0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
  };
  static const guint8 over_the_prime[32] = {
    0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
  };
  static const guint8 *const keys[] = { neutral, order_4, order_2, over_the_prime };

  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (TestKey) key = test_key_new (PASSKEY_EDDSA);
      g_autoptr (GByteArray) attested = NULL;
      g_autoptr (GBytes) attestation = NULL;

      g_bytes_unref (key->passkey->public_key);
      key->passkey->public_key = g_bytes_new_static (keys[i], 32);
      attested = test_attested (key, 32);
      attestation = none (REG_FLAGS, attested);
      assert_refused (key, attestation, US_REASON_PUBLIC_KEY);
    }
}

static void
test_flags (void)
{
  static const struct
  {
    guint8 flags;
    const char *reason;
  } cases[] = {
    { 0x44, US_REASON_USER_PRESENCE }, { 0x41, US_REASON_USER_VERIFICATION },
    { 0x05, US_REASON_FLAGS },         { 0x47, US_REASON_FLAGS },
    { 0x65, US_REASON_FLAGS },         { 0x55, US_REASON_BACKUP_FLAGS },
  };
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);
  g_autoptr (GByteArray) attested = test_attested (key, 32);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) attestation = none (cases[i].flags, attested);

      assert_refused (key, attestation, cases[i].reason);
    }
}

/* A synced passkey is told apart, and stays so. */
static void
test_backup_eligible (void)
{
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);
  g_autoptr (GByteArray) attested = test_attested (key, 32);
  g_autoptr (GBytes) attestation = none (REG_FLAGS | 0x18, attested);
  g_autoptr (GBytes) client_data = create_data (key);
  g_autoptr (GError) error = NULL;
  g_autoptr (Passkey) passkey = enrol (key, client_data, attestation, &error);

  g_assert_no_error (error);
  g_assert_true (passkey->backup_eligible);
}

static void
test_credential_id_size (void)
{
  static const gsize sizes[] = { 0, 1024, 4096 };
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GByteArray) attested = test_attested (key, sizes[i]);
      g_autoptr (GBytes) attestation = none (REG_FLAGS, attested);

      assert_refused (key, attestation, US_REASON_ATTESTATION);
    }
}

/* Every shorter prefix and every byte more of the two objects is refused. */
static void
test_truncated_and_trailing (void)
{
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);
  g_autoptr (GByteArray) attested = test_attested (key, 32);
  g_autoptr (GBytes) attestation = none (REG_FLAGS, attested);
  gsize len;
  const guint8 *data = g_bytes_get_data (attestation, &len);
  g_autoptr (GByteArray) longer = g_byte_array_new ();

  for (gsize i = 1; i < len; i++)
    {
      g_autoptr (GBytes) prefix = g_bytes_new (data, i);

      assert_refused (key, prefix, US_REASON_ATTESTATION);
    }
  for (guint i = attested->len - 1; i > 0; i--)
    {
      g_autoptr (GByteArray) shorter = g_byte_array_new ();
      g_autoptr (GBytes) short_attestation = NULL;

      g_byte_array_append (shorter, attested->data, i);
      short_attestation = none (REG_FLAGS, shorter);
      assert_refused (key, short_attestation,
                      i < 18 ? US_REASON_AUTH_DATA_SIZE : US_REASON_ATTESTATION);
    }

  g_byte_array_append (longer, data, (guint) len);
  g_byte_array_append (longer, (const guint8 *) "\0", 1);
  {
    g_autoptr (GBytes) trailing = g_bytes_new (longer->data, longer->len);

    assert_refused (key, trailing, US_REASON_ATTESTATION);
  }
  g_byte_array_append (attested, (const guint8 *) "\0", 1);
  {
    g_autoptr (GBytes) trailing = none (REG_FLAGS, attested);

    assert_refused (key, trailing, US_REASON_ATTESTATION);
  }
}

/* Extensions behind the key: (hex of the map, whether it is taken). */
static const struct
{
  const char *bytes;
  gsize len;
  gboolean ok;
} extensions[] = {
#define EXTENSION(text, ok)                                                                        \
  {                                                                                                \
    text, sizeof text - 1, ok                                                                      \
  }
  EXTENSION ("\xa0", TRUE),
  EXTENSION ("\xa1\x6b"
             "credProtect"
             "\x02",
             TRUE),
  EXTENSION ("\xa2\x61"
             "b"
             "\xf5\x62"
             "aa"
             "\x82\x20\x41z",
             TRUE),
  EXTENSION ("\xa1\x61"
             "a"
             "\xa1\x61"
             "a"
             "\x81\xa1\x61"
             "a"
             "\x01",
             TRUE), /* depth 4 */
  EXTENSION ("", FALSE),
  EXTENSION ("\x00", FALSE),
  EXTENSION ("\x80", FALSE),
  EXTENSION ("\xa1\x61"
             "a",
             FALSE),
  EXTENSION ("\xa1\x01\x02", FALSE),
  EXTENSION ("\xbf\xff", FALSE), /* indefinite map */
  EXTENSION ("\xb8\x01\x61"
             "a"
             "\x01",
             FALSE), /* head not the shortest */
  EXTENSION ("\xa1\x78\x01"
             "a"
             "\x01",
             FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\x18\x17",
             FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\x19\x00\xff",
             FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\x1a\x00\x00\xff\xff",
             FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\x1b\x00\x00\x00\x00\xff\xff\xff\xff",
             FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\x1c",
             FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\x5f\x41"
             "a"
             "\xff",
             FALSE), /* indefinite bytes */
  EXTENSION ("\xa1\x61"
             "a"
             "\x7f\x61"
             "a"
             "\xff",
             FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\x9f\xff",
             FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\xc0\x01",
             FALSE), /* a tag */
  EXTENSION ("\xa1\x61"
             "a"
             "\xf7",
             FALSE), /* undefined */
  EXTENSION ("\xa1\x61"
             "a"
             "\xf8\x14",
             FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\xf9\x00\x00",
             FALSE), /* floats */
  EXTENSION ("\xa1\x61"
             "a"
             "\xfb\x00\x00\x00\x00\x00\x00\x00\x00",
             FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\xff",
             FALSE),
  EXTENSION ("\xa1\x61"
             "\xff"
             "\x01",
             FALSE), /* no UTF-8 */
  EXTENSION ("\xa2\x61"
             "a"
             "\x01\x61"
             "a"
             "\x02",
             FALSE), /* a name twice */
  EXTENSION ("\xa2\x62"
             "aa"
             "\x01\x61"
             "b"
             "\x02",
             FALSE), /* names not ascending */
  EXTENSION ("\xa1\x61"
             "a"
             "\xa2\x61"
             "b"
             "\x01\x61"
             "a"
             "\x02",
             FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\x81\x81\x81\x81\x01",
             FALSE), /* depth 5 */
  EXTENSION ("\xa1\x61"
             "a"
             "\x9a\xff\xff\xff\xff",
             FALSE),
  EXTENSION ("\xbb\xff\xff\xff\xff\xff\xff\xff\xff", FALSE),
  EXTENSION ("\xa1\x61"
             "a"
             "\x5b\xff\xff\xff\xff\xff\xff\xff\xff",
             FALSE),
  EXTENSION ("\xa0\xa0", FALSE),
#undef EXTENSION
};

static void
test_extensions (void)
{
  g_autoptr (TestKey) key = test_key_new (PASSKEY_EDDSA);

  for (guint i = 0; i < G_N_ELEMENTS (extensions); i++)
    {
      g_autoptr (GByteArray) attested = test_attested (key, 32);
      g_autoptr (GBytes) attestation = NULL;

      g_byte_array_append (attested, (const guint8 *) extensions[i].bytes,
                           (guint) extensions[i].len);
      attestation = none (REG_FLAGS | 0x80, attested);
      g_test_message ("extension %u", i);
      if (extensions[i].ok)
        assert_taken (key, attestation);
      else
        assert_refused (key, attestation, US_REASON_ATTESTATION);
    }
}

static void
test_extensions_without_flag (void)
{
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);
  g_autoptr (GByteArray) attested = test_attested (key, 32);
  g_autoptr (GBytes) attestation = NULL;

  g_byte_array_append (attested, (const guint8 *) "\xa0", 1);
  attestation = none (REG_FLAGS, attested);
  assert_refused (key, attestation, US_REASON_ATTESTATION);
}

/* Attestation objects that are not the one form. */
static GBytes *
object (const char *const *names, guint n, const char *format, gboolean statement)
{
  GByteArray *out = g_byte_array_new ();

  cbor_put_head (out, 5, n);
  for (guint i = 0; i < n; i++)
    {
      cbor_put_text (out, names[i]);
      if (strcmp (names[i], "fmt") == 0)
        cbor_put_text (out, format);
      else if (strcmp (names[i], "attStmt") == 0)
        cbor_put_head (out, 5, statement);
      else
        cbor_put_bytes (out, "", 0);
      if (statement && strcmp (names[i], "attStmt") == 0)
        {
          cbor_put_text (out, "x5c");
          cbor_put_head (out, 4, 0);
        }
    }
  return g_byte_array_free_to_bytes (out);
}

static void
test_objects (void)
{
  static const struct
  {
    const char *names[4];
    guint n;
    const char *format;
    gboolean statement;
  } cases[] = {
    { { "fmt", "attStmt" }, 2, "none", FALSE },
    { { "fmt", "attStmt", "authData", "more" }, 4, "none", FALSE },
    { { "fmt", "fmt", "authData" }, 3, "none", FALSE },
    { { "fmt", "attStmt", "attStmt" }, 3, "none", FALSE },
    { { "fmt", "authData", "authData" }, 3, "none", FALSE },
    { { "attStmt", "fmt", "authData" }, 3, "none", FALSE },
    { { "fmt", "attStmt", "authdata" }, 3, "none", FALSE },
    { { "fmt", "attStmt", "authData" }, 3, "none", TRUE },
    { { "fmt", "attStmt", "authData" }, 3, "packed", TRUE },
    { { "fmt", "attStmt", "authData" }, 3, "packed", FALSE },
    { { "fmt", "attStmt", "authData" }, 3, "fido-u2f", FALSE },
    { { "fmt", "attStmt", "authData" }, 3, "", FALSE },
    { { "fmt", "attStmt", "authData" }, 3, "none\xff", FALSE },
  };
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) attestation =
          object (cases[i].names, cases[i].n, cases[i].format, cases[i].statement);

      assert_refused (key, attestation, US_REASON_ATTESTATION);
    }
  {
    static const char *const names[] = { "authData", "fmt", "attStmt" };
    g_autoptr (GBytes) empty = object (names, 3, "none", FALSE);

    assert_refused (key, empty, US_REASON_AUTH_DATA_SIZE);
  }
}

static void
test_ceremony (void)
{
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);
  g_autoptr (GByteArray) attested = test_attested (key, 32);
  g_autoptr (GBytes) attestation = none (REG_FLAGS, attested);
  g_autoptr (GBytes) foreign_rp = NULL;
  guint8 other[32] = { 0 };
  const struct
  {
    GBytes *client_data;
    const char *reason;
  } cases[] = {
    { test_client_data ("webauthn.get", key->challenge, 32, TEST_RP, ""), US_REASON_CLIENT_TYPE },
    { test_client_data ("webauthn.create", other, 32, TEST_RP, ""), US_REASON_CHALLENGE },
    { test_client_data ("webauthn.create", key->challenge, 31, TEST_RP, ""), US_REASON_CHALLENGE },
    { test_client_data ("webauthn.create", key->challenge, 32, "https://a.example", ""),
      US_REASON_ORIGIN },
    { g_bytes_new (NULL, 0), US_REASON_ASSERTION_SIZE },
    { g_bytes_new_take (g_malloc0 (4097), 4097), US_REASON_ASSERTION_SIZE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) client_data = cases[i].client_data;
      g_autoptr (GError) error = NULL;

      g_assert_null (enrol (key, client_data, attestation, &error));
      g_assert_true (us_error_has_reason (error, cases[i].reason));
    }
  {
    g_autoptr (GBytes) auth_data = test_auth_data ("example.org", REG_FLAGS, 3, attested);

    foreign_rp = test_attestation (auth_data, 0, NULL);
  }
  assert_refused (key, foreign_rp, US_REASON_RP_ID);
  {
    gsize sizes[] = { 0, PASSKEY_ATTESTATION_MAX + 1 };

    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      {
        g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (sizes[i] + 1), sizes[i]);

        assert_refused (key, bytes, US_REASON_ASSERTION_SIZE);
      }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/register/none/es256", GINT_TO_POINTER (PASSKEY_ES256), test_none);
  g_test_add_data_func ("/register/none/eddsa", GINT_TO_POINTER (PASSKEY_EDDSA), test_none);
  g_test_add_data_func ("/register/packed-self/es256", GINT_TO_POINTER (PASSKEY_ES256),
                        test_packed_self);
  g_test_add_data_func ("/register/packed-self/eddsa", GINT_TO_POINTER (PASSKEY_EDDSA),
                        test_packed_self);
  g_test_add_func ("/register/unsound-keys", test_unsound_keys);
  g_test_add_func ("/register/flags", test_flags);
  g_test_add_func ("/register/backup-eligible", test_backup_eligible);
  g_test_add_func ("/register/credential-id-size", test_credential_id_size);
  g_test_add_func ("/register/truncated-and-trailing", test_truncated_and_trailing);
  g_test_add_func ("/register/extensions", test_extensions);
  g_test_add_func ("/register/extensions-without-flag", test_extensions_without_flag);
  g_test_add_func ("/register/objects", test_objects);
  g_test_add_func ("/register/ceremony", test_ceremony);
  return g_test_run ();
}
