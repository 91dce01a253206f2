/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/broker/bed.h"

#include "dbus/error-bus.h"
#include "service/broker/daemon.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the bus --- */

/* GTestDBus would fork, which a process with threads and sanitizers does not survive. */
static const char bus_config[] =
    "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\""
    " \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n"
    "<busconfig><type>session</type><listen>unix:dir=%s</listen><auth>EXTERNAL</auth>"
    "<policy context='default'><allow send_destination='*' eavesdrop='true'/>"
    "<allow eavesdrop='true'/><allow own='*'/></policy></busconfig>";

static void
end_with_test (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

static void
bus_start (Bed *bed)
{
  g_autofree char *config = g_build_filename (bed->dir, "bus.conf", NULL);
  g_autofree char *text = g_strdup_printf (bus_config, bed->dir);
  g_autofree char *option = g_strconcat ("--config-file=", config, NULL);
  const char *const argv[] = { "dbus-daemon", option, "--nofork", "--nopidfile",
                               "--print-address=1", NULL };
  g_autoptr (GError) error = NULL;
  char line[512] = "";
  int fd = -1;

  g_assert_true (g_file_set_contents (config, text, -1, NULL));
  g_spawn_async_with_pipes (NULL, (char **) argv, NULL,
                            G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, end_with_test, NULL,
                            &bed->bus_pid, NULL, &fd, NULL, &error);
  g_assert_no_error (error);
  for (gsize n = 0; n + 1 < sizeof line && (n == 0 || line[n - 1] != '\n'); n++)
    g_assert_cmpint (read (fd, line + n, 1), ==, 1);
  close (fd);
  bed->address = g_strdup (g_strchomp (line));
}

static void
bus_stop (Bed *bed)
{
  kill (bed->bus_pid, SIGTERM);
  waitpid (bed->bus_pid, NULL, 0);
  g_spawn_close_pid (bed->bus_pid);
  g_free (bed->address);
}

/* --- the daemon --- */

static gboolean
map_uid (const char *name, uid_t *inout_uid, gpointer data)
{
  Bed *bed = data;
  gpointer value = NULL;

  if (!g_hash_table_lookup_extended (bed->uids, name, NULL, &value))
    return FALSE;
  *inout_uid = GPOINTER_TO_UINT (value);
  return TRUE;
}

static void
stopped (gpointer data)
{
  Bed *bed = data;

  bed->stopped = TRUE;
}

gboolean
bed_try_start (Bed *bed, GError **error)
{
  g_autofree char *socket = g_build_filename (bed->dir, "executor.sock", NULL);
  g_autofree char *state = g_build_filename (bed->dir, "state", NULL);
  const DaemonParameters parameters = {
    .bus_address = bed->address,
    .executor_socket = socket,
    .state_dir = state,
    .config_dir = bed->dir,
    .config_owner = getuid (),
    .names = &set_names,
    .reach_period = 1,
    .register_wait = 600,
    .identity_map = map_uid,
    .identity_data = bed,
  };

  bed->broker = daemon_new (&parameters, stopped, bed, error);
  return bed->broker != NULL;
}

void
bed_start (Bed *bed)
{
  g_autoptr (GError) error = NULL;

  bed_try_start (bed, &error);
  g_assert_no_error (error);
}

void
bed_stop (Bed *bed)
{
  g_clear_pointer (&bed->broker, daemon_free);
}

void
bed_set_up (Bed *bed, gconstpointer config)
{
  g_autofree char *socket = NULL;
  g_autofree char *state = NULL;
  g_autofree char *file = NULL;

  us_error_register_bus ();
  bed->dir = g_dir_make_tmp ("undersign-broker-XXXXXX", NULL);
  socket = g_build_filename (bed->dir, "executor.sock", NULL);
  state = g_build_filename (bed->dir, "state", NULL);
  file = g_build_filename (bed->dir, "undersign.conf", NULL);
  g_assert_cmpint (g_mkdir (state, 0700), ==, 0);
  if (config != NULL)
    {
      g_assert_true (g_file_set_contents (file, config, -1, NULL));
      g_assert_cmpint (g_chmod (file, 0600), ==, 0);
    }

  bed->uids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  bed->fake = fake_new (socket);
  bus_start (bed);
  bed_start (bed);
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name = NULL;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_tree (child);
    }
  g_assert_cmpint (remove (path), ==, 0);
}

void
bed_tear_down (Bed *bed, gconstpointer config)
{
  bed_stop (bed);
  fake_free (bed->fake);
  bus_stop (bed);
  g_hash_table_unref (bed->uids);
  /* Whatever the daemon left on the main loop finds nobody. */
  while (g_main_context_iteration (NULL, FALSE))
    ;
  remove_tree (bed->dir);
  g_free (bed->dir);
}

void
bed_wait (gboolean (*test) (gpointer data), gpointer data)
{
  gint64 end = g_get_monotonic_time () + BED_PATIENCE * G_USEC_PER_SEC;

  while (!test (data))
    {
      if (g_get_monotonic_time () > end)
        g_error ("what the test waits for does not happen");
      if (!g_main_context_iteration (NULL, FALSE))
        g_usleep (500);
    }
}

void
bed_spin (guint milliseconds)
{
  gint64 end = g_get_monotonic_time () + milliseconds * (gint64) 1000;

  while (g_get_monotonic_time () < end)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (500);
}
