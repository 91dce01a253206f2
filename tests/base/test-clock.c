/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time has one spelling, and a duration one unit. */
#include "service/base/clock.h"

static void
test_format (void)
{
  static const struct
  {
    gint64 wall;
    const char *text;
  } rows[] = {
    { 0, "1970-01-01T00:00:00Z" },
    { -1, "1969-12-31T23:59:59Z" },
    { 951782400, "2000-02-29T00:00:00Z" },
    { 1796029200, "2026-11-30T09:00:00Z" },
    { 253402300799, "9999-12-31T23:59:59Z" },
    { -62135596800, "0001-01-01T00:00:00Z" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = clock_format (rows[i].wall);
      gint64 back = 42;

      g_assert_cmpstr (text, ==, rows[i].text);
      g_assert_true (clock_parse (text, &back));
      g_assert_cmpint (back, ==, rows[i].wall);
    }
  g_assert_null (clock_format (253402300800));
  g_assert_null (clock_format (G_MAXINT64));
}

static void
test_parse_refused (void)
{
  static const char *const refused[] = {
    "",
    "2026-11-30",
    "2026-11-30T09:00:00",
    "2026-11-30 09:00:00Z",
    "2026-11-30t09:00:00z",
    "2026-11-30T09:00:00+00:00",
    "2026-11-30T09:00:00.0Z",
    "2026-11-30T9:00:00Z",
    "2026-11-30T09:00:00Z ",
    " 026-11-30T09:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-11-31T00:00:00Z",
    "2026-11-30T24:00:00Z",
    "2026-11-30T09:60:00Z",
    "2026-12-31T23:59:60Z",
    "0000-01-01T00:00:00Z",
    "+026-11-30T09:00:00Z",
  };
  gint64 wall = 42;

  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_test_message ("%s", refused[i]);
      g_assert_false (clock_parse (refused[i], &wall));
      g_assert_cmpint (wall, ==, 42);
    }
}

static void
test_duration (void)
{
  static const struct
  {
    const char *text;
    guint64 seconds; /* 0: refused */
  } rows[] = {
    { "1s", 1 },     { "90s", 90 },   { "10min", 600 }, { "2h", 7200 },
    { "7d", 604800 }, { "", 0 },       { "s", 0 },       { "10", 0 },
    { "0s", 0 },     { "010s", 0 },   { "-1s", 0 },     { "+1s", 0 },
    { "1 s", 0 },    { " 1s", 0 },    { "1s ", 0 },     { "1m", 0 },
    { "1S", 0 },     { "1.5h", 0 },   { "1h30min", 0 }, { "1week", 0 },
    { "99999999999999999999s", 0 },    { "999999999999999999d", 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      guint64 seconds = 42;
      gboolean ok = duration_parse (rows[i].text, &seconds);

      g_test_message ("%s", rows[i].text);
      g_assert_cmpint (ok, ==, rows[i].seconds != 0);
      g_assert_cmpuint (seconds, ==, ok ? rows[i].seconds : 42);
    }
}

static void
test_now (void)
{
  guint64 first = clock_boottime ();
  gint64 before = g_get_real_time () / G_USEC_PER_SEC;

  g_assert_cmpuint (first, >, 0);
  g_assert_cmpuint (clock_boottime (), >=, first);
  g_assert_cmpint (clock_wall (), >=, before);
  g_assert_cmpint (clock_wall (), <=, g_get_real_time () / G_USEC_PER_SEC + 1);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/clock/format", test_format);
  g_test_add_func ("/clock/parse-refused", test_parse_refused);
  g_test_add_func ("/clock/duration", test_duration);
  g_test_add_func ("/clock/now", test_now);
  return g_test_run ();
}
