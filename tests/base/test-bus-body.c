/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counting the values of a body, in what GDBus writes and in what it would not. */
#include "service/base/bus-body.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/bus-header.h"
#include "tests/base/bus-message.h"

#include <string.h>

static gboolean
check (const GByteArray *bytes, gsize size, const char *signature, GError **error)
{
  g_autofree guint8 *copy = g_memdup2 (bytes->data, size);
  guint32 body_at = 0, body_size = 0;

  g_assert_true (bus_header_size (bytes->data, &body_at, &body_size));
  return bus_body_check (copy, size, body_at, signature, error);
}

static void
test_good (void)
{
  static const char *const bodies[] = {
    "('a',)",
    "(@y 1, @n 2, @q 3, 4, @u 5, @x 6, @t 7, 8.5, true, 's', @o '/', @g 'a{sv}', @h 0)",
    "(@ay [], @ay [1, 2, 3], @at [1], @as [], @as ['x'], @a(sh) [('n', 0)], @aay [[1], []])",
    "(@y 1, @at [], @y 1, @a(yt) [], @y 1, @a{sv} {})",
    "('run', 'mail.send', {'to': <['a', 'b']>, 'n': <@a(sh) [('f', 0)]>}, @a{sv} {})",
    "(<<<<'deep'>>>>, [<(1, 's')>, <@ab [true, false]>])",
    "((((1, 's'), 2), @ad [1.5]),)",
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (bodies); i++)
    {
      g_autoptr (GDBusMessage) message = message_new (bodies[i / 2], 1);
      g_autoptr (GByteArray) bytes = message_blob (message, i % 2 == 1);
      const char *signature = g_dbus_message_get_signature (message);
      guint32 body_at = 0, body_size = 0;
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", bodies[i / 2]);
      g_assert_true (check (bytes, bytes->len, signature, &error));
      g_assert_no_error (error);

      /* Cut off anywhere it is no longer of its signature; nothing is read beyond. */
      g_assert_true (bus_header_size (bytes->data, &body_at, &body_size));
      for (gsize size = body_at; size < bytes->len; size++)
        {
          g_assert_false (check (bytes, size, signature, &error));
          g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
          g_clear_error (&error);
        }
      /* Any bit may be another. */
      for (gsize bit = (gsize) body_at * 8; bit < (gsize) bytes->len * 8; bit++)
        {
          bytes->data[bit / 8] ^= (guint8) (1u << bit % 8);
          check (bytes, bytes->len, signature, NULL);
          bytes->data[bit / 8] ^= (guint8) (1u << bit % 8);
        }
    }
}

static void
test_wrong_signature (void)
{
  static const char *const signatures[] = {
    "", "s", "su", "sut", "(su)", "as", "a", "aa", "(", ")", "()", "(s", "{sv}", "a{sv", "a{", "z",
    "sz", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaay", "((((((((((((((((((((y))))))))))))))))))))",
  };
  g_autoptr (GDBusMessage) message = message_new ("('s', @x 1)", 1);
  g_autoptr (GByteArray) bytes = message_blob (message, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (signatures); i++)
    {
      g_test_message ("%s", signatures[i]);
      g_assert_false (check (bytes, bytes->len, signatures[i], NULL));
    }
}

static void
check_values (guint n, gboolean good)
{
  g_autoptr (GDBusMessage) message = message_new (NULL, 1);
  g_autoptr (GByteArray) bytes = NULL;
  g_autoptr (GError) error = NULL;
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("av"));
  for (guint i = 0; i < n; i++)
    g_variant_builder_add (&builder, "v", g_variant_new_byte (1));
  g_dbus_message_set_body (message, g_variant_new ("(av)", &builder));
  bytes = message_blob (message, FALSE);
  g_assert_cmpint (check (bytes, bytes->len, "av", &error), ==, good);
  g_assert_true (good || us_error_has_reason (error, US_REASON_TOO_LARGE));
}

static void
test_many (void)
{
  check_values (BUS_VALUES_MAX / 2 - 1, TRUE);
  check_values (BUS_VALUES_MAX / 2, FALSE);
  check_values (BUS_VALUES_MAX, FALSE);
}

/* Numbers in an array cost what they have bytes. */
static void
test_numbers (void)
{
  g_autoptr (GDBusMessage) message = message_new (NULL, 1);
  g_autoptr (GByteArray) bytes = NULL;
  g_autofree guint8 *data = g_malloc0 (8 * BUS_VALUES_MAX);

  g_dbus_message_set_body (
      message, g_variant_new ("(@ay@at)",
                              g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, data,
                                                         8 * BUS_VALUES_MAX, 1),
                              g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, data,
                                                         BUS_VALUES_MAX, 8)));
  bytes = message_blob (message, TRUE);
  g_assert_true (check (bytes, bytes->len, "ayat", NULL));
}

static void
check_depth (guint n, gboolean good)
{
  g_autoptr (GDBusMessage) message = message_new (NULL, 1);
  g_autoptr (GByteArray) bytes = NULL;
  g_autoptr (GError) error = NULL;
  GVariant *value = g_variant_new_string ("x");

  for (guint i = 1; i < n; i++)
    value = g_variant_new_variant (value);
  g_dbus_message_set_body (message, g_variant_new ("(v)", value));
  bytes = message_blob (message, FALSE);
  g_assert_cmpint (check (bytes, bytes->len, "v", &error), ==, good);
  g_assert_true (good || us_error_has_reason (error, US_REASON_TOO_LARGE));
}

static void
test_deep (void)
{
  check_depth (BUS_DEPTH_MAX - 1, TRUE);
  check_depth (BUS_DEPTH_MAX, FALSE);
  check_depth (60, FALSE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bus-body/good", test_good);
  g_test_add_func ("/bus-body/wrong-signature", test_wrong_signature);
  g_test_add_func ("/bus-body/many", test_many);
  g_test_add_func ("/bus-body/numbers", test_numbers);
  g_test_add_func ("/bus-body/deep", test_deep);
  return g_test_run ();
}
