/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bus face of a mechanism, for undersign-admin and undersign-launcher.  The relay's thread
 * holds the header of each call against the table before any of its body is read; then the bus says
 * who calls, polkit whether they may, and only then a handler does what is asked.  Whatever fails
 * on the way is a denial.
 */
#include "service/mechanism/mechanism.h"

#include "dbus/error-bus.h"
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/mechanism/authority.h"
#include "service/base/bus-relay.h"
#include "service/base/bus-share.h"

#include <glib-unix.h>

/* What may have no answer yet, see bus-share.h. */
#define CALLS_MAX 8 /* of one connection */
#define CALLS_UNKNOWN_MAX 4
#define CALLS_UID_MAX 8 /* of one uid: the bus has 128 for all that polkit is asked of */
#define CREDENTIALS_TIMEOUT_MS 5000

struct Mechanism
{
  MechanismConfig config;
  GDBusConnection *bus; /* the relay's */
  BusRelay *relay;
  BusShare *share;
  GMainLoop *loop;
  GHashTable *calls; /* set of Call: those that have no reply yet */
  guint idle_timer;
  gboolean is_ending;
  int status;
};

/* One message on its way through the steps. */
typedef struct
{
  MechanismCall given; /* the first member: handlers have a pointer to it */
  GDBusMessage *message;
  GVariant *body;
  BusCharge *charge;
  Authority *authority; /* (nullable): while polkit is asked */
  gboolean is_deferred;
} Call;

static void
call_free (Call *call)
{
  if (call->given.data != NULL)
    call->given.data_free (call->given.data);
  bus_charge_free (call->charge);
  g_clear_pointer (&call->body, g_variant_unref);
  g_object_unref (call->message);
  g_free (call);
}

static gboolean
on_idle (gpointer data)
{
  Mechanism *mechanism = data;
  const MechanismConfig *config = &mechanism->config;

  if (g_hash_table_size (mechanism->calls) > 0 ||
      (config->busy != NULL && config->busy (config->data)))
    return G_SOURCE_CONTINUE;
  mechanism->idle_timer = 0;
  g_main_loop_quit (mechanism->loop);
  return G_SOURCE_REMOVE;
}

static void
idle_restart (Mechanism *mechanism)
{
  if (mechanism->idle_timer != 0)
    g_source_remove (mechanism->idle_timer);
  mechanism->idle_timer =
      g_timeout_add_seconds (mechanism->config.idle_seconds, on_idle, mechanism);
}

/* The last step of every call: one reply, then it is forgotten. */
void
mechanism_call_answer (MechanismCall *given, GVariant *body, GUnixFDList *fds, const GError *error)
{
  Call *call = (Call *) given;
  Mechanism *mechanism = given->mechanism;
  g_autoptr (GVariant) result = body != NULL ? g_variant_take_ref (body) : NULL;
  g_autoptr (GDBusMessage) reply = NULL;

  g_message ("%s by uid %u: %s", given->member->name, (guint) given->uid,
             error != NULL ? error->message : "done");
  if (error != NULL)
    {
      g_autofree char *name = g_dbus_error_encode_gerror (error);

      reply = g_dbus_message_new_method_error_literal (call->message, name, error->message);
    }
  else
    {
      reply = g_dbus_message_new_method_reply (call->message);
      g_dbus_message_set_body (reply, result);
      g_dbus_message_set_unix_fd_list (reply, fds);
    }
  if (!(g_dbus_message_get_flags (call->message) & G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED))
    g_dbus_connection_send_message (mechanism->bus, reply, G_DBUS_SEND_MESSAGE_FLAGS_NONE, NULL,
                                    NULL);
  g_hash_table_remove (mechanism->calls, call);
  idle_restart (mechanism);
}

void
mechanism_call_defer (MechanismCall *given)
{
  Call *call = (Call *) given;

  call->is_deferred = TRUE;
}

/* The call is authorised. */
static void
call_handle (Call *call)
{
  GHashTable *calls = call->given.mechanism->calls;
  g_autoptr (GError) error = NULL;
  GVariant *result = call->given.member->handler (&call->given, &error);

  /* One that is deferred may have its answer already, and is no more. */
  if (result == NULL && error == NULL &&
      (!g_hash_table_contains (calls, call) || call->is_deferred))
    return;
  if (result == NULL && (error == NULL || error->domain != US_ERROR))
    {
      g_autoptr (GError) cause = g_steal_pointer (&error);

      us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "%s",
                    cause != NULL ? cause->message : "no result");
    }
  mechanism_call_answer (&call->given, result, NULL, error);
}

static void
on_authorised (const GError *error, gpointer data)
{
  Call *call = data;

  call->authority = NULL;
  if (error != NULL)
    mechanism_call_answer (&call->given, NULL, NULL, error);
  else
    call_handle (call);
}

