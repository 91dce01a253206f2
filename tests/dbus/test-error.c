/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The error domain: a code, a reason, a text; and a reason is a whole word. */
#include "dbus/error.h"
#include "dbus/reason.h"

static void
test_set (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (us_error_set (&error, US_ERROR_REFUSED, US_REASON_NO_RULE, "for %s", "mail.send"));
  g_assert_error (error, US_ERROR, US_ERROR_REFUSED);
  g_assert_cmpstr (error->message, ==, "no-rule: for mail.send");
  g_assert_false (us_error_set (NULL, US_ERROR_REFUSED, US_REASON_NO_RULE, "nobody listens"));
}

static void
test_reason (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) foreign = g_error_new (G_FILE_ERROR, G_FILE_ERROR_IO, "limit: disk");

  us_error_set (&error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT, "8 pending");
  g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
  g_assert_false (us_error_has_reason (error, "limi"));
  g_assert_false (us_error_has_reason (error, "limit: 8"));
  g_assert_false (us_error_has_reason (foreign, US_REASON_LIMIT));
  g_assert_false (us_error_has_reason (NULL, US_REASON_LIMIT));
}

static void
test_about (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) foreign = g_error_new (G_FILE_ERROR, G_FILE_ERROR_IO, "input: output");
  GError *none = NULL;

  us_error_set (&error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_KEY, "too: short");
  us_error_about (&error, "a.key");
  g_assert_cmpstr (error->message, ==, "bad-key: a.key: too: short");
  us_error_about (&foreign, "a.key");
  g_assert_cmpstr (foreign->message, ==, "a.key: input: output");
  us_error_about (&none, "a.key");
  us_error_about (NULL, "a.key");
}

static void
test_names (void)
{
  for (guint i = 0; i < US_ERROR_N; i++)
    g_assert_cmpint (us_error_from_name (us_error_name ((UsError) i)), ==, i);
  g_assert_cmpint (us_error_from_name ("refused"), ==, US_ERROR_UNAVAILABLE);
  g_assert_cmpint (us_error_from_name (""), ==, US_ERROR_UNAVAILABLE);
  g_assert_cmpstr (us_error_name (US_ERROR_N), ==, "Unavailable");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/error/set", test_set);
  g_test_add_func ("/error/reason", test_reason);
  g_test_add_func ("/error/about", test_about);
  g_test_add_func ("/error/names", test_names);
  return g_test_run ();
}
