/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One timer: in order, not from within, not after it was cancelled, not endlessly in one turn. */
#include "service/base/clock.h"
#include "service/broker/expiry.h"

static GString *order;
static Expiry *expiry;
static ExpiryTimer *other;

static void
note (gpointer data)
{
  g_string_append (order, data);
}

static void
note_and_cancel_other (gpointer data)
{
  g_string_append (order, data);
  expiry_cancel (expiry, other);
}

static void
note_and_renew (gpointer data)
{
  g_string_append (order, data);
  if (order->len < 3)
    expiry_add (expiry, 0, note_and_renew, data);
}

static void
set_up (void)
{
  g_autoptr (GError) error = NULL;

  order = g_string_new (NULL);
  expiry = expiry_new (&error);
  g_assert_no_error (error);
}

static void
tear_down (void)
{
  expiry_free (expiry);
  g_string_free (order, TRUE);
}

static void
run_until (gsize len)
{
  gint64 end = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;

  while (order->len < len && g_get_monotonic_time () < end)
    g_main_context_iteration (NULL, FALSE);
}

static void
test_order (void)
{
  guint64 now = clock_boottime ();

  set_up ();
  expiry_add (expiry, now + 30000, note, (gpointer) "c");
  expiry_add (expiry, now + 10000, note, (gpointer) "a");
  expiry_add (expiry, now + 20000, note, (gpointer) "b");
  expiry_add_seconds (expiry, 3600, note, (gpointer) "z");
  g_assert_cmpuint (expiry_count (expiry), ==, 4);
  run_until (3);
  g_assert_cmpstr (order->str, ==, "abc");
  g_assert_cmpuint (clock_boottime (), >=, now + 30000);
  g_assert_cmpuint (expiry_count (expiry), ==, 1);
  tear_down ();
}

static void
test_past (void)
{
  set_up ();
  expiry_add (expiry, 0, note, (gpointer) "a");
  g_assert_cmpstr (order->str, ==, "");
  run_until (1);
  g_assert_cmpstr (order->str, ==, "a");
  tear_down ();
}

static void
test_cancel (void)
{
  guint64 now = clock_boottime ();

  set_up ();
  expiry_add (expiry, now + 1000, note_and_cancel_other, (gpointer) "a");
  other = expiry_add (expiry, now + 1001, note, (gpointer) "b");
  expiry_add (expiry, now + 1002, note, (gpointer) "c");
  g_usleep (5000);
  run_until (2);
  g_assert_cmpstr (order->str, ==, "ac");
  g_assert_cmpuint (expiry_count (expiry), ==, 0);
  tear_down ();
}

/* One that renews itself at once leaves the main loop its turn. */
static void
test_renew (void)
{
  set_up ();
  expiry_add (expiry, 0, note_and_renew, (gpointer) "a");
  while (order->len == 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (order->str, ==, "a");
  run_until (3);
  g_assert_cmpstr (order->str, ==, "aaa");
  tear_down ();
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/expiry/order", test_order);
  g_test_add_func ("/expiry/past", test_past);
  g_test_add_func ("/expiry/cancel", test_cancel);
  g_test_add_func ("/expiry/renew", test_renew);
  return g_test_run ();
}
