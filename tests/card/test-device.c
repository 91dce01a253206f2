/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Security keys that are told to stop: how long is a matter of the clock, which is the test's own,
 * and not of what wakes the main loop meanwhile.
 */
#include "module/card/key/device.h"

#include "dbus/error.h"

#define WAKE_UPS 200 /* a key that is held down for seven seconds */
#define STOP_US (3 * G_USEC_PER_SEC)

/* What a key that is at work needs to end, and what it has had. */
static struct
{
  gint told, awake; /* atomic */
  gint needs_told, needs_awake;
  gint is_let_go; /* atomic */
  gint64 now, step;
  gint released; /* atomic */
} key;

int __wrap_fido_dev_open (fido_dev_t *fido, const char *path);
bool __wrap_fido_dev_is_fido2 (const fido_dev_t *fido);
int __wrap_fido_dev_cancel (fido_dev_t *fido);
gint64 __wrap_g_get_monotonic_time (void);

int
__wrap_fido_dev_open (fido_dev_t *fido, const char *path)
{
  return FIDO_OK;
}

bool
__wrap_fido_dev_is_fido2 (const fido_dev_t *fido)
{
  return true;
}

int
__wrap_fido_dev_cancel (fido_dev_t *fido)
{
  g_atomic_int_inc (&key.told);
  return FIDO_OK;
}

gint64
__wrap_g_get_monotonic_time (void)
{
  return key.now;
}

/* A key that stops when it was told often enough, and the main loop woken. */
static int
work (Device *device, gpointer data)
{
  while (!g_atomic_int_get (&key.is_let_go) && (g_atomic_int_get (&key.told) < key.needs_told ||
                                                g_atomic_int_get (&key.awake) < key.needs_awake))
    g_usleep (500);
  return FIDO_ERR_KEEPALIVE_CANCEL;
}

static void
release (gpointer data)
{
  g_atomic_int_inc (&key.released);
}

/* The person left before it began. */
static gboolean
left (gpointer data)
{
  return TRUE;
}

/* Each is a wake-up, as one of a terminal's is. */
static gboolean
on_wake_up (gpointer data)
{
  if (g_atomic_int_get (&key.told) > 0)
    {
      g_atomic_int_inc (&key.awake);
      key.now += key.step;
    }
  return G_SOURCE_CONTINUE;
}

static void
run (gint needs_told, gint needs_awake, gint64 step)
{
  DeviceName name = { .path = (char *) "/dev/none", .name = (char *) "a key" };
  g_autoptr (GError) error = NULL;
  g_autoptr (Device) device = device_open (&name, 60000, &error);
  guint source = g_timeout_add (1, on_wake_up, NULL);
  int code = FIDO_OK;

  g_assert_no_error (error);
  key.told = key.awake = key.is_let_go = key.released = 0;
  key.needs_told = needs_told;
  key.needs_awake = needs_awake;
  key.now = 1;
  key.step = step;
  code = device_run (device, work, NULL, release, left, NULL);
  g_assert_cmpint (code, ==, FIDO_ERR_KEEPALIVE_CANCEL);
  g_source_remove (source);
}

/* It is waited for, however often the main loop is woken. */
static void
test_woken (void)
{
  run (1, WAKE_UPS, 0);
  g_assert_cmpint (g_atomic_int_get (&key.awake), >=, WAKE_UPS);
  g_assert_cmpint (g_atomic_int_get (&key.released), ==, 1);
}

/* One that had not begun to listen is told again. */
static void
test_told_again (void)
{
  run (3, 0, 0);
  g_assert_cmpint (g_atomic_int_get (&key.told), >=, 3);
  g_assert_cmpint (g_atomic_int_get (&key.released), ==, 1);
}

/* One that never stops is given up when its time is over, and its work released when it ends. */
static void
test_given_up (void)
{
  run (1, G_MAXINT, STOP_US / 50);
  g_assert_cmpint (g_atomic_int_get (&key.awake), >=, 50);
  g_assert_cmpint (g_atomic_int_get (&key.released), ==, 0);
  g_atomic_int_set (&key.is_let_go, TRUE);
  while (g_atomic_int_get (&key.released) == 0)
    g_usleep (500);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/device/woken", test_woken);
  g_test_add_func ("/device/told-again", test_told_again);
  g_test_add_func ("/device/given-up", test_given_up);
  return g_test_run ();
}
