/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The connection.  The name's owner is looked up once, must be root's, and is then called by its
 * unique name, so that nobody can step in between.
 */
#include "service/ctl/bus.h"

#include "dbus/error-bus.h"
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/ctl/agent.h"
#include "service/ctl/output.h"

#include <gio/gunixfdlist.h>

/* Longer than polkit has for asking a person, and the executor for its work. */
#define CALL_TIMEOUT_MS (300 * 1000)
#define BUS_TIMEOUT_MS (30 * 1000)

/* One of the two that root owns. */
typedef struct
{
  const char *name, *path, *interface;
} Target;

static const Target admin = { US_ADMIN_BUS_NAME, US_ADMIN_OBJECT_PATH, US_INTERFACE_ADMIN };
static const Target launcher = { US_LAUNCHER_BUS_NAME, US_LAUNCHER_OBJECT_PATH,
                                 US_INTERFACE_LAUNCHER };

static GVariant *
ask_bus (Ctl *ctl,
         const Target *target,
         const char *member,
         GVariant *body,
         const char *type,
         GError **error)
{
  g_autoptr (GError) reason = NULL;
  GVariant *reply = g_dbus_connection_call_sync (
      ctl->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member,
      body, G_VARIANT_TYPE (type), G_DBUS_CALL_FLAGS_NONE, BUS_TIMEOUT_MS, NULL, &reason);

  if (reply == NULL)
    {
      g_dbus_error_strip_remote_error (reason);
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "%s cannot be reached: %s",
                    target->name, reason->message);
    }
  return reply;
}

/* The unique name behind the service's name, started where it does not run. */
static char *
name_owner (Ctl *ctl, const Target *target, GError **error)
{
  g_autoptr (GVariant) owner =
      ask_bus (ctl, target, "GetNameOwner", g_variant_new ("(s)", target->name), "(s)", NULL);
  g_autoptr (GVariant) started = NULL;
  char *name = NULL;

  if (owner == NULL)
    {
      started = ask_bus (ctl, target, "StartServiceByName", g_variant_new ("(su)", target->name, 0),
                         "(u)", error);
      if (started == NULL)
        return NULL;
      owner =
          ask_bus (ctl, target, "GetNameOwner", g_variant_new ("(s)", target->name), "(s)", error);
    }
  if (owner != NULL)
    g_variant_get (owner, "(s)", &name);
  return name;
}

static gboolean
find_owner (Ctl *ctl, const Target *target, GError **error)
{
  g_autofree char *name = name_owner (ctl, target, error);
  g_autoptr (GVariant) user = NULL;
  guint32 uid = G_MAXUINT32;

  if (name == NULL)
    return FALSE;
  user = ask_bus (ctl, target, "GetConnectionUnixUser", g_variant_new ("(s)", name), "(u)", error);
  if (user == NULL)
    return FALSE;
  g_variant_get (user, "(u)", &uid);
  if (uid != ctl->config->admin_uid)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_PEER,
                         "uid %u owns %s, which must be root's", uid, target->name);
  ctl->owner = g_steal_pointer (&name);
  return TRUE;
}

static gboolean
bus_open (Ctl *ctl, const Target *target, GError **error)
{
  g_autoptr (GError) reason = NULL;

  if (ctl->owner != NULL)
    return TRUE;
  if (ctl->config->address == NULL)
    ctl->bus = g_bus_get_sync (G_BUS_TYPE_SYSTEM, NULL, &reason);
  else
    ctl->bus =
        g_dbus_connection_new_for_address_sync (ctl->config->address,
                                                G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                                    G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                                                NULL, NULL, &reason);
  if (ctl->bus == NULL)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "no system bus: %s",
                         reason->message);
  g_dbus_connection_set_exit_on_close (ctl->bus, FALSE);
  return find_owner (ctl, target, error);
}

static GVariant *
call (Ctl *ctl,
      const Target *target,
      const char *member,
      GVariant *body,
      int fd,
      const char *reply_type,
      GError **error)
{
  g_autoptr (GVariant) owned = body != NULL ? g_variant_ref_sink (body) : NULL;
  g_autoptr (GUnixFDList) fds = NULL;
  g_autoptr (PolkitTty) agent = NULL;
  GError *reason = NULL;
  GVariant *reply = NULL;

  if (!bus_open (ctl, target, error))
    return NULL;
  if (fd >= 0)
    {
      fds = g_unix_fd_list_new ();
      if (g_unix_fd_list_append (fds, fd, NULL) < 0)
        {
          us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "no descriptor");
          return NULL;
        }
    }
  agent = polkit_tty_new ();
  reply = g_dbus_connection_call_with_unix_fd_list_sync (
      ctl->bus, ctl->owner, target->path, target->interface, member, owned,
      G_VARIANT_TYPE (reply_type), G_DBUS_CALL_FLAGS_ALLOW_INTERACTIVE_AUTHORIZATION,
      CALL_TIMEOUT_MS, fds, NULL, NULL, &reason);
  if (reply == NULL)
    us_error_propagate_bus (error, reason);
  return reply;
}

GVariant *
bus_call (
    Ctl *ctl, const char *member, GVariant *body, int fd, const char *reply_type, GError **error)
{
  return call (ctl, &admin, member, body, fd, reply_type, error);
}

GVariant *
bus_call_launcher (
    Ctl *ctl, const char *member, GVariant *body, const char *reply_type, GError **error)
{
  return call (ctl, &launcher, member, body, -1, reply_type, error);
}

gboolean
bus_do (Ctl *ctl, const char *member, GVariant *body, const char *text, GError **error)
{
  g_autoptr (GVariant) reply = bus_call (ctl, member, body, -1, "()", error);

  if (reply == NULL)
    return FALSE;
  output_done (ctl->json, text);
  return TRUE;
}
