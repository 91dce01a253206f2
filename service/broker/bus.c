/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bus as a stream of calls.  A filter, which runs in the thread that reads the connection, takes
 * every method call, so that GDBus never answers one by itself: not Ping, not Introspect, not
 * Properties.  It bounds what one connection may have waiting and hands the rest to the main loop
 * in order.  It must never look at the body of a message.
 */
#include "service/broker/bus.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

/* What the filter shares with the main loop. */
typedef struct
{
  gatomicrefcount refs;
  GMutex lock;
  GQueue incoming;     /* (element-type GDBusMessage) */
  GHashTable *waiting; /* unique name → how many of its calls have no answer */
  gboolean scheduled;
  Bus *bus;            /* NULL once it is gone; read on the main loop alone */
} Intake;

struct Bus
{
  GDBusConnection *connection;
  Intake *intake;
  guint filter;
  guint subscription;
  gulong closed;
  BusHandler handler;
  BusGone gone;
  gpointer data;
};

struct Call
{
  Intake *intake;
  GDBusConnection *connection;
  GDBusMessage *message;
  gboolean has_uid;
  uid_t uid;
  gpointer data;
  GDestroyNotify free_data;
};

/* --- the intake --- */

static void
intake_unref (gpointer data)
{
  Intake *intake = data;

  if (!g_atomic_ref_count_dec (&intake->refs))
    return;
  g_queue_clear_full (&intake->incoming, g_object_unref);
  g_hash_table_unref (intake->waiting);
  g_mutex_clear (&intake->lock);
  g_free (intake);
}

static Intake *
intake_ref (Intake *intake)
{
  g_atomic_ref_count_inc (&intake->refs);
  return intake;
}

/* Under the lock: counts one more call of @sender, or says that it has too many. */
static gboolean
intake_count (Intake *intake, const char *sender)
{
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (intake->waiting, sender));

  if (n >= BUS_CALLS_MAX)
    return FALSE;
  g_hash_table_replace (intake->waiting, g_strdup (sender), GUINT_TO_POINTER (n + 1));
  return TRUE;
}

static void
intake_uncount (Intake *intake, const char *sender)
{
  guint n = 0;

  g_mutex_lock (&intake->lock);
  n = GPOINTER_TO_UINT (g_hash_table_lookup (intake->waiting, sender));
  g_assert (n > 0);
  if (n == 1)
    g_hash_table_remove (intake->waiting, sender);
  else
    g_hash_table_replace (intake->waiting, g_strdup (sender), GUINT_TO_POINTER (n - 1));
  g_mutex_unlock (&intake->lock);
}

static Call *
call_new (Intake *intake, GDBusMessage *message)
{
  Call *call = g_new0 (Call, 1);

  call->intake = intake_ref (intake);
  call->connection = g_object_ref (intake->bus->connection);
  call->message = message;
  return call;
}

/* On the main loop. */
static gboolean
intake_deliver (gpointer data)
{
  Intake *intake = data;
  GQueue batch = G_QUEUE_INIT;
  GDBusMessage *message = NULL;

  g_mutex_lock (&intake->lock);
  batch = intake->incoming;
  g_queue_init (&intake->incoming);
  intake->scheduled = FALSE;
  g_mutex_unlock (&intake->lock);

  while ((message = g_queue_pop_head (&batch)) != NULL)
    {
      if (intake->bus == NULL)
        g_object_unref (message);
      else
        intake->bus->handler (call_new (intake, message), intake->bus->data);
    }
  return G_SOURCE_REMOVE;
}

static void
refuse_flood (GDBusConnection *connection, GDBusMessage *message)
{
  g_autoptr (GDBusMessage) reply = NULL;

  if ((g_dbus_message_get_flags (message) & G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED) != 0)
    return;
  reply = g_dbus_message_new_method_error (message, US_ERROR_PREFIX "LimitExceeded",
                                           "%s: %d calls of this connection wait for an answer",
                                           US_REASON_LIMIT, BUS_CALLS_MAX);
  g_dbus_connection_send_message (connection, reply, G_DBUS_SEND_MESSAGE_FLAGS_NONE, NULL, NULL);
}