/* Has polkit asked what is to be asked for this member and these values. */
static void
call_authorise (Call *call)
{
  const MechanismConfig *config = &call->given.mechanism->config;
  const MechanismMember *member = call->given.member;
  const gboolean interactive = (g_dbus_message_get_flags (call->message) &
                                G_DBUS_MESSAGE_FLAGS_ALLOW_INTERACTIVE_AUTHORIZATION) != 0;
  MechanismQuestion question = { .action = member->action };
  g_autoptr (GError) error = NULL;

  if (call->given.mechanism->is_ending)
    us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "the service ends");
  if (error != NULL || (member->ask != NULL && !member->ask (&call->given, &question, &error)))
    mechanism_call_answer (&call->given, NULL, NULL, error);
  else
    call->authority = authority_check (
        call->given.mechanism->bus, question.action, question.details, call->given.sender,
        interactive, interactive ? config->interactive_seconds : config->authorise_seconds,
        on_authorised, call);
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
calls_of (Mechanism *mechanism, uid_t uid)
{
  GHashTableIter iter;
  gpointer key = NULL;
  guint n = 0;

  g_hash_table_iter_init (&iter, mechanism->calls);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (((const MechanismCall *) key)->has_uid && ((const MechanismCall *) key)->uid == uid)
      n++;
  return n;
}

/* Who calls: from now on the call counts as one of his. */
static gboolean
call_identify (MechanismCall *call, GVariant *reply, GError **error)
{
  if (reply == NULL || !read_uid (reply, &call->uid))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY,
                         "the bus does not say who calls");
  bus_share_know (call->mechanism->share, call->sender, call->uid);
  bus_share_forget (call->mechanism->share, call->sender);
  if (calls_of (call->mechanism, call->uid) >= CALLS_UID_MAX)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "%d calls of this uid wait for an answer", CALLS_UID_MAX);
  call->has_uid = TRUE;
  return TRUE;
}

static void
on_credentials (GObject *source, GAsyncResult *result, gpointer data)
{
  Call *call = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, NULL);

  if (!call_identify (&call->given, reply, &error))
    mechanism_call_answer (&call->given, NULL, NULL, error);
  else if (call->given.member->bound)
    call_handle (call);
  else
    call_authorise (call);
}

/* A call that passed, in the main loop. */
static gboolean
on_message (gpointer data)
{
  Call *call = data;
  Mechanism *mechanism = call->given.mechanism;

  g_hash_table_add (mechanism->calls, call);
  g_dbus_connection_call (mechanism->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                          "org.freedesktop.DBus", "GetConnectionCredentials",
                          g_variant_new ("(s)", call->given.sender), G_VARIANT_TYPE ("(a{sv})"),
                          G_DBUS_CALL_FLAGS_NONE, CREDENTIALS_TIMEOUT_MS, NULL, on_credentials,
                          call);
  return G_SOURCE_REMOVE;
}

static gboolean
header_check (const MechanismConfig *config, const BusHeader *header, GError **error)
{
  const MechanismMember *member = config->find (header->interface, header->member);
  g_autofree char *signature = g_strdup_printf ("(%s)", header->signature);

  if (member == NULL || g_strcmp0 (header->path, config->path) != 0)
    return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                         "no such object or member");
  if (g_strcmp0 (signature, member->signature) != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE, "%s takes %s",
                         member->name, member->signature);
  if (header->body_size > config->body_max || header->n_fds > config->fds_max)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the arguments of %s have %u bytes and %u files, at most %u and %u are "
                         "accepted",
                         member->name, header->body_size, header->n_fds, config->body_max,
                         config->fds_max);
  return TRUE;
}

/* In the relay's thread: touches nothing but the table and the share. */
static gboolean
on_header (
    const BusHeader *header, guint64 *out_lane, gpointer *out_ticket, gpointer data, GError **error)
{
  Mechanism *mechanism = data;

  if (!header_check (&mechanism->config, header, error))
    return FALSE;
  *out_ticket = bus_share_take (mechanism->share, header->sender,
                                (gsize) header->header_size + header->body_size, header->n_fds,
                                out_lane, error);
  return *out_ticket != NULL;
}

/* In GDBus's thread: keeps every call from GDBus. */
static GDBusMessage *
on_filter (GDBusConnection *bus, GDBusMessage *message, gboolean incoming, gpointer data)
{
  Mechanism *mechanism = data;
  Call *call = NULL;

  if (!incoming || g_dbus_message_get_message_type (message) != G_DBUS_MESSAGE_TYPE_METHOD_CALL)
    return message;
  call = g_new0 (Call, 1);
  call->message = message;
  call->charge = bus_relay_taken (mechanism->relay, g_dbus_message_get_serial (message));
  call->body = g_dbus_message_get_body (message);
  call->body = g_variant_ref_sink (call->body != NULL ? call->body : g_variant_new ("()"));
  call->given.mechanism = mechanism;
  call->given.member = mechanism->config.find (g_dbus_message_get_interface (message),
                                               g_dbus_message_get_member (message));
  call->given.body = call->body;
  call->given.fds = g_dbus_message_get_unix_fd_list (message);
  call->given.sender = g_dbus_message_get_sender (message);
  g_idle_add_full (G_PRIORITY_DEFAULT, on_message, call, NULL);
  return NULL;
}

