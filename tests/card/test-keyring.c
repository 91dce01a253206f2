/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passkeys in a real keyring, GNOME's, on a session bus and in a home of the test's own. */
#include "module/card/key/store.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "tests/card/folder.h"

#include <gio/gio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define DAEMON "gnome-keyring-daemon"

typedef struct
{
  GTestDBus *bus;
  char *folder;
  GSubprocess *daemon;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  const char *argv[] = { DAEMON, "--foreground", "--unlock", "--components=secrets", NULL };
  g_autofree char *run = NULL;
  g_autoptr (GError) error = NULL;
  gsize written;

  fixture->folder = test_folder_new ();
  run = g_build_filename (fixture->folder, "run", NULL);
  g_assert_cmpint (g_mkdir (run, 0700), ==, 0);
  g_setenv ("HOME", fixture->folder, TRUE);
  g_setenv ("XDG_DATA_HOME", fixture->folder, TRUE);
  g_setenv ("XDG_RUNTIME_DIR", run, TRUE);
  fixture->bus = g_test_dbus_new (G_TEST_DBUS_NONE);
  g_test_dbus_up (fixture->bus);

  fixture->daemon = g_subprocess_newv (
      argv, G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE, &error);
  g_assert_no_error (error);
  g_output_stream_write_all (g_subprocess_get_stdin_pipe (fixture->daemon), "login", 5, &written,
                             NULL, &error);
  g_assert_no_error (error);
  g_output_stream_close (g_subprocess_get_stdin_pipe (fixture->daemon), NULL, NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_subprocess_send_signal (fixture->daemon, SIGTERM);
  g_subprocess_wait (fixture->daemon, NULL, NULL);
  g_object_unref (fixture->daemon);
  g_test_dbus_stop (fixture->bus);
  g_object_unref (fixture->bus);
  test_folder_remove (fixture->folder);
  g_free (fixture->folder);
}

/* The daemon takes the name when it is ready. */
static Store *
open_keyring (void)
{
  for (guint i = 0; i < 600; i++)
    {
      Store *store = store_keyring_open ();

      if (store != NULL)
        return store;
      g_usleep (G_USEC_PER_SEC / 10);
    }
  g_assert_not_reached ();
}

static void
assert_content (Store *store, const char *name, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = store->klass->load (store, name, &error);

  g_assert_no_error (error);
  g_assert_true ((bytes == NULL) == (expected == NULL));
  if (bytes != NULL)
    g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), expected,
                     strlen (expected));
}

static void
test_keyring (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Store) store = open_keyring ();
  g_autoptr (GBytes) first = g_bytes_new_static ("{\"a\":1}", 7);
  g_autoptr (GBytes) second = g_bytes_new_static ("{\"a\":2}", 7);
  g_autoptr (GPtrArray) names = NULL;
  g_autoptr (GError) error = NULL, twice = NULL, absent = NULL;

  g_assert_cmpstr (store->klass->place, ==, "keyring");
  assert_content (store, "one", NULL);
  g_assert_true (store->klass->save (store, "one", "Laptop", first, FALSE, &error));
  g_assert_no_error (error);
  g_assert_true (store->klass->save (store, "two", "Other", second, FALSE, &error));
  assert_content (store, "one", "{\"a\":1}");

  /* new means new, and changed means that it was there */
  g_assert_false (store->klass->save (store, "one", "Laptop", second, FALSE, &twice));
  g_assert_true (us_error_has_reason (twice, US_REASON_KEY_STORE));
  g_assert_false (store->klass->save (store, "three", "Laptop", second, TRUE, &absent));
  g_assert_true (us_error_has_reason (absent, US_REASON_KEY_STORE));
  g_assert_true (store->klass->save (store, "one", "Laptop", second, TRUE, &error));
  assert_content (store, "one", "{\"a\":2}");

  names = store->klass->list (store, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (names->len, ==, 2);
  g_assert_cmpstr (g_ptr_array_index (names, 0), ==, "one");
  g_assert_cmpstr (g_ptr_array_index (names, 1), ==, "two");

  g_assert_true (store->klass->remove (store, "one", &error));
  assert_content (store, "one", NULL);
  assert_content (store, "two", "{\"a\":2}");
}

int
main (int argc, char **argv)
{
  g_autofree char *program = g_find_program_in_path (DAEMON);

  g_test_init (&argc, &argv, NULL);
  if (program == NULL)
    {
      g_print ("1..0 # SKIP " DAEMON " is not installed\n");
      return 0;
    }
  g_test_add ("/keyring/keyring", Fixture, NULL, set_up, test_keyring, tear_down);
  return g_test_run ();
}
