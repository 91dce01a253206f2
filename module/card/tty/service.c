/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls and signals of the service.  Called by the verbs.  Signals are taken from the pinned owner
 * alone and are hints: what they say is read again with a call.  Whatever is shown of a reply is
 * escaped here or in the card.
 */
#include "module/card/tty/service.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "module/card/tty/bus.h"
#include "service/base/encode.h"

#include <string.h>

#define PREFIX_MIN 4
#define APPROVE_TIMEOUT 60000 /* the executor checks everything again */

struct Service
{
  GDBusConnection *connection;
  char *owner;
  char *host;
  ServiceNotify notify;
  gpointer data;
  guint signals, watch;
  gboolean lost;
};

static char *
path_of (const char *request)
{
  return g_strconcat (US_REQUEST_PATH_PREFIX, request, NULL);
}

/* NULL for a path that is no request's. */
static const char *
id_of (const char *path)
{
  const char *id = NULL;

  if (path == NULL || !g_str_has_prefix (path, US_REQUEST_PATH_PREFIX))
    return NULL;
  id = path + strlen (US_REQUEST_PATH_PREFIX);
  return id_is_valid (id) ? id : NULL;
}

static void
tell (Service *service, ServiceNews news, const char *request, const char *word)
{
  if (service->notify != NULL && request != NULL)
    service->notify (news, request, word, service->data);
}

static void
on_signal (GDBusConnection *connection,
           const char *sender,
           const char *path,
           const char *interface,
           const char *signal,
           GVariant *parameters,
           gpointer data)
{
  Service *service = data;
  const char *request = NULL, *word = "";

  if (g_strcmp0 (sender, service->owner) != 0)
    return;
  if (strcmp (interface, US_INTERFACE_APPROVER) == 0 && strcmp (signal, "CardAdded") == 0 &&
      g_variant_is_of_type (parameters, G_VARIANT_TYPE ("(o)")))
    {
      g_variant_get (parameters, "(&o)", &request);
      tell (service, NEWS_ADDED, id_of (request), word);
    }
  else if (strcmp (interface, US_INTERFACE_APPROVER) == 0 && strcmp (signal, "CardRemoved") == 0 &&
           g_variant_is_of_type (parameters, G_VARIANT_TYPE ("(os)")))
    {
      g_variant_get (parameters, "(&o&s)", &request, &word);
      tell (service, NEWS_REMOVED, id_of (request), word);
    }
  else if (strcmp (interface, US_INTERFACE_REQUEST) == 0 && strcmp (signal, "Changed") == 0 &&
           g_variant_is_of_type (parameters, G_VARIANT_TYPE ("(s)")))
    {
      g_variant_get (parameters, "(&s)", &word);
      tell (service, NEWS_CHANGED, id_of (path), word);
    }
}

static void
on_vanished (GDBusConnection *connection, const char *name, gpointer data)
{
  Service *service = data;

  service->lost = TRUE;
  tell (service, NEWS_LOST, "", "");
}

Service *
service_open (const Trust *trust, GError **error)
{
  g_autoptr (Service) service = g_new0 (Service, 1);

  service->host = g_strdup (trust->host);
  service->connection = bus_connect (trust, error);
  if (service->connection == NULL)
    return NULL;
  service->owner = bus_pin (service->connection, US_BUS_NAME, trust->service_uid, error);
  if (service->owner == NULL)
    return NULL;
  service->signals =
      g_dbus_connection_signal_subscribe (service->connection, service->owner, NULL, NULL, NULL,
                                          NULL, G_DBUS_SIGNAL_FLAGS_NONE, on_signal, service, NULL);
  service->watch = g_bus_watch_name_on_connection (service->connection, service->owner,
                                                   G_BUS_NAME_WATCHER_FLAGS_NONE, NULL, on_vanished,
                                                   service, NULL);
  return g_steal_pointer (&service);
}

void
service_close (Service *service)
{
  if (service == NULL)
    return;
  if (service->signals != 0)
    g_dbus_connection_signal_unsubscribe (service->connection, service->signals);
  if (service->watch != 0)
    g_bus_unwatch_name (service->watch);
  g_clear_object (&service->connection);
  g_free (service->owner);
  g_free (service->host);
  g_free (service);
}

void
service_listen (Service *service, ServiceNotify notify, gpointer data)
{
  service->notify = notify;
  service->data = data;
}

static GVariant *
call_approver (Service *service,
               const char *member,
               GVariant *parameters,
               const char *reply_type,
               GError **error)
{
  return bus_call (service->connection, service->owner, US_OBJECT_PATH, US_INTERFACE_APPROVER,
                   member, parameters, reply_type, APPROVE_TIMEOUT, error);
}