/* In the thread that reads the connection. */
static GDBusMessage *
intake_filter (GDBusConnection *connection, GDBusMessage *message, gboolean incoming, gpointer data)
{
  Intake *intake = data;
  const char *sender = g_dbus_message_get_sender (message);
  gboolean schedule = FALSE;
  gboolean accepted = FALSE;

  if (!incoming || g_dbus_message_get_message_type (message) != G_DBUS_MESSAGE_TYPE_METHOD_CALL)
    return message;

  /* The bus names the sender of everything it delivers. */
  if (sender == NULL)
    {
      g_object_unref (message);
      return NULL;
    }

  g_mutex_lock (&intake->lock);
  accepted = intake_count (intake, sender);
  if (accepted)
    {
      g_queue_push_tail (&intake->incoming, message);
      schedule = !intake->scheduled;
      intake->scheduled = TRUE;
    }
  g_mutex_unlock (&intake->lock);

  if (!accepted)
    {
      refuse_flood (connection, message);
      g_object_unref (message);
    }
  if (schedule)
    g_idle_add_full (G_PRIORITY_DEFAULT, intake_deliver, intake_ref (intake), intake_unref);
  return NULL;
}

/* --- the connection --- */

static void
name_owner_changed (GDBusConnection *connection,
                    const char *sender,
                    const char *path,
                    const char *interface,
                    const char *signal,
                    GVariant *parameters,
                    gpointer data)
{
  Bus *bus = data;
  const char *name = NULL;
  const char *new_owner = NULL;

  if (!g_variant_is_of_type (parameters, G_VARIANT_TYPE ("(sss)")))
    return;
  g_variant_get (parameters, "(&s&s&s)", &name, NULL, &new_owner);
  if (name[0] == ':' && new_owner[0] == '\0')
    bus->gone (name, bus->data);
}

static void
connection_closed (GDBusConnection *connection, gboolean vanished, GError *error, gpointer data)
{
  Bus *bus = data;

  bus->gone (NULL, bus->data);
}

static GDBusConnection *
connect_to (const char *address, GError **error)
{
  g_autofree char *found = g_strdup (address);

  if (found == NULL)
    found = g_dbus_address_get_for_bus_sync (G_BUS_TYPE_SYSTEM, NULL, error);
  if (found == NULL)
    return NULL;
  return g_dbus_connection_new_for_address_sync (
      found,
      G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
          G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
      NULL, NULL, error);
}

Bus *
bus_new (const char *address, BusHandler handler, BusGone gone, gpointer data, GError **error)
{
  g_autoptr (GDBusConnection) connection = connect_to (address, error);
  Bus *bus = NULL;
  Intake *intake = NULL;

  if (connection == NULL)
    return NULL;

  bus = g_new0 (Bus, 1);
  bus->handler = handler;
  bus->gone = gone;
  bus->data = data;
  intake = g_new0 (Intake, 1);
  g_atomic_ref_count_init (&intake->refs);
  g_mutex_init (&intake->lock);
  g_queue_init (&intake->incoming);
  intake->waiting = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  intake->bus = bus;
  bus->intake = intake;
  bus->connection = g_object_ref (connection);

  /* Until here there was no name to call and no object that GDBus could have answered for. */
  bus->filter = g_dbus_connection_add_filter (connection, intake_filter, intake_ref (intake),
                                              intake_unref);
  bus->closed = g_signal_connect (connection, "closed", G_CALLBACK (connection_closed), bus);
  bus->subscription = g_dbus_connection_signal_subscribe (
      connection, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged",
      "/org/freedesktop/DBus", NULL, G_DBUS_SIGNAL_FLAGS_NONE, name_owner_changed, bus, NULL);
  return bus;
}

void
bus_free (Bus *bus)
{
  if (bus == NULL)
    return;
  bus->intake->bus = NULL;
  g_signal_handler_disconnect (bus->connection, bus->closed);
  g_dbus_connection_signal_unsubscribe (bus->connection, bus->subscription);
  g_dbus_connection_remove_filter (bus->connection, bus->filter);
  g_dbus_connection_flush_sync (bus->connection, NULL, NULL);
  g_dbus_connection_close_sync (bus->connection, NULL, NULL);
  g_object_unref (bus->connection);
  intake_unref (bus->intake);
  g_free (bus);
}

