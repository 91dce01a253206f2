/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/broker/bed.h"

#include "dbus/error-bus.h"
#include "dbus/error.h"
#include "dbus/names.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
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
  const BrokerParameters parameters = {
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

  bed->broker = broker_new (&parameters, stopped, bed, error);
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
  g_clear_pointer (&bed->broker, broker_free);
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
  gint64 end = g_get_monotonic_time () + 10 * G_USEC_PER_SEC;

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

/* --- callers --- */

static void
signal_heard (GDBusConnection *connection,
              const char *sender,
              const char *path,
              const char *interface,
              const char *signal,
              GVariant *parameters,
              gpointer data)
{
  Caller *caller = data;
  gsize n = g_variant_n_children (parameters);

  g_string_append (caller->heard, signal);
  if (strcmp (signal, "Changed") == 0)
    g_string_append_printf (caller->heard, " %s", path);
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (parameters, i);

      g_string_append_printf (caller->heard, " %s", g_variant_get_string (child, NULL));
    }
  g_string_append_c (caller->heard, '\n');
}

Caller *
bed_caller (Bed *bed, uid_t uid)
{
  Caller *caller = g_new0 (Caller, 1);
  g_autoptr (GError) error = NULL;

  caller->bed = bed;
  caller->heard = g_string_new (NULL);
  caller->connection = g_dbus_connection_new_for_address_sync (
      bed->address,
      G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
          G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
      NULL, NULL, &error);
  g_assert_no_error (error);
  g_hash_table_insert (bed->uids,
                       g_strdup (g_dbus_connection_get_unique_name (caller->connection)),
                       GUINT_TO_POINTER (uid));
  g_dbus_connection_signal_subscribe (caller->connection, US_BUS_NAME, NULL, NULL, NULL, NULL,
                                      G_DBUS_SIGNAL_FLAGS_NONE, signal_heard, caller, NULL);
  return caller;
}

void
caller_free (Caller *caller)
{
  g_dbus_connection_close_sync (caller->connection, NULL, NULL);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_object_unref (caller->connection);
  g_string_free (caller->heard, TRUE);
  g_free (caller);
}

void
pending_clear (Pending *pending)
{
  g_clear_pointer (&pending->reply, g_variant_unref);
  g_clear_error (&pending->error);
}

static void
call_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Pending *pending = data;
  GError *error = NULL;

  pending->reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &error);
  if (error != NULL)
    us_error_propagate_bus (&pending->error, error);
  pending->done = TRUE;
}

void
caller_begin (Caller *caller,
              const char *path,
              const char *interface,
              const char *member,
              GVariant *parameters,
              Pending *pending)
{
  g_dbus_connection_call (caller->connection, US_BUS_NAME, path, interface, member, parameters,
                          NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, call_done, pending);
}

static gboolean
is_done (gpointer data)
{
  return ((const Pending *) data)->done;
}

void
pending_wait (Pending *pending)
{
  bed_wait (is_done, pending);
}

GVariant *
caller_call (Caller *caller,
             const char *path,
             const char *interface,
             const char *member,
             GVariant *parameters,
             GError **error)
{
  Pending pending = { 0 };

  caller_begin (caller, path, interface, member, parameters, &pending);
  pending_wait (&pending);
  if (pending.error != NULL)
    g_propagate_error (error, pending.error);
  return pending.reply;
}

typedef struct
{
  Pending pending;
  GUnixFDList *fds;
} PendingFds;

static void
call_with_fds_done (GObject *source, GAsyncResult *result, gpointer data)
{
  PendingFds *pending = data;
  GError *error = NULL;

  pending->pending.reply = g_dbus_connection_call_with_unix_fd_list_finish (
      G_DBUS_CONNECTION (source), &pending->fds, result, &error);
  if (error != NULL)
    us_error_propagate_bus (&pending->pending.error, error);
  pending->pending.done = TRUE;
}

GVariant *
caller_call_with_fds (Caller *caller,
                      const char *path,
                      const char *interface,
                      const char *member,
                      GVariant *parameters,
                      GUnixFDList *fds,
                      GUnixFDList **out_fds,
                      GError **error)
{
  PendingFds pending = { 0 };

  g_dbus_connection_call_with_unix_fd_list (caller->connection, US_BUS_NAME, path, interface,
                                            member, parameters, NULL, G_DBUS_CALL_FLAGS_NONE, -1,
                                            fds, NULL, call_with_fds_done, &pending);
  pending_wait (&pending.pending);
  if (pending.pending.error != NULL)
    g_propagate_error (error, pending.pending.error);
  if (out_fds != NULL)
    *out_fds = g_steal_pointer (&pending.fds);
  g_clear_object (&pending.fds);
  return pending.pending.reply;
}