static void
request_free (ServiceRequest *request)
{
  g_free (request->id);
  g_free (request->state);
  g_free (request);
}

GPtrArray *
service_register (Service *service, GError **error)
{
  g_autoptr (GVariant) reply =
      call_approver (service, "Register", g_variant_new ("(a{sv})", NULL), "(a(os))", error);
  g_autoptr (GPtrArray) requests = g_ptr_array_new_with_free_func ((GDestroyNotify) request_free);
  g_autoptr (GVariantIter) iter = NULL;
  const char *path, *state;

  if (reply == NULL)
    return NULL;
  g_variant_get (reply, "(a(os))", &iter);
  while (g_variant_iter_loop (iter, "(&o&s)", &path, &state))
    {
      ServiceRequest *request = NULL;

      if (id_of (path) == NULL)
        {
          us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                        "the service named %s as a request", path);
          return NULL;
        }
      request = g_new0 (ServiceRequest, 1);
      request->id = g_strdup (id_of (path));
      request->state = escape_line (state);
      g_ptr_array_add (requests, request);
    }
  return g_steal_pointer (&requests);
}

gboolean
service_check_id (const char *text, GError **error)
{
  gsize len = strlen (text);

  if (len >= PREFIX_MIN && len <= 32 && strspn (text, "0123456789abcdef") == len)
    return TRUE;
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                       "\"%s\" is no request: it is named by its id or the first %d or more "
                       "digits of it",
                       text, PREFIX_MIN);
}

char *
service_find (Service *service, const char *prefix, GError **error)
{
  g_autoptr (GPtrArray) requests = NULL;
  const char *found = NULL;
  guint n = 0;

  if (!service_check_id (prefix, error))
    return NULL;
  requests = service_register (service, error);
  if (requests == NULL)
    return NULL;
  if (id_is_valid (prefix))
    return g_strdup (prefix);
  for (guint i = 0; i < requests->len; i++)
    {
      const ServiceRequest *request = g_ptr_array_index (requests, i);

      if (g_str_has_prefix (request->id, prefix))
        {
          found = request->id;
          n++;
        }
    }
  if (n != 1)
    us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                  n == 0 ? "no request that waits for you begins with %s"
                         : "more than one request begins with %s",
                  prefix);
  return n == 1 ? g_strdup (found) : NULL;
}

Card *
service_card (Service *service, const char *request, GError **error)
{
  g_autofree char *path = path_of (request);
  g_autoptr (GVariant) reply =
      call_approver (service, "GetCard", g_variant_new ("(o)", path), "(aya{sv})", error);
  g_autoptr (GVariant) record = NULL, details = NULL;
  g_autoptr (GBytes) bytes = NULL;

  if (reply == NULL)
    return NULL;
  g_variant_get (reply, "(@ay@a{sv})", &record, &details);
  bytes = g_variant_get_data_as_bytes (record);
  return card_new (request, bytes, details, service->host, error);
}

static GVariant *
bytes_variant (GBytes *bytes)
{
  return g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE);
}

GBytes *
service_statement (
    Service *service, const char *request, const char *decision, GBytes *credential, GError **error)
{
  g_autofree char *path = path_of (request);
  g_autoptr (GVariant) reply = NULL, statement = NULL;
  GVariantDict options;

  g_variant_dict_init (&options, NULL);
  g_variant_dict_insert (&options, "decision", "s", decision);
  g_variant_dict_insert_value (&options, "credential", bytes_variant (credential));
  reply = call_approver (service, "GetStatement",
                         g_variant_new ("(o@a{sv})", path, g_variant_dict_end (&options)), "(ay)",
                         error);
  if (reply == NULL)
    return NULL;
  g_variant_get (reply, "(@ay)", &statement);
  return g_variant_get_data_as_bytes (statement);
}

static char *
state_of (GVariant *reply)
{
  const char *state = NULL;

  if (reply == NULL)
    return NULL;
  g_variant_get (reply, "(&s)", &state);
  return escape_line (state);
}

static void
insert_assertion (GVariantDict *dict, const ServiceAnswer *answer)
{
  g_variant_dict_insert_value (dict, "credential", bytes_variant (answer->credential));
  g_variant_dict_insert_value (dict, "client-data", bytes_variant (answer->client_data));
  g_variant_dict_insert_value (dict, "auth-data", bytes_variant (answer->auth_data));
  g_variant_dict_insert_value (dict, "signature", bytes_variant (answer->signature));
}

