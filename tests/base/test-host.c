/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The derived name of the machine: a vector, and what is no machine id. */
#include "service/base/host.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

static char *
derive (const char *machine_id, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new (machine_id, strlen (machine_id));

  return host_id_derive (bytes, error);
}

static void
test_refused (void)
{
  static const char *const refused[] = {
    "",
    "\n",
    "uninitialized\n",
    "00000000000000000000000000000000\n",
    "0123456789abcdef0123456789abcde\n",
    "0123456789abcdef0123456789abcdef0\n",
    "0123456789ABCDEF0123456789ABCDEF\n",
    "0123456789abcdef0123456789abcdeg\n",
    "01234567-89ab-cdef-0123-456789abcdef\n",
    "0123456789abcdef0123456789abcdef\n\n",
    " 123456789abcdef0123456789abcdef\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (derive (refused[i], &error));
      g_assert_true (us_error_has_reason (error, US_REASON_INTERNAL));
    }
}

static void
test_derive (void)
{
  /* printf 'org.undersign1 host' | openssl mac -macopt hexkey:… -digest SHA256 HMAC */
  static const char expected[] = "6750bb680dad4c99da88d2503d73491c";
  g_autoptr (GError) error = NULL;
  g_autofree char *with_newline = derive ("0123456789abcdef0123456789abcdef\n", &error);
  g_autofree char *without = derive ("0123456789abcdef0123456789abcdef", &error);

  g_assert_no_error (error);
  g_assert_cmpstr (with_newline, ==, expected);
  g_assert_cmpstr (without, ==, expected);
}

static void
test_here (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *id = host_id (&error);
  g_autofree char *content = NULL;

  if (id == NULL)
    {
      g_test_skip ("no machine id here");
      return;
    }
  g_assert_cmpuint (strlen (id), ==, 32);
  g_assert_true (g_file_get_contents ("/etc/machine-id", &content, NULL, NULL));
  g_assert_false (g_str_has_prefix (content, id));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/host/refused", test_refused);
  g_test_add_func ("/base/host/derive", test_derive);
  g_test_add_func ("/base/host/here", test_here);
  return g_test_run ();
}
