/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One spelling for each run of bytes: what the writers write and nothing else is read. */
#include "service/base/encode.h"

#include <string.h>

static void
test_hex (void)
{
  static const char *const refused[] = { "", "00f", "00ff0", "00fF", "00fg", " 0ff", "0x00" };
  const guint8 data[] = { 0x00, 0xff };
  guint8 back[2] = { 0x5a, 0x5a };
  g_autofree char *text = hex_encode (data, sizeof data);
  g_autofree char *empty = hex_encode (data, 0);

  g_assert_cmpstr (text, ==, "00ff");
  g_assert_cmpstr (empty, ==, "");
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    g_assert_false (hex_decode (refused[i], back, 2));
  g_assert_cmpuint (back[0], ==, 0x5a);
  g_assert_true (hex_decode (text, back, 2));
  g_assert_cmpmem (back, 2, data, 2);
}

static void
test_base64url (void)
{
  /* RFC 4648 section 10, and the two letters that differ */
  static const struct
  {
    const char *data, *text;
  } rows[] = {
    { "", "" },           { "f", "Zg" },         { "fo", "Zm8" },
    { "foo", "Zm9v" },    { "foob", "Zm9vYg" },  { "fooba", "Zm9vYmE" },
    { "foobar", "Zm9vYmFy" }, { "\377\377\376", "___-" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      gsize len = strlen (rows[i].data);
      g_autofree char *text = base64url_encode ((const guint8 *) rows[i].data, len);
      g_autoptr (GBytes) back = base64url_decode (rows[i].text, len);

      g_assert_cmpstr (text, ==, rows[i].text);
      g_assert_nonnull (back);
      g_assert_cmpmem (g_bytes_get_data (back, NULL), g_bytes_get_size (back), rows[i].data, len);
      if (len > 0)
        g_assert_null (base64url_decode (rows[i].text, len - 1));
    }
}

static void
test_base64url_refused (void)
{
  static const char *const refused[] = {
    "Z", "Zg==", "Zg=", "Zm9vY", "Zm 9", "Zm9v\n", "Zm+v", "Zm/v", "Zh", "Zm9", "Z\303\244",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_test_message ("%s", refused[i]);
      g_assert_null (base64url_decode (refused[i], 100));
    }
}

/* Every length and every byte comes back. */
static void
test_round_trip (void)
{
  guint8 data[256];

  for (guint i = 0; i < sizeof data; i++)
    data[i] = (guint8) (i * 73);
  for (gsize len = 0; len <= sizeof data; len++)
    {
      g_autofree char *text = base64url_encode (data, len);
      g_autoptr (GBytes) back = base64url_decode (text, len);

      g_assert_cmpmem (g_bytes_get_data (back, NULL), g_bytes_get_size (back), data, len);
    }
}

static void
test_id (void)
{
  g_autofree char *a = random_id ();
  g_autofree char *b = random_id ();

  g_assert_true (id_is_valid (a));
  g_assert_cmpstr (a, !=, b);
  g_assert_false (id_is_valid (""));
  g_assert_false (id_is_valid ("0123456789abcdef0123456789abcde"));
  g_assert_false (id_is_valid ("0123456789abcdef0123456789abcdef0"));
  g_assert_false (id_is_valid ("0123456789ABCDEF0123456789abcdef"));
  g_assert_false (id_is_valid ("0123456789abcdef0123456789abcde/"));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/encode/hex", test_hex);
  g_test_add_func ("/encode/base64url", test_base64url);
  g_test_add_func ("/encode/base64url-refused", test_base64url_refused);
  g_test_add_func ("/encode/round-trip", test_round_trip);
  g_test_add_func ("/encode/id", test_id);
  return g_test_run ();
}