char *
service_approve (Service *service,
                 const char *request,
                 const ServiceAnswer *answer,
                 GError **error)
{
  g_autofree char *path = path_of (request);
  g_autoptr (GVariant) reply = NULL;
  GVariantDict assertion;

  g_variant_dict_init (&assertion, NULL);
  insert_assertion (&assertion, answer);
  reply = call_approver (service, "Approve",
                         g_variant_new ("(o@ay@a{sv})", path, bytes_variant (answer->statement),
                                        g_variant_dict_end (&assertion)),
                         "(s)", error);
  return state_of (reply);
}

char *
service_deny (Service *service,
              const char *request,
              const char *reason,
              const ServiceAnswer *answer,
              GError **error)
{
  g_autofree char *path = path_of (request);
  g_autoptr (GVariant) reply = NULL;
  GVariantDict options;

  g_variant_dict_init (&options, NULL);
  if (answer != NULL)
    {
      insert_assertion (&options, answer);
      g_variant_dict_insert_value (&options, "statement", bytes_variant (answer->statement));
    }
  reply = call_approver (service, "Deny",
                         g_variant_new ("(os@a{sv})", path, reason, g_variant_dict_end (&options)),
                         "(s)", error);
  return state_of (reply);
}

GBytes *
service_receipt (Service *service, const char *request, GError **error)
{
  g_autofree char *path = path_of (request);
  g_autoptr (GVariant) reply =
      call_approver (service, "GetReceipt", g_variant_new ("(o)", path), "(ay)", error);
  g_autoptr (GVariant) array = NULL;

  if (reply == NULL)
    return NULL;
  array = g_variant_get_child_value (reply, 0);
  return g_variant_get_data_as_bytes (array);
}

void
service_outcome_free (ServiceOutcome *outcome)
{
  if (outcome == NULL)
    return;
  g_free (outcome->state);
  g_free (outcome->executed);
  g_free (outcome->reason);
  g_free (outcome->result);
  g_free (outcome);
}

static char *
escaped_member (GVariant *details, const char *name)
{
  const char *text = "";

  g_variant_lookup (details, name, "&s", &text);
  return escape_line (text);
}

static GVariant *
call_request (Service *service,
              const char *request,
              const char *member,
              const char *reply_type,
              GError **error)
{
  g_autofree char *path = path_of (request);

  return bus_call (service->connection, service->owner, path, US_INTERFACE_REQUEST, member, NULL,
                   reply_type, -1, error);
}

ServiceOutcome *
service_state (Service *service, const char *request, GError **error)
{
  g_autoptr (GVariant) reply = call_request (service, request, "GetState", "(sa{sv})", error);
  g_autoptr (GVariant) details = NULL;
  ServiceOutcome *outcome = NULL;
  const char *state = NULL;

  if (reply == NULL)
    return NULL;
  g_variant_get (reply, "(&s@a{sv})", &state, &details);
  outcome = g_new0 (ServiceOutcome, 1);
  outcome->state = escape_line (state);
  outcome->executed = escaped_member (details, "executed");
  outcome->reason = escaped_member (details, "reason");
  outcome->result = escaped_member (details, "result");
  return outcome;
}

gboolean
service_state_is_final (const char *state)
{
  static const char *const open[] = { "pending", "approved", "executing" };

  for (guint i = 0; i < G_N_ELEMENTS (open); i++)
    if (strcmp (state, open[i]) == 0)
      return FALSE;
  return TRUE;
}

static void
on_news (ServiceNews news, const char *request, const char *word, gpointer data)
{
  gboolean *looked_at = data;

  *looked_at = FALSE;
}

ServiceOutcome *
service_wait (Service *service, const char *request, GError **error)
{
  g_autoptr (GVariant) watching = NULL;
  g_autoptr (ServiceOutcome) outcome = NULL;
  gboolean looked_at = FALSE;

  service_listen (service, on_news, &looked_at);
  watching = call_request (service, request, "Watch", "()", error);
  while (watching != NULL && !service->lost)
    {
      if (!looked_at)
        {
          looked_at = TRUE;
          g_clear_pointer (&outcome, service_outcome_free);
          outcome = service_state (service, request, error);
          if (outcome == NULL || service_state_is_final (outcome->state))
            break;
        }
      g_main_context_iteration (NULL, TRUE);
    }
  service_listen (service, NULL, NULL);
  if (watching != NULL && service->lost &&
      (outcome == NULL || !service_state_is_final (outcome->state)))
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                    "the service left the bus before it told the outcome");
      return NULL;
    }
  return watching != NULL ? g_steal_pointer (&outcome) : NULL;
}