static gboolean
on_signal (gpointer data)
{
  Mechanism *mechanism = data;

  g_main_loop_quit (mechanism->loop);
  return G_SOURCE_CONTINUE;
}

static void
on_closed (GDBusConnection *bus, gboolean by_remote, GError *error, gpointer data)
{
  Mechanism *mechanism = data;

  mechanism->status = 1;
  g_main_loop_quit (mechanism->loop);
}

static void
on_name_acquired (GDBusConnection *bus, const char *name, gpointer data)
{
  Mechanism *mechanism = data;

  if (mechanism->config.begins != NULL)
    mechanism->config.begins (mechanism->config.data);
}

static void
on_name_lost (GDBusConnection *bus, const char *name, gpointer data)
{
  Mechanism *mechanism = data;

  if (!g_dbus_connection_is_closed (mechanism->bus))
    g_warning ("cannot own %s, or lost it", name);
  mechanism->status = 1;
  g_main_loop_quit (mechanism->loop);
}

/* A person may take long to answer polkit, and systemd waits for the end of this process. */
static void
calls_end (Mechanism *mechanism)
{
  GHashTableIter iter;
  gpointer key = NULL;

  mechanism->is_ending = TRUE;
  g_hash_table_iter_init (&iter, mechanism->calls);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (((const Call *) key)->authority != NULL)
      authority_cancel (((const Call *) key)->authority);
  if (mechanism->config.ends != NULL)
    mechanism->config.ends (mechanism->config.data);
}

int
mechanism_serve (Mechanism *mechanism)
{
  guint term = g_unix_signal_add (SIGTERM, on_signal, mechanism);
  guint filter = g_dbus_connection_add_filter (mechanism->bus, on_filter, mechanism, NULL);
  guint name = 0;

  bus_relay_open (mechanism->relay);
  g_signal_connect (mechanism->bus, "closed", G_CALLBACK (on_closed), mechanism);
  name = g_bus_own_name_on_connection (mechanism->bus, mechanism->config.name,
                                       G_BUS_NAME_OWNER_FLAGS_DO_NOT_QUEUE, on_name_acquired,
                                       on_name_lost, mechanism, NULL);
  idle_restart (mechanism);
  g_main_loop_run (mechanism->loop);

  /* Without the name nothing new comes; what came before it was gone is still answered. */
  g_bus_unown_name (name);
  if (!g_dbus_connection_is_closed (mechanism->bus))
    g_dbus_connection_call_sync (mechanism->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                 "org.freedesktop.DBus", "GetId", NULL, NULL,
                                 G_DBUS_CALL_FLAGS_NONE, CREDENTIALS_TIMEOUT_MS, NULL, NULL);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  calls_end (mechanism);
  while (g_hash_table_size (mechanism->calls) > 0 && !g_dbus_connection_is_closed (mechanism->bus))
    g_main_context_iteration (NULL, TRUE);
  g_dbus_connection_remove_filter (mechanism->bus, filter);
  g_source_remove (term);
  return mechanism->status;
}

Mechanism *
mechanism_new (const MechanismConfig *config, GError **error)
{
  static const BusBounds bounds = {
    .calls_known = CALLS_MAX,
    .calls_unknown = CALLS_UNKNOWN_MAX,
    .all = { MECHANISM_CALLS_MAX, MECHANISM_BYTES_MAX, MECHANISM_FDS_MAX },
  };
  Mechanism *mechanism = g_new0 (Mechanism, 1);

  us_error_register_bus ();
  mechanism->config = *config;
  mechanism->share = bus_share_new (&bounds);
  mechanism->relay = bus_relay_new (config->address, on_header, bus_charge_free, mechanism, error);
  if (mechanism->relay == NULL)
    {
      bus_share_unref (mechanism->share);
      g_free (mechanism);
      return NULL;
    }
  mechanism->bus = bus_relay_connection (mechanism->relay);
  mechanism->loop = g_main_loop_new (NULL, FALSE);
  mechanism->calls = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) call_free, NULL);
  return mechanism;
}

GDBusConnection *
mechanism_bus (Mechanism *mechanism)
{
  return mechanism->bus;
}

gpointer
mechanism_data (Mechanism *mechanism)
{
  return mechanism->config.data;
}

void
mechanism_hear (Mechanism *mechanism, const char *sender)
{
  bus_relay_hear (mechanism->relay, sender);
}

void
mechanism_free (Mechanism *mechanism)
{
  if (mechanism == NULL)
    return;
  if (mechanism->idle_timer != 0)
    g_source_remove (mechanism->idle_timer);
  bus_relay_close (mechanism->relay);
  g_hash_table_unref (mechanism->calls);
  g_main_loop_unref (mechanism->loop);
  bus_relay_unref (mechanism->relay);
  bus_share_unref (mechanism->share);
  g_free (mechanism);
}
