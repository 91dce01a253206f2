/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bus as a stream of calls.  The relay's thread looks at the header of every call and lets pass
 * what the table has and there is room for.  A filter, in the thread that reads the connection,
 * takes every call that passed, so that GDBus never answers one by itself: not Ping, not
 * Introspect, not Properties; it hands them to the main loop in order.  Neither may look at a body.
 */
#include "service/broker/bus.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/bus-relay.h"
#include "service/base/bus-share.h"

#include <string.h>

/* A call for the main loop and what it is charged to. */
typedef struct
{
  GDBusMessage *message;
  BusCharge *charge;
  GError *fault;
} Passed;

/* What the threads share. */
typedef struct
{
  gatomicrefcount refs;
  GMutex lock;
  GQueue incoming;     /* (element-type Passed) */
  gboolean scheduled;
  BusShare *share;
  BusRelay *relay;     /* (nullable): until it is there */
  BusJudge judge;
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
  BusCharge *charge;
  GError *fault;
  gboolean has_uid;
  uid_t uid;
  gpointer data;
  GDestroyNotify free_data;
};

/* --- the intake --- */

static void
passed_free (gpointer data)
{
  Passed *passed = data;

  bus_charge_free (passed->charge);
  g_clear_error (&passed->fault);
  g_object_unref (passed->message);
  g_free (passed);
}

static void
intake_unref (gpointer data)
{
  Intake *intake = data;

  if (!g_atomic_ref_count_dec (&intake->refs))
    return;
  g_queue_clear_full (&intake->incoming, passed_free);
  bus_relay_unref (intake->relay);
  bus_share_unref (intake->share);
  g_mutex_clear (&intake->lock);
  g_free (intake);
}

static Intake *
intake_ref (Intake *intake)
{
  g_atomic_ref_count_inc (&intake->refs);
  return intake;
}

static Call *
call_new (Intake *intake, Passed *passed)
{
  Call *call = g_new0 (Call, 1);

  call->intake = intake_ref (intake);
  call->connection = g_object_ref (intake->bus->connection);
  call->message = passed->message;
  call->charge = passed->charge;
  call->fault = passed->fault;
  g_free (passed);
  return call;
}

/* On the main loop. */
static gboolean
intake_deliver (gpointer data)
{
  Intake *intake = data;
  GQueue batch = G_QUEUE_INIT;
  Passed *passed = NULL;

  g_mutex_lock (&intake->lock);
  batch = intake->incoming;
  g_queue_init (&intake->incoming);
  intake->scheduled = FALSE;
  g_mutex_unlock (&intake->lock);

  while ((passed = g_queue_pop_head (&batch)) != NULL)
    {
      if (intake->bus == NULL)
        passed_free (passed);
      else
        intake->bus->handler (call_new (intake, passed), intake->bus->data);
    }
  return G_SOURCE_REMOVE;
}

/* In a thread of the connection. */
static void
intake_push (Intake *intake, GDBusMessage *message, BusCharge *charge, GError *fault)
{
  Passed *passed = g_new0 (Passed, 1);
  gboolean schedule = FALSE;

  passed->message = message;
  passed->charge = charge;
  passed->fault = fault;
  g_mutex_lock (&intake->lock);
  g_queue_push_tail (&intake->incoming, passed);
  schedule = !intake->scheduled;
  intake->scheduled = TRUE;
  g_mutex_unlock (&intake->lock);
  if (schedule)
    g_idle_add_full (G_PRIORITY_DEFAULT, intake_deliver, intake_ref (intake), intake_unref);
}

/* The call without what is wrong with it, for whoever may know. */
static void
push_fault (Intake *intake, const BusHeader *header, BusCharge *charge, GError *fault)
{
  GDBusMessage *message =
      g_dbus_message_new_method_call (NULL, header->path, header->interface, header->member);

  g_dbus_message_set_sender (message, header->sender);
  g_dbus_message_set_serial (message, header->serial);
  g_dbus_message_set_flags (message, header->flags & BUS_NO_REPLY
                                         ? G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED
                                         : G_DBUS_MESSAGE_FLAGS_NONE);
  intake_push (intake, message, charge, fault);
}

