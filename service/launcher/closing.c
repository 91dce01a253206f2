/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Starts a unit that closes a run.  Called by launch.c.  The launcher has no right of its own to
 * close one: the unit runs as the agent, kept from all that the agent's commands are kept from.
 */
#include "service/launcher/closing.h"

#include "service/launcher/unit.h"

#define SYSTEMD "org.freedesktop.systemd1"
#define TIMEOUT_MS (60 * 1000)

static void
on_started (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree char *unit = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &error);

  if (reply == NULL)
    g_warning ("a run stays open: systemd does not start %s: %s", unit, error->message);
}

void
closing_begin (GDBusConnection *bus, const Order *order, const char *id)
{
  char *unit = g_strdup_printf ("undersign-launch-%s-close.service", id);

  g_dbus_connection_call (bus, SYSTEMD, "/org/freedesktop/systemd1", SYSTEMD ".Manager",
                          "StartTransientUnit",
                          g_variant_new ("(ss@a(sv)a(sa(sv)))", unit, "fail",
                                         unit_closing_properties (order), NULL),
                          G_VARIANT_TYPE ("(o)"), G_DBUS_CALL_FLAGS_NO_AUTO_START, TIMEOUT_MS, NULL,
                          on_started, unit);
}
