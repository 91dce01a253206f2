/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the service on the bus and talks to it and to nobody else.  The well-known name only leads
 * to a unique name; that one is checked to be the service's user and then pinned, and every call goes
 * to it.  Whoever takes the name later gets nothing.
 */
#include "agentlib/lib/link.h"

#include "dbus/error.h"
#include "dbus/error-bus.h"
#include "dbus/names.h"
#include "dbus/reason.h"

#include <pwd.h>

#define SERVICE_USER "undersign"
#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"

struct _UsClient
{
  GObject parent;
  char *address;     /* NULL: the system bus */
  gboolean uid_set;  /* the service's uid is known */
  uid_t service_uid;
  GDBusConnection *connection;
  char *owner; /* unique name, checked; NULL: not found yet */
  GHashTable *waits; /* request path → how many wait for it */
};

G_DEFINE_FINAL_TYPE (UsClient, us_client, G_TYPE_OBJECT)

/* One call on its way, the data of its task. */
typedef struct
{
  char *path;
  LinkMethod method;
  GVariant *parameters;
  GUnixFDList *fds;
  gboolean started; /* the bus was asked to start the service */
  gboolean resent;
  char *candidate; /* an owner that is being checked */
} Call;

static void call_step (GTask *task);

static void
us_client_init (UsClient *client)
{
  us_error_register_bus ();
  client->waits = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

static void
us_client_finalize (GObject *object)
{
  UsClient *client = US_CLIENT (object);

  g_free (client->address);
  g_free (client->owner);
  g_hash_table_unref (client->waits);
  g_clear_object (&client->connection);
  G_OBJECT_CLASS (us_client_parent_class)->finalize (object);
}

static void
us_client_class_init (UsClientClass *class)
{
  G_OBJECT_CLASS (class)->finalize = us_client_finalize;
}

UsClient *
us_client_new (void)
{
  return g_object_new (US_TYPE_CLIENT, NULL);
}

UsClient *
client_new_for (const char *address, uid_t service_uid)
{
  UsClient *client = us_client_new ();

  client->address = g_strdup (address);
  client->service_uid = service_uid;
  client->uid_set = TRUE;
  return client;
}

const char *
link_owner (UsClient *client)
{
  return client->owner;
}

GDBusConnection *
link_connection (UsClient *client)
{
  return client->connection;
}

void
link_forget_owner (UsClient *client)
{
  g_clear_pointer (&client->owner, g_free);
}

void
link_wait_begin (UsClient *client, const char *request)
{
  guint count = GPOINTER_TO_UINT (g_hash_table_lookup (client->waits, request));

  g_hash_table_replace (client->waits, g_strdup (request), GUINT_TO_POINTER (count + 1));
}

gboolean
link_wait_end (UsClient *client, const char *request)
{
  guint count = GPOINTER_TO_UINT (g_hash_table_lookup (client->waits, request));

  g_assert (count > 0);
  if (count == 1)
    g_hash_table_remove (client->waits, request);
  else
    g_hash_table_replace (client->waits, g_strdup (request), GUINT_TO_POINTER (count - 1));
  return count == 1;
}

static void
call_free (Call *call)
{
  g_free (call->path);
  g_clear_pointer (&call->parameters, g_variant_unref);
  g_clear_object (&call->fds);
  g_free (call->candidate);
  g_free (call);
}

/* Ends the call with an error of the bus.  @error is (transfer full). */
static void
call_fail (GTask *task, GError *error)
{
  GError *own = NULL;

  us_error_propagate_bus (&own, error);
  g_task_return_error (task, own);
}

static void
call_fail_with (GTask *task, const char *reason, const char *text)
{
  GError *error = NULL;

  us_error_set (&error, US_ERROR_UNAVAILABLE, reason, "%s", text);
  g_task_return_error (task, error);
}

static void
call_driver (GTask *task, const char *method, GVariant *parameters, GAsyncReadyCallback callback)
{
  UsClient *client = g_task_get_source_object (task);

  g_dbus_connection_call (client->connection, BUS_NAME, BUS_PATH, BUS_NAME, method, parameters, NULL,
                          G_DBUS_CALL_FLAGS_NONE, -1, g_task_get_cancellable (task), callback,
                          g_object_ref (task));
}

static gboolean
service_uid_find (UsClient *client)
{
  g_autofree char *buffer = g_malloc (16 * 1024);
  struct passwd entry, *found = NULL;

  if (client->uid_set)
    return TRUE;
  if (getpwnam_r (SERVICE_USER, &entry, buffer, 16 * 1024, &found) != 0 || found == NULL)
    return FALSE;
  client->service_uid = found->pw_uid;
  client->uid_set = TRUE;
  return TRUE;
}

static void
on_uid (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  UsClient *client = g_task_get_source_object (task);
  Call *call = g_task_get_task_data (task);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &error);
  g_autofree char *text = NULL;
  guint32 uid;

  if (reply == NULL)
    {
      call_fail (task, g_steal_pointer (&error));
      return;
    }
  if (!g_variant_is_of_type (reply, G_VARIANT_TYPE ("(u)")))
    {
      call_fail_with (task, US_REASON_BAD_MESSAGE, "the bus names no uid");
      return;
    }
  g_variant_get (reply, "(u)", &uid);
  if (!service_uid_find (client))
    {
      call_fail_with (task, US_REASON_BAD_PEER, "there is no user " SERVICE_USER " on this system");
      return;
    }
  if (uid != client->service_uid)
    {
      text = g_strdup_printf (US_BUS_NAME " is owned by uid %u, not by user " SERVICE_USER, uid);
      call_fail_with (task, US_REASON_BAD_PEER, text);
      return;
    }
  /* Between the two a bus may have restarted: a name of the old one must not be pinned. */
  if (G_DBUS_CONNECTION (source) == client->connection)
    {
      g_free (client->owner);
      client->owner = g_steal_pointer (&call->candidate);
    }
  call_step (task);
}

