/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All that is said to systemd about a unit.  Called by launch.c.  A unit has ended when systemd
 * says so, or that there is none of that name; no other error, and no silence, is taken for an end.
 */
#include "service/launcher/running.h"

#include "service/launcher/unit.h"

#define SYSTEMD "org.freedesktop.systemd1"
#define SYSTEMD_PATH "/org/freedesktop/systemd1"
#define MANAGER SYSTEMD ".Manager"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define TIMEOUT_MS (60 * 1000)

/* Each call in flight has a reference. */
struct Running
{
  GDBusConnection *bus;
  char *unit, *path;
  const RunningHooks *hooks; /* (nullable): NULL: freed, or it has ended */
  gpointer data;
  guint again_seconds;
  guint again; /* the timer */
  guint news;  /* of the unit, from systemd */
  gint32 code, status;
  gboolean is_stopped; /* or will be */
  gboolean is_looked_at;
  gboolean look_again;
};

static void
running_clear (gpointer data)
{
  Running *running = data;

  g_object_unref (running->bus);
  g_free (running->unit);
  g_free (running->path);
}

static void
running_unref (Running *running)
{
  g_rc_box_release_full (running, running_clear);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Running, running_unref)

static void
say (Running *running,
     const char *path,
     const char *interface,
     const char *member,
     GVariant *body,
     const char *reply_type,
     GAsyncReadyCallback done)
{
  g_dbus_connection_call (running->bus, SYSTEMD, path, interface, member, body,
                          G_VARIANT_TYPE (reply_type), G_DBUS_CALL_FLAGS_NO_AUTO_START, TIMEOUT_MS,
                          NULL, done, done != NULL ? g_rc_box_acquire (running) : NULL);
}

static GVariant *
finish_call (GObject *source, GAsyncResult *result, GError **error)
{
  return g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, error);
}

static gboolean
on_again (gpointer data)
{
  Running *running = data;

  running->again = 0;
  if (running->is_stopped)
    running_stop (running);
  else
    running_look (running);
  return G_SOURCE_REMOVE;
}

static void
do_again (Running *running)
{
  if (running->again == 0)
    running->again = g_timeout_add_seconds (running->again_seconds, on_again, running);
}

/* --- whether it has ended --- */

/* Nothing is heard or asked any more. */
static void
running_end (Running *running)
{
  running->hooks = NULL;
  g_clear_handle_id (&running->again, g_source_remove);
  if (running->news != 0)
    g_dbus_connection_signal_unsubscribe (running->bus, running->news);
  running->news = 0;
}

static void
running_say_end (Running *running)
{
  const RunningHooks *hooks = running->hooks;

  running_end (running);
  hooks->ended (running->code, running->status, running->data);
}

static gboolean
read_number (GObject *source, GAsyncResult *result, gint32 *out)
{
  g_autoptr (GVariant) reply = finish_call (source, result, NULL);
  g_autoptr (GVariant) value = NULL;

  if (reply == NULL)
    return FALSE;
  g_variant_get (reply, "(v)", &value);
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE_INT32))
    return FALSE;
  *out = g_variant_get_int32 (value);
  return TRUE;
}

static void
ask_property (Running *running, const char *interface, const char *name, GAsyncReadyCallback done)
{
  say (running, running->path, PROPERTIES, "Get", g_variant_new ("(ss)", interface, name), "(v)",
       done);
}

static void
on_status (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Running) running = data;

  if (!read_number (source, result, &running->status))
    running->code = 0;
  if (running->hooks != NULL)
    running_say_end (running);
}

static void
on_code (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Running) running = data;
  const gboolean is_known = read_number (source, result, &running->code);

  if (running->hooks == NULL)
    return;
  if (is_known)
    ask_property (running, SYSTEMD ".Service", "ExecMainStatus", on_status);
  else
    running_say_end (running);
}

/* Nothing but this says that it is not there any more. */
static gboolean
is_unknown (const GError *error)
{
  g_autofree char *name = g_dbus_error_get_remote_error (error);

  return g_strcmp0 (name, SYSTEMD ".NoSuchUnit") == 0 ||
         g_error_matches (error, G_DBUS_ERROR, G_DBUS_ERROR_UNKNOWN_OBJECT);
}

static void
on_state (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Running) running = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = finish_call (source, result, &error);
  g_autoptr (GVariant) value = NULL;
  const char *state = "";

  if (running->hooks == NULL)
    return;
  running->is_looked_at = FALSE;
  if (reply == NULL)
    state = is_unknown (error) ? "inactive" : "";
  if (reply != NULL)
    g_variant_get (reply, "(v)", &value);
  if (value != NULL && g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
    state = g_variant_get_string (value, NULL);
  if (g_str_equal (state, "inactive") || g_str_equal (state, "failed"))
    ask_property (running, SYSTEMD ".Service", "ExecMainCode", on_code);
  else if (running->look_again)
    running_look (running);
  else if (state[0] == '\0')
    do_again (running);
}

/* A state is asked for, never taken from a signal. */
void
running_look (Running *running)
{
  running->look_again = running->is_looked_at;
  if (running->is_looked_at || running->hooks == NULL)
    return;
  running->is_looked_at = TRUE;
  ask_property (running, SYSTEMD ".Unit", "ActiveState", on_state);
}

/* systemd says that something about the unit has changed. */
static void
on_news (GDBusConnection *bus,
         const char *sender,
         const char *path,
         const char *interface,
         const char *member,
         GVariant *body,
         gpointer data)
{
  running_look (data);
}

/* --- the beginning and the end --- */

static void
on_stopped (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Running) running = data;
  g_autoptr (GVariant) reply = finish_call (source, result, NULL);

  /* It may be that there is nothing to stop, which this does not say. */
  if (reply == NULL)
    running_look (running);
}

void
running_stop (Running *running)
{
  if (running->hooks == NULL)
    return;
  running->is_stopped = TRUE;
  say (running, SYSTEMD_PATH, MANAGER, "StopUnit", g_variant_new ("(ss)", running->unit, "replace"),
       "(o)", on_stopped);
  do_again (running);
}

static void
on_started (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Running) running = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = finish_call (source, result, &error);

  if (reply != NULL || running->hooks == NULL)
    return;
  g_dbus_error_strip_remote_error (error);
  running->hooks->doubtful (error->message, running->data);
}

Running *
running_start (GDBusConnection *bus,
               const char *unit,
               GVariant *properties,
               guint again_seconds,
               const RunningHooks *hooks,
               gpointer data)
{
  Running *running = g_rc_box_new0 (Running);

  running->bus = g_object_ref (bus);
  running->unit = g_strdup (unit);
  running->path = unit_path (unit);
  running->again_seconds = again_seconds;
  running->hooks = hooks;
  running->data = data;
  running->news = g_dbus_connection_signal_subscribe (bus, SYSTEMD, PROPERTIES, "PropertiesChanged",
                                                      running->path, NULL, G_DBUS_SIGNAL_FLAGS_NONE,
                                                      on_news, running, NULL);
  say (running, SYSTEMD_PATH, MANAGER, "StartTransientUnit",
       g_variant_new ("(ss@a(sv)a(sa(sv)))", unit, "fail", properties, NULL), "(o)", on_started);
  return running;
}

void
running_free (Running *running)
{
  running_end (running);
  say (running, SYSTEMD_PATH, MANAGER, "UnrefUnit", g_variant_new ("(s)", running->unit), "()",
       NULL);
  running_unref (running);
}
