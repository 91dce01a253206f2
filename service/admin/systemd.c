/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two calls to systemd, which need not be there: a container or a test may have none. */
#include "service/admin/systemd.h"

#define SYSTEMD_NAME "org.freedesktop.systemd1"
#define SYSTEMD_PATH "/org/freedesktop/systemd1"
#define SYSTEMD_INTERFACE "org.freedesktop.systemd1.Manager"
#define TIMEOUT_MS 30000

static void
on_restarted (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree char *unit = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &error);

  if (reply == NULL)
    g_message ("%s has the change at its next start: %s", unit, error->message);
}

static void
on_reloaded (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree char *unit = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &error);

  if (reply == NULL)
    {
      g_message ("%s has the change at its next start: %s", unit, error->message);
      return;
    }
  g_dbus_connection_call (G_DBUS_CONNECTION (source), SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_INTERFACE,
                          "TryRestartUnit", g_variant_new ("(ss)", unit, "replace"),
                          G_VARIANT_TYPE ("(o)"), G_DBUS_CALL_FLAGS_NO_AUTO_START, TIMEOUT_MS, NULL,
                          on_restarted, g_strdup (unit));
}

void
systemd_unit_changed (GDBusConnection *bus, const char *unit)
{
  g_dbus_connection_call (bus, SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_INTERFACE, "Reload", NULL, NULL,
                          G_DBUS_CALL_FLAGS_NO_AUTO_START, TIMEOUT_MS, NULL, on_reloaded,
                          g_strdup (unit));
}
