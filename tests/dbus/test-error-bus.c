/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Refusals cross the bus as they are; nothing else passes for one. */
#include "dbus/error-bus.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <gio/gio.h>

static void
test_each_code (void)
{
  for (guint i = 0; i < US_ERROR_N; i++)
    {
      g_autoptr (GError) sent = NULL;
      g_autoptr (GError) got = NULL;
      g_autofree char *name = NULL;
      g_autofree char *expected = NULL;

      us_error_set (&sent, (UsError) i, US_REASON_LIMIT, "eight");
      name = g_dbus_error_encode_gerror (sent);
      expected = g_strconcat (US_ERROR_PREFIX, us_error_name ((UsError) i), NULL);
      g_assert_cmpstr (name, ==, expected);

      g_assert_false (
          us_error_propagate_bus (&got, g_dbus_error_new_for_dbus_error (name, sent->message)));
      g_assert_error (got, US_ERROR, (int) i);
      g_assert_cmpstr (got->message, ==, "limit: eight");
    }
}

static void
test_foreign (void)
{
  static const char *const names[] = {
    "org.freedesktop.DBus.Error.NoReply",
    "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.undersign1.Error.NoSuchCode",
    "org.example.Error.Refused",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GError) got = NULL;

      us_error_propagate_bus (&got, g_dbus_error_new_for_dbus_error (names[i], "refused: no"));
      g_assert_error (got, US_ERROR, US_ERROR_UNAVAILABLE);
      g_assert_true (us_error_has_reason (got, US_REASON_UNREACHABLE));
    }
}

static void
test_local (void)
{
  g_autoptr (GError) got = NULL;

  us_error_propagate_bus (&got, g_error_new (G_IO_ERROR, G_IO_ERROR_CLOSED, "closed"));
  g_assert_true (us_error_has_reason (got, US_REASON_UNREACHABLE));
  g_clear_error (&got);

  us_error_propagate_bus (&got, g_error_new (G_IO_ERROR, G_IO_ERROR_CANCELLED, "stop"));
  g_assert_error (got, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  us_error_register_bus ();
  us_error_register_bus ();
  g_test_add_func ("/error-bus/each-code", test_each_code);
  g_test_add_func ("/error-bus/foreign", test_foreign);
  g_test_add_func ("/error-bus/local", test_local);
  return g_test_run ();
}