static void
on_started (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &error);

  if (reply == NULL)
    call_fail (task, g_steal_pointer (&error));
  else
    call_step (task);
}

static void
on_owner (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  Call *call = g_task_get_task_data (task);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &error);

  if (g_error_matches (error, G_DBUS_ERROR, G_DBUS_ERROR_NAME_HAS_NO_OWNER) && !call->started)
    {
      call->started = TRUE;
      call_driver (task, "StartServiceByName", g_variant_new ("(su)", US_BUS_NAME, 0), on_started);
    }
  else if (reply == NULL)
    call_fail (task, g_steal_pointer (&error));
  else if (!g_variant_is_of_type (reply, G_VARIANT_TYPE ("(s)")))
    call_fail_with (task, US_REASON_BAD_MESSAGE, "the bus names no owner");
  else
    {
      g_free (call->candidate);
      g_variant_get (reply, "(s)", &call->candidate);
      call_driver (task, "GetConnectionUnixUser", g_variant_new ("(s)", call->candidate), on_uid);
    }
}

static void
on_connected (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  UsClient *client = g_task_get_source_object (task);
  g_autoptr (GError) error = NULL;
  g_autoptr (GDBusConnection) connection =
      g_dbus_connection_new_for_address_finish (result, &error);

  if (connection == NULL)
    {
      call_fail (task, g_steal_pointer (&error));
      return;
    }
  /* Another call may have been faster; its owner belongs to its connection. */
  if (client->connection == NULL)
    client->connection = g_steal_pointer (&connection);
  call_step (task);
}

static void
call_connect (GTask *task)
{
  UsClient *client = g_task_get_source_object (task);
  g_autofree char *address = g_strdup (client->address);
  g_autoptr (GError) error = NULL;

  if (address == NULL)
    address = g_dbus_address_get_for_bus_sync (G_BUS_TYPE_SYSTEM, NULL, &error);
  if (address == NULL)
    {
      call_fail (task, g_steal_pointer (&error));
      return;
    }
  g_dbus_connection_new_for_address (address,
                                     G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                         G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                                     NULL, g_task_get_cancellable (task), on_connected,
                                     g_object_ref (task));
}

/* The two buses word it differently. */
static gboolean
is_undelivered (const GError *error)
{
  return g_error_matches (error, G_DBUS_ERROR, G_DBUS_ERROR_SERVICE_UNKNOWN) ||
         g_error_matches (error, G_DBUS_ERROR, G_DBUS_ERROR_NAME_HAS_NO_OWNER);
}

static void
on_reply (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  UsClient *client = g_task_get_source_object (task);
  Call *call = g_task_get_task_data (task);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = g_dbus_connection_call_with_unix_fd_list_finish (
      G_DBUS_CONNECTION (source), NULL, result, &error);

  if (reply != NULL)
    {
      if (g_variant_is_of_type (reply, G_VARIANT_TYPE (call->method.reply_type)))
        g_task_return_pointer (task, g_steal_pointer (&reply), (GDestroyNotify) g_variant_unref);
      else
        call_fail_with (task, US_REASON_BAD_MESSAGE, "the reply is not of the documented type");
      return;
    }
  /* The bus knows no such connection: nothing was delivered. */
  if (!call->resent && is_undelivered (error))
    {
      call->resent = TRUE;
      link_forget_owner (client);
      call_step (task);
      return;
    }
  call_fail (task, g_steal_pointer (&error));
}

/* What comes next: connect, find the owner, or send. */
static void
call_step (GTask *task)
{
  UsClient *client = g_task_get_source_object (task);
  Call *call = g_task_get_task_data (task);

  if (client->connection != NULL && g_dbus_connection_is_closed (client->connection))
    {
      g_clear_object (&client->connection);
      link_forget_owner (client);
    }
  if (client->connection == NULL)
    call_connect (task);
  else if (client->owner == NULL)
    call_driver (task, "GetNameOwner", g_variant_new ("(s)", US_BUS_NAME), on_owner);
  else
    g_dbus_connection_call_with_unix_fd_list (
        client->connection, client->owner, call->path, call->method.interface, call->method.method,
        call->parameters, NULL, G_DBUS_CALL_FLAGS_NO_AUTO_START,
        call->method.timeout_ms > 0 ? call->method.timeout_ms : -1, call->fds,
        g_task_get_cancellable (task), on_reply, g_object_ref (task));
}

void
link_call_async (UsClient *client,
                 const LinkMethod *method,
                 GVariant *parameters,
                 GUnixFDList *fds,
                 GCancellable *cancellable,
                 GAsyncReadyCallback callback,
                 gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (client, cancellable, callback, user_data);
  Call *call = g_new0 (Call, 1);

  call->path = g_strdup (method->path != NULL ? method->path : US_OBJECT_PATH);
  call->method = *method;
  if (parameters != NULL)
    call->parameters = g_variant_ref_sink (parameters);
  if (fds != NULL)
    call->fds = g_object_ref (fds);
  g_task_set_task_data (task, call, (GDestroyNotify) call_free);
  g_task_set_source_tag (task, link_call_async);
  call_step (task);
}

GVariant *
link_call_finish (UsClient *client, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, client), NULL);
  return g_task_propagate_pointer (G_TASK (result), error);
}