/* In the relay's thread. */
static gboolean
intake_judge (
    const BusHeader *header, guint64 *out_lane, gpointer *out_ticket, gpointer data, GError **error)
{
  Intake *intake = data;
  g_autoptr (GError) fault = NULL;
  BusCharge *charge = NULL;
  gsize size = header->header_size;

  if (!intake->judge (header, &fault, error))
    return FALSE;
  if (fault == NULL)
    size += header->body_size;
  charge = bus_share_take (intake->share, header->sender, size, fault == NULL ? header->n_fds : 0,
                           out_lane, error);
  if (charge == NULL)
    return FALSE;
  if (fault != NULL)
    {
      push_fault (intake, header, charge, g_steal_pointer (&fault));
      return FALSE;
    }
  *out_ticket = charge;
  return TRUE;
}

/* In the thread that reads the connection. */
static GDBusMessage *
intake_filter (GDBusConnection *connection, GDBusMessage *message, gboolean incoming, gpointer data)
{
  Intake *intake = data;

  if (!incoming || g_dbus_message_get_message_type (message) != G_DBUS_MESSAGE_TYPE_METHOD_CALL)
    return message;
  intake_push (intake, message,
               bus_relay_taken (intake->relay, g_dbus_message_get_serial (message)), NULL);
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
    {
      bus_share_forget (bus->intake->share, name);
      bus->gone (name, bus->data);
    }
}

static void
connection_closed (GDBusConnection *connection, gboolean vanished, GError *error, gpointer data)
{
  Bus *bus = data;

  bus->gone (NULL, bus->data);
}

static Intake *
intake_new (BusJudge judge)
{
  static const BusBounds bounds = {
    .calls_known = BUS_CALLS_MAX,
    .calls_unknown = BUS_CALLS_UNKNOWN_MAX,
    .all = { BUS_ALL_CALLS_MAX, BUS_ALL_BYTES_MAX, BUS_ALL_FDS_MAX },
  };
  Intake *intake = g_new0 (Intake, 1);

  g_atomic_ref_count_init (&intake->refs);
  g_mutex_init (&intake->lock);
  g_queue_init (&intake->incoming);
  intake->share = bus_share_new (&bounds);
  intake->judge = judge;
  return intake;
}

Bus *
bus_new (const char *address,
         BusJudge judge,
         BusHandler handler,
         BusGone gone,
         gpointer data,
         GError **error)
{
  Intake *intake = intake_new (judge);
  Bus *bus = NULL;

  intake->relay = bus_relay_new (address, intake_judge, bus_charge_free, intake, error);
  if (intake->relay == NULL)
    {
      intake_unref (intake);
      return NULL;
    }

  bus = g_new0 (Bus, 1);
  bus->handler = handler;
  bus->gone = gone;
  bus->data = data;
  bus->intake = intake;
  bus->connection = bus_relay_connection (intake->relay);
  intake->bus = bus;

  bus->filter = g_dbus_connection_add_filter (bus->connection, intake_filter, intake_ref (intake),
                                              intake_unref);
  bus->closed = g_signal_connect (bus->connection, "closed", G_CALLBACK (connection_closed), bus);
  bus->subscription = g_dbus_connection_signal_subscribe (
      bus->connection, BUS_DRIVER, BUS_DRIVER, "NameOwnerChanged", "/org/freedesktop/DBus", NULL,
      G_DBUS_SIGNAL_FLAGS_NONE, name_owner_changed, bus, NULL);
  bus_relay_open (intake->relay);
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
  bus_relay_close (bus->intake->relay);
  g_dbus_connection_remove_filter (bus->connection, bus->filter);
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

BusAmount
bus_waiting (Bus *bus)
{
  return bus_share_used (bus->intake->share);
}

guint64
bus_passed (Bus *bus)
{
  return bus_relay_passed (bus->intake->relay);
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

const GError *
call_fault (const Call *call)
{
  return call->fault;
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
  bus_share_know (call->intake->share, call_sender (call), uid);
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

  bus_charge_free (call->charge);
  g_clear_error (&call->fault);
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
