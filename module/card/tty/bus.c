/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls on the system bus.  Called by service.c and admin.c.  A name says who somebody claims to
 * be; only the uid that the bus gives for its owner says who it is, so nothing is sent before that.
 */
#include "module/card/tty/bus.h"

#include "dbus/error-bus.h"
#include "dbus/error.h"
#include "dbus/reason.h"

#define DBUS_NAME "org.freedesktop.DBus"
#define DBUS_PATH "/org/freedesktop/DBus"
#define PIN_TIMEOUT 30000

GDBusConnection *
bus_connect (const Trust *trust, GError **error)
{
  GError *local = NULL;
  GDBusConnection *connection = NULL;

  if (trust->fault != NULL)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "%s", trust->fault);
      return NULL;
    }
  us_error_register_bus ();
  connection = g_bus_get_sync (G_BUS_TYPE_SYSTEM, NULL, &local);
  if (connection == NULL)
    us_error_propagate_bus (error, local);
  else
    g_dbus_connection_set_exit_on_close (connection, FALSE);
  return connection;
}

GVariant *
bus_call (GDBusConnection *connection,
          const char *owner,
          const char *path,
          const char *interface,
          const char *member,
          GVariant *parameters,
          const char *reply_type,
          int timeout,
          GError **error)
{
  GError *local = NULL;
  GVariant *reply = g_dbus_connection_call_sync (
      connection, owner, path, interface, member, parameters, G_VARIANT_TYPE (reply_type),
      G_DBUS_CALL_FLAGS_NO_AUTO_START | G_DBUS_CALL_FLAGS_ALLOW_INTERACTIVE_AUTHORIZATION, timeout,
      NULL, &local);

  if (reply == NULL)
    us_error_propagate_bus (error, local);
  return reply;
}

static GVariant *
ask_bus (GDBusConnection *connection,
         const char *member,
         GVariant *parameters,
         const char *reply_type,
         GError **error)
{
  return bus_call (connection, DBUS_NAME, DBUS_PATH, DBUS_NAME, member, parameters, reply_type,
                   PIN_TIMEOUT, error);
}

static char *
find_owner (GDBusConnection *connection, const char *name, GError **error)
{
  g_autoptr (GVariant) owner =
      ask_bus (connection, "GetNameOwner", g_variant_new ("(s)", name), "(s)", NULL);
  g_autoptr (GVariant) started = NULL;
  char *unique = NULL;

  if (owner == NULL)
    {
      started =
          ask_bus (connection, "StartServiceByName", g_variant_new ("(su)", name, 0), "(u)", error);
      if (started == NULL)
        return NULL;
      owner = ask_bus (connection, "GetNameOwner", g_variant_new ("(s)", name), "(s)", error);
    }
  if (owner != NULL)
    g_variant_get (owner, "(s)", &unique);
  return unique;
}

char *
bus_pin (GDBusConnection *connection, const char *name, uid_t uid, GError **error)
{
  g_autofree char *unique = find_owner (connection, name, error);
  g_autoptr (GVariant) reply = NULL;
  guint32 owner = 0;

  if (unique == NULL)
    return NULL;
  reply =
      ask_bus (connection, "GetConnectionUnixUser", g_variant_new ("(s)", unique), "(u)", error);
  if (reply == NULL)
    return NULL;
  g_variant_get (reply, "(u)", &owner);
  if (owner != uid)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_PEER,
                    "%s is owned by uid %u, not by uid %u", name, owner, (guint) uid);
      return NULL;
    }
  return g_steal_pointer (&unique);
}