gboolean
bus_own (Bus *bus, const char *name, GError **error)
{
  const guint32 do_not_queue = 4;
  const guint32 primary_owner = 1;
  g_autoptr (GVariant) reply = NULL;
  guint32 result = 0;

  reply = g_dbus_connection_call_sync (
      bus->connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
      "RequestName", g_variant_new ("(su)", name, do_not_queue), G_VARIANT_TYPE ("(u)"),
      G_DBUS_CALL_FLAGS_NONE, -1, NULL, error);
  if (reply == NULL)
    return FALSE;
  g_variant_get (reply, "(u)", &result);
  if (result != primary_owner)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "the name %s is owned by another program", name);
  return TRUE;
}

GDBusConnection *
bus_connection (Bus *bus)
{
  return bus->connection;
}

void
bus_signal (Bus *bus,
            const char *destination,
            const char *path,
            const char *interface,
            const char *member,
            GVariant *body)
{
  g_autoptr (GError) error = NULL;

  if (!g_dbus_connection_emit_signal (bus->connection, destination, path, interface, member, body,
                                      &error))
    g_warning ("cannot send %s: %s", member, error->message);
}

/* --- a call --- */

const char *
call_sender (const Call *call)
{
  return g_dbus_message_get_sender (call->message);
}

const char *
call_path (const Call *call)
{
  return g_dbus_message_get_path (call->message);
}

const char *
call_interface (const Call *call)
{
  const char *interface = g_dbus_message_get_interface (call->message);

  return interface != NULL ? interface : "";
}

const char *
call_member (const Call *call)
{
  return g_dbus_message_get_member (call->message);
}

const char *
call_signature (const Call *call)
{
  return g_dbus_message_get_signature (call->message);
}

GVariant *
call_body (const Call *call)
{
  return g_dbus_message_get_body (call->message);
}

GUnixFDList *
call_fds (const Call *call)
{
  return g_dbus_message_get_unix_fd_list (call->message);
}

uid_t
call_uid (const Call *call)
{
  g_assert (call->has_uid);
  return call->uid;
}

void
call_set_uid (Call *call, uid_t uid)
{
  call->has_uid = TRUE;
  call->uid = uid;
}

gpointer
call_data (const Call *call)
{
  return call->data;
}

void
call_set_data (Call *call, gpointer data, GDestroyNotify free_data)
{
  g_assert (call->data == NULL);
  call->data = data;
  call->free_data = free_data;
}

/* Sends @reply, unless none is wanted, and ends the call. */
static void
call_end (Call *call, GDBusMessage *reply)
{
  g_autoptr (GError) error = NULL;

  if ((g_dbus_message_get_flags (call->message) & G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED) == 0 &&
      !g_dbus_connection_send_message (call->connection, reply, G_DBUS_SEND_MESSAGE_FLAGS_NONE,
                                       NULL, &error))
    g_info ("cannot answer %s: %s", call_member (call), error->message);

  intake_uncount (call->intake, call_sender (call));
  intake_unref (call->intake);
  if (call->free_data != NULL)
    call->free_data (call->data);
  g_object_unref (call->connection);
  g_object_unref (call->message);
  g_object_unref (reply);
  g_free (call);
}

void
call_return (Call *call, GVariant *body)
{
  GDBusMessage *reply = g_dbus_message_new_method_reply (call->message);

  if (body != NULL)
    g_dbus_message_set_body (reply, body);
  call_end (call, reply);
}

void
call_return_fd (Call *call, GVariant *body, int fd)
{
  g_autoptr (GUnixFDList) list = g_unix_fd_list_new_from_array (&fd, 1);
  GDBusMessage *reply = g_dbus_message_new_method_reply (call->message);

  g_dbus_message_set_unix_fd_list (reply, list);
  g_dbus_message_set_body (reply, body);
  call_end (call, reply);
}

void
call_fail (Call *call, const GError *error)
{
  gboolean is_ours = error->domain == US_ERROR;
  g_autofree char *name = g_strconcat (
      US_ERROR_PREFIX, us_error_name (is_ours ? (UsError) error->code : US_ERROR_UNAVAILABLE), NULL);
  g_autofree char *text =
      g_strconcat (is_ours ? "" : US_REASON_INTERNAL ": ", error->message, NULL);

  call_end (call, g_dbus_message_new_method_error_literal (call->message, name, text));
}

void
call_fail_with (Call *call, int code, const char *reason, const char *text)
{
  g_autoptr (GError) error = NULL;

  us_error_set (&error, (UsError) code, reason, "%s", text);
  call_fail (call, error);
}
