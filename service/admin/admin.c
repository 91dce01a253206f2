/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bus face.  The relay's thread holds the header of each call against the table before any of
 * its body is read; then the bus says who calls, polkit whether they may, and only then a handler
 * looks at the values.  Whatever fails on the way is a denial.
 */
#include "service/admin/admin.h"

#include "dbus/error-bus.h"
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/admin/authority.h"
#include "service/admin/member.h"
#include "service/base/bus-relay.h"
#include "service/base/bus-share.h"
#include "service/passkey/passkey.h"

#include <glib-unix.h>

/* Of one call: nothing is longer than what a new passkey says. */
#define BODY_MAX (PASSKEY_ATTESTATION_MAX + PASSKEY_CLIENT_DATA_MAX + 4096)
#define FDS_MAX 1
/* What may have no answer yet, see bus-share.h. */
#define CALLS_MAX 8 /* of one connection */
#define CALLS_UNKNOWN_MAX 4
#define CALLS_UID_MAX 8 /* of one uid: the bus has 128 for all that polkit is asked of */
#define ALL_CALLS_MAX 256
#define ALL_BYTES_MAX (1024 * 1024)
#define ALL_FDS_MAX 128
#define CREDENTIALS_TIMEOUT_MS 5000

typedef struct
{
  AdminState state;
  BusRelay *relay;
  BusShare *share;
  GMainLoop *loop;
  GHashTable *calls; /* set of Call: those that have no reply yet */
  guint idle_timer;
  int status;
} Admin;

/* One message on its way through the steps. */
typedef struct
{
  Admin *admin;
  GDBusMessage *message;
  BusCharge *charge;
  const AdminMember *member;
  const char *sender; /* owned by the message */
  gboolean has_uid;
  uid_t uid;
} Call;

static void
call_free (Call *call)
{
  bus_charge_free (call->charge);
  g_object_unref (call->message);
  g_free (call);
}

static gboolean
on_idle (gpointer data)
{
  Admin *admin = data;

  if (g_hash_table_size (admin->calls) > 0 || enrolments_open (admin->state.enrolments) > 0)
    return G_SOURCE_CONTINUE;
  admin->idle_timer = 0;
  g_main_loop_quit (admin->loop);
  return G_SOURCE_REMOVE;
}

static void
idle_restart (Admin *admin)
{
  if (admin->idle_timer != 0)
    g_source_remove (admin->idle_timer);
  admin->idle_timer = g_timeout_add_seconds (admin->state.config->idle_seconds, on_idle, admin);
}

/* The last step of every call: one reply, then it is forgotten. */
static void
call_reply (Call *call, GVariant *body, const GError *error)
{
  Admin *admin = call->admin;
  g_autoptr (GDBusMessage) reply = NULL;

  if (error != NULL)
    {
      g_autofree char *name = g_dbus_error_encode_gerror (error);

      reply = g_dbus_message_new_method_error_literal (call->message, name, error->message);
    }
  else
    {
      reply = g_dbus_message_new_method_reply (call->message);
      g_dbus_message_set_body (reply, body);
    }
  if (!(g_dbus_message_get_flags (call->message) & G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED))
    g_dbus_connection_send_message (admin->state.bus, reply, G_DBUS_SEND_MESSAGE_FLAGS_NONE, NULL,
                                    NULL);
  g_hash_table_remove (admin->calls, call);
  idle_restart (admin);
}

/* The call is authorised. */
static void
call_handle (Call *call)
{
  g_autoptr (GVariant) none = g_variant_ref_sink (g_variant_new ("()"));
  GVariant *body = g_dbus_message_get_body (call->message);
  AdminCall handed = { .state = &call->admin->state,
                       .body = body != NULL ? body : none,
                       .fds = g_dbus_message_get_unix_fd_list (call->message),
                       .sender = call->sender,
                       .uid = call->uid };
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) result = NULL;
  GVariant *returned = call->member->handler (&handed, &error);

  if (returned != NULL)
    result = g_variant_take_ref (returned);
  else if (error == NULL || error->domain != US_ERROR)
    {
      g_autoptr (GError) cause = g_steal_pointer (&error);

      us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "%s",
                    cause != NULL ? cause->message : "no result");
    }
  if (error != NULL)
    g_message ("%s by uid %u: %s", call->member->name, (guint) call->uid, error->message);
  else
    g_message ("%s by uid %u: done", call->member->name, (guint) call->uid);
  call_reply (call, result, error);
}