/* --- what most tests do --- */

char *
caller_open_run (Caller *caller, const char *label)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = NULL;
  GVariantBuilder options;
  char *run = NULL;

  g_variant_builder_init (&options, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&options, "{sv}", "label", g_variant_new_string (label));
  reply = caller_call (caller, US_OBJECT_PATH, US_INTERFACE_AGENT, "OpenRun",
                       g_variant_new ("(a{sv})", &options), &error);
  g_assert_no_error (error);
  g_variant_get (reply, "(s)", &run);
  return run;
}

GVariant *
mail_parameters (const char *run, const char *to, const char *options)
{
  GVariantBuilder arguments;
  const char *const list[] = { to, NULL };
  g_autoptr (GError) error = NULL;
  GVariant *parsed = NULL;

  g_variant_builder_init (&arguments, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&arguments, "{sv}", "to", g_variant_new_strv (list, -1));
  g_variant_builder_add (&arguments, "{sv}", "subject", g_variant_new_string ("Report"));
  parsed = g_variant_parse (G_VARIANT_TYPE_VARDICT, options != NULL ? options : "{}", NULL, NULL,
                            &error);
  g_assert_no_error (error);
  return g_variant_new ("(ssa{sv}@a{sv})", run, "mail.send", &arguments, parsed);
}

char *
caller_submit (Caller *caller, const char *run, const char *to, const char *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      caller_call (caller, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                   mail_parameters (run, to, options), &error);
  char *path = NULL;

  g_assert_no_error (error);
  g_variant_get (reply, "(os)", &path, NULL);
  return path;
}

char *
caller_state (Caller *caller, const char *path, GVariant **out_details)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      caller_call (caller, path, US_INTERFACE_REQUEST, "GetState", NULL, &error);
  char *state = NULL;

  g_assert_no_error (error);
  g_variant_get (reply, "(s@a{sv})", &state, out_details);
  return state;
}

static GVariant *
bytes_value (const char *text)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, text, strlen (text), 1);
}

static GVariant *
get_statement (Caller *caller, const char *path, const char *credential, GError **error)
{
  GVariantBuilder options;
  g_autoptr (GVariant) reply = NULL;

  g_variant_builder_init (&options, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&options, "{sv}", "decision", g_variant_new_string ("approve"));
  g_variant_builder_add (&options, "{sv}", "credential", bytes_value (credential));
  reply = caller_call (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, "GetStatement",
                       g_variant_new ("(oa{sv})", path, &options), error);
  return reply != NULL ? g_variant_get_child_value (reply, 0) : NULL;
}

gboolean
caller_approve (Caller *caller,
                const char *path,
                const char *credential,
                const char *signature,
                char **out_state,
                GError **error)
{
  g_autoptr (GVariant) statement = get_statement (caller, path, credential, error);
  g_autoptr (GVariant) reply = NULL;
  GVariantBuilder assertion;

  if (statement == NULL)
    return FALSE;
  g_variant_builder_init (&assertion, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&assertion, "{sv}", "credential", bytes_value (credential));
  g_variant_builder_add (&assertion, "{sv}", "client-data", bytes_value ("{}"));
  g_variant_builder_add (&assertion, "{sv}", "auth-data", bytes_value ("x"));
  g_variant_builder_add (&assertion, "{sv}", "signature", bytes_value (signature));
  reply = caller_call (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, "Approve",
                       g_variant_new ("(o@aya{sv})", path, statement, &assertion), error);
  if (reply == NULL)
    return FALSE;
  if (out_state != NULL)
    g_variant_get (reply, "(s)", out_state);
  return TRUE;
}

gboolean
caller_deny (Caller *caller, const char *path, const char *reason, GError **error)
{
  g_autoptr (GVariant) reply =
      caller_call (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, "Deny",
                   g_variant_new ("(osa{sv})", path, reason, NULL), error);

  return reply != NULL;
}

char *
details_get (GVariant *details, const char *key)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (details, key, NULL);

  return value != NULL ? g_variant_dup_string (value, NULL) : NULL;
}

void
wait_state (Caller *caller, const char *path, const char *state)
{
  gint64 end = g_get_monotonic_time () + 10 * G_USEC_PER_SEC;
  g_autofree char *found = caller_state (caller, path, NULL);

  while (strcmp (found, state) != 0)
    {
      if (g_get_monotonic_time () > end)
        g_error ("the request is %s and does not become %s", found, state);
      bed_spin (10);
      g_free (found);
      found = caller_state (caller, path, NULL);
    }
}
