/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pre-authentication encoding, and what is made over it. */
#include "service/base/pae.h"

#include "service/base/encode.h"

#include <string.h>

static GBytes *
bytes (const char *text)
{
  return g_bytes_new (text, strlen (text));
}

static void
test_encode (void)
{
  static const struct
  {
    const char *type, *body, *expected;
  } rows[] = {
    /* the example of the DSSE protocol text */
    { "http://example.com/HelloWorld", "hello world",
      "DSSEv1 29 http://example.com/HelloWorld 11 hello world" },
    { "t", "", "DSSEv1 1 t 0 " },
    { "t 1", "2", "DSSEv1 3 t 1 1 2" },
    { "t", "1 2", "DSSEv1 1 t 3 1 2" },
    { "t", "\303\244", "DSSEv1 1 t 2 \303\244" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GBytes) body = bytes (rows[i].body);
      g_autoptr (GBytes) encoded = pae_encode (rows[i].type, body);

      g_assert_cmpmem (g_bytes_get_data (encoded, NULL), g_bytes_get_size (encoded),
                       rows[i].expected, strlen (rows[i].expected));
    }
}

static void
test_digest (void)
{
  g_autoptr (GBytes) body = bytes ("{\"a\":\"b\"}");
  g_autoptr (GBytes) encoded = pae_encode (PAE_TYPE_RECORD, body);
  g_autofree char *expected = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, encoded);
  g_autofree char *hex = NULL;
  guint8 digest[PAE_DIGEST_SIZE], other[PAE_DIGEST_SIZE];

  pae_sha256 (PAE_TYPE_RECORD, body, digest);
  hex = hex_encode (digest, sizeof digest);
  g_assert_cmpstr (hex, ==, expected);

  /* the same bytes under another type are another thing */
  pae_sha256 (PAE_TYPE_STATEMENT, body, other);
  g_assert_false (digest_equal (digest, other));
}

static void
test_hmac (void)
{
  g_autoptr (GBytes) body = bytes ("body");
  g_autoptr (GBytes) encoded = pae_encode (PAE_TYPE_SEAL, body);
  const guint8 key[] = "0123456789abcdef0123456789abcdef";
  g_autofree char *expected = g_compute_hmac_for_data (
      G_CHECKSUM_SHA256, key, sizeof key - 1, g_bytes_get_data (encoded, NULL),
      g_bytes_get_size (encoded));
  g_autofree char *hex = NULL;
  guint8 tag[PAE_DIGEST_SIZE], other[PAE_DIGEST_SIZE];

  pae_hmac (key, sizeof key - 1, PAE_TYPE_SEAL, body, tag);
  hex = hex_encode (tag, sizeof tag);
  g_assert_cmpstr (hex, ==, expected);

  pae_hmac (key, sizeof key - 2, PAE_TYPE_SEAL, body, other);
  g_assert_false (digest_equal (tag, other));
}

static void
test_equal (void)
{
  guint8 a[PAE_DIGEST_SIZE] = { 0 }, b[PAE_DIGEST_SIZE] = { 0 };

  g_assert_true (digest_equal (a, b));
  for (guint i = 0; i < PAE_DIGEST_SIZE * 8; i++)
    {
      b[i / 8] ^= (guint8) (1 << i % 8);
      g_assert_false (digest_equal (a, b));
      b[i / 8] = 0;
    }
}

static void
test_text (void)
{
  static const char *const refused[] = {
    "",
    "sha256:",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "sha256:000000000000000000000000000000000000000000000000000000000000000",
    "sha256:00000000000000000000000000000000000000000000000000000000000000000",
    "sha256:000000000000000000000000000000000000000000000000000000000000000A",
    "SHA256:0000000000000000000000000000000000000000000000000000000000000000",
    " sha256:0000000000000000000000000000000000000000000000000000000000000000",
    "sha256:0000000000000000000000000000000000000000000000000000000000000000 ",
    "sha512:0000000000000000000000000000000000000000000000000000000000000000",
  };
  guint8 digest[PAE_DIGEST_SIZE], back[PAE_DIGEST_SIZE];
  g_autofree char *text = NULL;

  for (guint i = 0; i < PAE_DIGEST_SIZE; i++)
    digest[i] = (guint8) (i * 8 + 7);
  text = digest_to_string (digest);
  g_assert_cmpstr (text, ==,
                   "sha256:070f171f272f373f474f575f676f777f878f979fa7afb7bfc7cfd7dfe7eff7ff");
  g_assert_true (digest_from_string (text, back));
  g_assert_true (digest_equal (digest, back));

  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      memset (back, 0x5a, sizeof back);
      g_assert_false (digest_from_string (refused[i], back));
      g_assert_cmpuint (back[0], ==, 0x5a);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pae/encode", test_encode);
  g_test_add_func ("/pae/digest", test_digest);
  g_test_add_func ("/pae/hmac", test_hmac);
  g_test_add_func ("/pae/equal", test_equal);
  g_test_add_func ("/pae/text", test_text);
  return g_test_run ();
}