static void
on_authorised (const GError *error, gpointer data)
{
  Call *call = data;

  if (error != NULL)
    {
      g_message ("%s by uid %u: %s", call->member->name, (guint) call->uid, error->message);
      call_reply (call, NULL, error);
      return;
    }
  call_handle (call);
}

static gboolean
read_uid (GVariant *reply, uid_t *out_uid)
{
  g_autoptr (GVariant) credentials = g_variant_get_child_value (reply, 0);
  guint32 uid = 0;

  if (!g_variant_lookup (credentials, "UnixUserID", "u", &uid))
    return FALSE;
  *out_uid = uid;
  return TRUE;
}

/* How many calls of a uid have no answer yet, as far as it is known whose they are. */
static guint
calls_of (Admin *admin, uid_t uid)
{
  GHashTableIter iter;
  gpointer key = NULL;
  guint n = 0;

  g_hash_table_iter_init (&iter, admin->calls);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (((const Call *) key)->has_uid && ((const Call *) key)->uid == uid)
      n++;
  return n;
}

/* Who calls: from now on the call counts as one of his. */
static gboolean
call_identify (Call *call, GVariant *reply, GError **error)
{
  if (reply == NULL || !read_uid (reply, &call->uid))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY,
                         "the bus does not say who calls");
  bus_share_know (call->admin->share, call->sender, call->uid);
  bus_share_forget (call->admin->share, call->sender);
  if (calls_of (call->admin, call->uid) >= CALLS_UID_MAX)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "%d calls of this uid wait for an answer", CALLS_UID_MAX);
  call->has_uid = TRUE;
  return TRUE;
}

static void
on_credentials (GObject *source, GAsyncResult *result, gpointer data)
{
  Call *call = data;
  const AdminConfig *config = call->admin->state.config;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, NULL);
  gboolean interactive = FALSE;

  if (!call_identify (call, reply, &error))
    {
      call_reply (call, NULL, error);
      return;
    }
  if (call->member->bound)
    {
      call_handle (call);
      return;
    }
  interactive = (g_dbus_message_get_flags (call->message) &
                 G_DBUS_MESSAGE_FLAGS_ALLOW_INTERACTIVE_AUTHORIZATION) != 0;
  authority_check (call->admin->state.bus, call->member->action, call->sender, interactive,
                   interactive ? config->interactive_seconds : config->authorise_seconds,
                   on_authorised, call);
}

/* A call that passed, in the main loop. */
static gboolean
on_message (gpointer data)
{
  Call *call = data;
  Admin *admin = call->admin;

  g_hash_table_add (admin->calls, call);
  g_dbus_connection_call (
      admin->state.bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
      "GetConnectionCredentials", g_variant_new ("(s)", call->sender), G_VARIANT_TYPE ("(a{sv})"),
      G_DBUS_CALL_FLAGS_NONE, CREDENTIALS_TIMEOUT_MS, NULL, on_credentials, call);
  return G_SOURCE_REMOVE;
}

static gboolean
header_check (const BusHeader *header, GError **error)
{
  const AdminMember *member = member_find (header->interface, header->member);
  g_autofree char *signature = g_strdup_printf ("(%s)", header->signature);

  if (member == NULL || g_strcmp0 (header->path, US_ADMIN_OBJECT_PATH) != 0)
    return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                         "no such object or member");
  if (g_strcmp0 (signature, member->signature) != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE, "%s takes %s",
                         member->name, member->signature);
  if (header->body_size > BODY_MAX || header->n_fds > FDS_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the arguments of %s have %u bytes and %u files, at most %d and %d are "
                         "accepted",
                         member->name, header->body_size, header->n_fds, BODY_MAX, FDS_MAX);
  return TRUE;
}

/* In the relay's thread: touches nothing but the table and the share. */
static gboolean
on_header (
    const BusHeader *header, guint64 *out_lane, gpointer *out_ticket, gpointer data, GError **error)
{
  Admin *admin = data;

  if (!header_check (header, error))
    return FALSE;
  *out_ticket = bus_share_take (admin->share, header->sender,
                                (gsize) header->header_size + header->body_size, header->n_fds,
                                out_lane, error);
  return *out_ticket != NULL;
}

