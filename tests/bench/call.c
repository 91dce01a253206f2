/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of one agent over the system bus, and the service that does nothing, to hold them against.
 */
#include "tests/bench/bench.h"

#include <string.h>

#define SERVICE "org.undersign1"
#define PATH "/org/undersign1"
#define AGENT "org.undersign1.Agent"
#define REQUEST "org.undersign1.Request"
#define TIMEOUT_MS (120 * 1000)

static const char interface[] =
    "<node><interface name='" BENCH_SERVICE "'><method name='Call'>"
    "<arg type='s' direction='in'/><arg type='s' direction='in'/>"
    "<arg type='a{sv}' direction='in'/><arg type='a{sv}' direction='in'/>"
    "<arg type='s' direction='out'/></method></interface></node>";

static GPtrArray *pending; /* paths */

static GDBusConnection *
bus (void)
{
  static GDBusConnection *connection;
  g_autoptr (GError) error = NULL;

  if (connection == NULL)
    connection = g_bus_get_sync (G_BUS_TYPE_SYSTEM, NULL, &error);
  g_assert_no_error (error);
  return connection;
}

GVariant *
call_service (const char *path, const char *on, const char *member, GVariant *body)
{
  g_autoptr (GError) error = NULL;
  GVariant *reply = g_dbus_connection_call_sync (bus (), SERVICE, path, on, member, body, NULL,
                                                 G_DBUS_CALL_FLAGS_NONE, TIMEOUT_MS, NULL, &error);

  if (reply == NULL)
    g_error ("%s: %s", member, error->message);
  return reply;
}

GVariant *
call_arguments (void)
{
  static guint64 counter;
  GVariantBuilder builder;

  counter++;
  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  for (guint i = 0; i < BENCH_ARGUMENTS; i++)
    {
      g_autofree char *name = g_strdup_printf ("a%u", i);
      g_autofree char *value = g_strdup_printf ("%0*" G_GUINT64_FORMAT, BENCH_VALUE, counter);

      g_variant_builder_add (&builder, "{sv}", name, g_variant_new_string (value));
    }
  return g_variant_builder_end (&builder);
}

static const char *
run_id (void)
{
  static char *run;

  if (run == NULL)
    {
      g_autoptr (GVariant) reply =
          call_service (PATH, AGENT, "OpenRun", g_variant_new_parsed ("({'label': <'bench'>},)"));

      g_variant_get (reply, "(s)", &run);
    }
  return run;
}

void
call_empty (Series *series)
{
  GDBusConnection *connection = bus ();

  for (guint i = 0; i < series->n; i++)
    {
      g_autoptr (GVariant) body = g_variant_ref_sink (
          g_variant_new ("(ss@a{sv}@a{sv})", "0123456789abcdef0123456789abcdef", BENCH_ACTION,
                         call_arguments (), g_variant_new_parsed ("@a{sv} {}")));
      g_autoptr (GVariant) reply = NULL;
      g_autoptr (GError) error = NULL;
      double start;

      series_rest (series);
      start = series_clock ();
      reply = g_dbus_connection_call_sync (connection, BENCH_SERVICE, BENCH_PATH, BENCH_SERVICE,
                                           "Call", body, G_VARIANT_TYPE ("(s)"),
                                           G_DBUS_CALL_FLAGS_NONE, TIMEOUT_MS, NULL, &error);
      series_add (series, start);
      g_assert_no_error (error);
    }
}

static GVariant *
submission (const char *action)
{
  return g_variant_ref_sink (g_variant_new ("(ss@a{sv}@a{sv})", run_id (), action,
                                            call_arguments (), g_variant_new_parsed ("@a{sv} {}")));
}

void
call_submit (Series *series)
{
  if (pending == NULL)
    pending = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < series->n; i++)
    {
      g_autoptr (GVariant) body = submission (BENCH_ACTION);
      g_autoptr (GVariant) reply = NULL;
      const char *state = NULL;
      char *path = NULL;
      double start;

      series_rest (series);
      start = series_clock ();
      reply = call_service (PATH, AGENT, "Submit", body);
      series_add (series, start);
      g_variant_get (reply, "(o&s)", &path, &state);
      g_assert_cmpstr (state, ==, "pending");
      g_ptr_array_add (pending, path);
    }
}

void
call_withdraw (Series *series)
{
  for (guint i = 0; pending != NULL && i < pending->len; i++)
    {
      const char *path = g_ptr_array_index (pending, i);
      g_autoptr (GVariant) reply = NULL;
      double start;

      series_rest (series);
      start = series_clock ();
      reply = call_service (path, REQUEST, "Withdraw", NULL);
      series_add (series, start);
    }
  g_clear_pointer (&pending, g_ptr_array_unref);
}

void
call_forget (Series *series)
{
  g_clear_pointer (&pending, g_ptr_array_unref);
}

static void
refused (Series *series, const char *action, const char *name)
{
  for (guint i = 0; i < series->n; i++)
    {
      g_autoptr (GVariant) body = submission (action);
      g_autoptr (GVariant) reply = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree char *remote = NULL;
      double start;

      series_rest (series);
      start = series_clock ();
      reply = g_dbus_connection_call_sync (bus (), SERVICE, PATH, AGENT, "Submit", body, NULL,
                                           G_DBUS_CALL_FLAGS_NONE, TIMEOUT_MS, NULL, &error);
      series_add (series, start);
      g_assert_null (reply);
      remote = g_dbus_error_get_remote_error (error);
      g_assert_cmpstr (remote, ==, name);
    }
}

void
call_denied (Series *series)
{
  refused (series, BENCH_DENIED, "org.undersign1.Error.Refused");
}

void
call_unknown (Series *series)
{
  refused (series, "bench.none", "org.undersign1.Error.UnknownAction");
}

static void
answer (GDBusConnection *connection,
        const char *sender,
        const char *path,
        const char *on,
        const char *member,
        GVariant *parameters,
        GDBusMethodInvocation *invocation,
        gpointer data)
{
  g_dbus_method_invocation_return_value (invocation, g_variant_new ("(s)", "done"));
}

void
call_serve (void)
{
  static const GDBusInterfaceVTable table = { .method_call = answer };
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (GDBusNodeInfo) node = g_dbus_node_info_new_for_xml (interface, NULL);
  g_autoptr (GError) error = NULL;

  g_dbus_connection_register_object (bus (), BENCH_PATH, node->interfaces[0], &table, NULL, NULL,
                                     &error);
  g_assert_no_error (error);
  g_bus_own_name_on_connection (bus (), BENCH_SERVICE, G_BUS_NAME_OWNER_FLAGS_NONE, NULL, NULL,
                                NULL, NULL);
  g_main_loop_run (loop);
}