/* In GDBus's thread: keeps every call from GDBus. */
static GDBusMessage *
on_filter (GDBusConnection *bus, GDBusMessage *message, gboolean incoming, gpointer data)
{
  Admin *admin = data;
  Call *call = NULL;

  if (!incoming || g_dbus_message_get_message_type (message) != G_DBUS_MESSAGE_TYPE_METHOD_CALL)
    return message;
  call = g_new0 (Call, 1);
  call->admin = admin;
  call->message = message;
  call->charge = bus_relay_taken (admin->relay, g_dbus_message_get_serial (message));
  call->member = member_find (g_dbus_message_get_interface (message),
                              g_dbus_message_get_member (message));
  call->sender = g_dbus_message_get_sender (message);
  g_idle_add_full (G_PRIORITY_DEFAULT, on_message, call, NULL);
  return NULL;
}

static gboolean
on_signal (gpointer data)
{
  Admin *admin = data;

  g_main_loop_quit (admin->loop);
  return G_SOURCE_CONTINUE;
}

static void
on_closed (GDBusConnection *bus, gboolean by_remote, GError *error, gpointer data)
{
  Admin *admin = data;

  admin->status = 1;
  g_main_loop_quit (admin->loop);
}

static void
on_name_lost (GDBusConnection *bus, const char *name, gpointer data)
{
  Admin *admin = data;

  if (!g_dbus_connection_is_closed (admin->state.bus))
    g_warning ("cannot own %s, or lost it", name);
  admin->status = 1;
  g_main_loop_quit (admin->loop);
}

static void
admin_serve (Admin *admin)
{
  guint term = g_unix_signal_add (SIGTERM, on_signal, admin);
  guint filter = g_dbus_connection_add_filter (admin->state.bus, on_filter, admin, NULL);
  guint name = 0;

  bus_relay_open (admin->relay);
  g_signal_connect (admin->state.bus, "closed", G_CALLBACK (on_closed), admin);
  name = g_bus_own_name_on_connection (admin->state.bus, US_ADMIN_BUS_NAME,
                                       G_BUS_NAME_OWNER_FLAGS_DO_NOT_QUEUE, NULL, on_name_lost,
                                       admin, NULL);
  idle_restart (admin);
  g_main_loop_run (admin->loop);

  /* Without the name nothing new comes; what came before it was gone is still answered. */
  g_bus_unown_name (name);
  if (!g_dbus_connection_is_closed (admin->state.bus))
    g_dbus_connection_call_sync (admin->state.bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                 "org.freedesktop.DBus", "GetId", NULL, NULL,
                                 G_DBUS_CALL_FLAGS_NONE, CREDENTIALS_TIMEOUT_MS, NULL, NULL);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  while (g_hash_table_size (admin->calls) > 0 && !g_dbus_connection_is_closed (admin->state.bus))
    g_main_context_iteration (NULL, TRUE);
  g_dbus_connection_remove_filter (admin->state.bus, filter);
  g_source_remove (term);
}

int
admin_run (const AdminConfig *config)
{
  static const BusBounds bounds = {
    .calls_known = CALLS_MAX,
    .calls_unknown = CALLS_UNKNOWN_MAX,
    .all = { ALL_CALLS_MAX, ALL_BYTES_MAX, ALL_FDS_MAX },
  };
  g_autoptr (GError) error = NULL;
  Admin admin = { .state = { .config = config }, .status = 0 };

  us_error_register_bus ();
  admin.share = bus_share_new (&bounds);
  admin.relay = bus_relay_new (config->address, on_header, bus_charge_free, &admin, &error);
  if (admin.relay == NULL)
    {
      g_warning ("no bus: %s", error->message);
      bus_share_unref (admin.share);
      return 1;
    }
  admin.state.bus = bus_relay_connection (admin.relay);
  admin.state.enrolments = enrolments_new ();
  admin.loop = g_main_loop_new (NULL, FALSE);
  admin.calls = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) call_free, NULL);

  admin_serve (&admin);

  if (admin.idle_timer != 0)
    g_source_remove (admin.idle_timer);
  bus_relay_close (admin.relay);
  g_hash_table_unref (admin.calls);
  g_main_loop_unref (admin.loop);
  enrolments_free (admin.state.enrolments);
  bus_relay_unref (admin.relay);
  bus_share_unref (admin.share);
  return admin.status;
}
