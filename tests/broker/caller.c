/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/broker/caller.h"

#include "dbus/error-bus.h"
#include "dbus/error.h"
#include "dbus/names.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "tests/broker/sample.h"

#include <string.h>

#define NO_TIMEOUT G_MAXINT /* what is not answered is waited for: silence is no error of anybody */

static void
signal_heard (GDBusConnection *connection,
              const char *sender,
              const char *path,
              const char *interface,
              const char *signal,
              GVariant *parameters,
              gpointer data)
{
  Caller *caller = data;
  gsize n = g_variant_n_children (parameters);

  g_string_append (caller->heard, signal);
  if (strcmp (signal, "Changed") == 0)
    g_string_append_printf (caller->heard, " %s", path);
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (parameters, i);

      g_string_append_printf (caller->heard, " %s", g_variant_get_string (child, NULL));
    }
  g_string_append_c (caller->heard, '\n');
}

Caller *
bed_caller (Bed *bed, uid_t uid)
{
  Caller *caller = g_new0 (Caller, 1);
  g_autoptr (GError) error = NULL;

  caller->bed = bed;
  caller->heard = g_string_new (NULL);
  caller->connection =
      g_dbus_connection_new_for_address_sync (bed->address,
                                              G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                                  G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                                              NULL, NULL, &error);
  g_assert_no_error (error);
  g_hash_table_insert (bed->uids, g_strdup (g_dbus_connection_get_unique_name (caller->connection)),
                       GUINT_TO_POINTER (uid));
  g_dbus_connection_signal_subscribe (caller->connection, US_BUS_NAME, NULL, NULL, NULL, NULL,
                                      G_DBUS_SIGNAL_FLAGS_NONE, signal_heard, caller, NULL);
  return caller;
}

void
caller_free (Caller *caller)
{
  g_dbus_connection_close_sync (caller->connection, NULL, NULL);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_object_unref (caller->connection);
  g_string_free (caller->heard, TRUE);
  g_free (caller);
}

void
pending_clear (Pending *pending)
{
  g_clear_pointer (&pending->reply, g_variant_unref);
  g_clear_error (&pending->error);
}

static void
call_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Pending *pending = data;
  GError *error = NULL;

  pending->reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &error);
  if (error != NULL)
    us_error_propagate_bus (&pending->error, error);
  pending->done = TRUE;
}

void
caller_begin (Caller *caller,
              const char *path,
              const char *interface,
              const char *member,
              GVariant *parameters,
              Pending *pending)
{
  g_dbus_connection_call (caller->connection, US_BUS_NAME, path, interface, member, parameters,
                          NULL, G_DBUS_CALL_FLAGS_NONE, NO_TIMEOUT, NULL, call_done, pending);
}

void
caller_begin_submit (Caller *caller, GVariant *parameters, GUnixFDList *fds, Pending *pending)
{
  g_dbus_connection_call_with_unix_fd_list (
      caller->connection, US_BUS_NAME, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit", parameters,
      NULL, G_DBUS_CALL_FLAGS_NONE, NO_TIMEOUT, fds, NULL, call_done, pending);
}

static gboolean
is_done (gpointer data)
{
  return ((const Pending *) data)->done;
}

void
pending_wait (Pending *pending)
{
  bed_wait (is_done, pending);
}

GVariant *
caller_call (Caller *caller,
             const char *path,
             const char *interface,
             const char *member,
             GVariant *parameters,
             GError **error)
{
  Pending pending = { 0 };

  caller_begin (caller, path, interface, member, parameters, &pending);
  pending_wait (&pending);
  if (pending.error != NULL)
    g_propagate_error (error, pending.error);
  return pending.reply;
}

GVariant *
caller_agent (Caller *caller, const char *member, GVariant *parameters, GError **error)
{
  return caller_call (caller, US_OBJECT_PATH, US_INTERFACE_AGENT, member, parameters, error);
}

GVariant *
caller_approver (Caller *caller, const char *member, GVariant *parameters, GError **error)
{
  return caller_call (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, member, parameters, error);
}

typedef struct
{
  Pending pending;
  GUnixFDList *fds;
} PendingFds;

static void
call_with_fds_done (GObject *source, GAsyncResult *result, gpointer data)
{
  PendingFds *pending = data;
  GError *error = NULL;

  pending->pending.reply = g_dbus_connection_call_with_unix_fd_list_finish (
      G_DBUS_CONNECTION (source), &pending->fds, result, &error);
  if (error != NULL)
    us_error_propagate_bus (&pending->pending.error, error);
  pending->pending.done = TRUE;
}

GVariant *
caller_call_with_fds (Caller *caller,
                      const char *path,
                      const char *interface,
                      const char *member,
                      GVariant *parameters,
                      GUnixFDList *fds,
                      GUnixFDList **out_fds,
                      GError **error)
{
  PendingFds pending = { 0 };

  g_dbus_connection_call_with_unix_fd_list (caller->connection, US_BUS_NAME, path, interface,
                                            member, parameters, NULL, G_DBUS_CALL_FLAGS_NONE,
                                            NO_TIMEOUT, fds, NULL, call_with_fds_done, &pending);
  pending_wait (&pending.pending);
  if (pending.pending.error != NULL)
    g_propagate_error (error, pending.pending.error);
  if (out_fds != NULL)
    *out_fds = g_steal_pointer (&pending.fds);
  g_clear_object (&pending.fds);
  return pending.pending.reply;
}

void
assert_fails (GVariant *reply, GError **error, int code, const char *reason)
{
  if (reply != NULL)
    g_error ("it went through: %s", g_variant_print (reply, TRUE));
  if (!us_error_has_reason (*error, reason) || (*error)->code != code)
    g_error ("%s (%d), not %s", (*error)->message, (*error)->code, reason);
  g_clear_error (error);
}

GVariant *
vardict (const char *text)
{
  g_autoptr (GError) error = NULL;
  GVariant *value = g_variant_parse (G_VARIANT_TYPE_VARDICT, text, NULL, NULL, &error);

  g_assert_no_error (error);
  return value;
}

/* --- what most tests do --- */

char *
caller_open_run (Caller *caller, const char *label)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = NULL;
  GVariantBuilder options;
  char *run = NULL;

  g_variant_builder_init (&options, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&options, "{sv}", "label", g_variant_new_string (label));
  reply = caller_call (caller, US_OBJECT_PATH, US_INTERFACE_AGENT, "OpenRun",
                       g_variant_new ("(a{sv})", &options), &error);
  g_assert_no_error (error);
  g_variant_get (reply, "(s)", &run);
  return run;
}

GVariant *
mail_parameters (const char *run, const char *to, const char *options)
{
  GVariantBuilder arguments;
  const char *const list[] = { to, NULL };
  g_autoptr (GError) error = NULL;
  GVariant *parsed = NULL;

  g_variant_builder_init (&arguments, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&arguments, "{sv}", "to", g_variant_new_strv (list, -1));
  g_variant_builder_add (&arguments, "{sv}", "subject", g_variant_new_string ("Report"));
  parsed = g_variant_parse (G_VARIANT_TYPE_VARDICT, options != NULL ? options : "{}", NULL, NULL,
                            &error);
  g_assert_no_error (error);
  return g_variant_new ("(ssa{sv}@a{sv})", run, "mail.send", &arguments, parsed);
}

char *
caller_submit (Caller *caller, const char *run, const char *to, const char *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = caller_call (caller, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                                            mail_parameters (run, to, options), &error);
  char *path = NULL;

  g_assert_no_error (error);
  g_variant_get (reply, "(os)", &path, NULL);
  return path;
}

char *
caller_submit_file (Caller *caller, const char *run)
{
  autofd fd = memfd_new_sealed ("test", "content", 7, NULL);
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GVariant) body = g_variant_ref_sink (g_variant_new_parsed (
      "(%s, 'mail.send', {'to': <['a@example.com']>, 'subject': <'Report'>,"
      " 'attachment': <[('file.txt', handle 0)]>}, @a{sv} {})",
      run));
  char *path = NULL;
  g_autoptr (GError) error = NULL;

  g_unix_fd_list_append (fds, fd, NULL);
  reply = caller_call_with_fds (caller, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit", body, fds,
                                NULL, &error);
  g_assert_no_error (error);
  g_variant_get (reply, "(os)", &path, NULL);
  return path;
}

char *
caller_state (Caller *caller, const char *path, GVariant **out_details)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      caller_call (caller, path, US_INTERFACE_REQUEST, "GetState", NULL, &error);
  char *state = NULL;

  g_assert_no_error (error);
  g_variant_get (reply, "(s@a{sv})", &state, out_details);
  return state;
}

static GVariant *
bytes_value (const char *text)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, text, strlen (text), 1);
}

static GVariant *
get_statement (Caller *caller,
               const char *path,
               const char *decision,
               const char *credential,
               GError **error)
{
  GVariantBuilder options;
  g_autoptr (GVariant) reply = NULL;

  g_variant_builder_init (&options, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&options, "{sv}", "decision", g_variant_new_string (decision));
  g_variant_builder_add (&options, "{sv}", "credential", bytes_value (credential));
  reply = caller_call (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, "GetStatement",
                       g_variant_new ("(oa{sv})", path, &options), error);
  return reply != NULL ? g_variant_get_child_value (reply, 0) : NULL;
}

static void
add_assertion (GVariantBuilder *dictionary, const char *credential, const char *signature)
{
  g_variant_builder_add (dictionary, "{sv}", "credential", bytes_value (credential));
  g_variant_builder_add (dictionary, "{sv}", "client-data", bytes_value ("{}"));
  g_variant_builder_add (dictionary, "{sv}", "auth-data", bytes_value ("x"));
  g_variant_builder_add (dictionary, "{sv}", "signature", bytes_value (signature));
}

gboolean
caller_begin_approve (Caller *caller,
                      const char *path,
                      const char *credential,
                      const char *signature,
                      Pending *pending,
                      GError **error)
{
  g_autoptr (GVariant) statement = get_statement (caller, path, "approve", credential, error);
  GVariantBuilder assertion;

  if (statement == NULL)
    return FALSE;
  g_variant_builder_init (&assertion, G_VARIANT_TYPE_VARDICT);
  add_assertion (&assertion, credential, signature);
  caller_begin (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, "Approve",
                g_variant_new ("(o@aya{sv})", path, statement, &assertion), pending);
  return TRUE;
}

gboolean
caller_begin_deny (Caller *caller,
                   const char *path,
                   const char *credential,
                   const char *signature,
                   Pending *pending,
                   GError **error)
{
  g_autoptr (GVariant) statement = get_statement (caller, path, "deny", credential, error);
  GVariantBuilder options;

  if (statement == NULL)
    return FALSE;
  g_variant_builder_init (&options, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&options, "{sv}", "statement", statement);
  add_assertion (&options, credential, signature);
  caller_begin (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, "Deny",
                g_variant_new ("(osa{sv})", path, "other", &options), pending);
  return TRUE;
}

gboolean
caller_approve (Caller *caller,
                const char *path,
                const char *credential,
                const char *signature,
                char **out_state,
                GError **error)
{
  g_auto (Pending) pending = { 0 };

  if (!caller_begin_approve (caller, path, credential, signature, &pending, error))
    return FALSE;
  pending_wait (&pending);
  if (pending.error != NULL)
    g_propagate_error (error, g_steal_pointer (&pending.error));
  if (pending.reply == NULL)
    return FALSE;
  if (out_state != NULL)
    g_variant_get (pending.reply, "(s)", out_state);
  return TRUE;
}

gboolean
caller_deny (Caller *caller, const char *path, const char *reason, GError **error)
{
  g_autoptr (GVariant) reply = caller_call (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, "Deny",
                                            g_variant_new ("(osa{sv})", path, reason, NULL), error);

  return reply != NULL;
}

char *
details_get (GVariant *details, const char *key)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (details, key, NULL);

  return value != NULL ? g_variant_dup_string (value, NULL) : NULL;
}

char *
caller_detail (Caller *caller, const char *path, const char *key)
{
  g_autoptr (GVariant) details = NULL;

  g_free (caller_state (caller, path, &details));
  return details_get (details, key);
}

void
assert_details (
    Caller *caller, const char *path, const char *state, const char *executed, const char *reason)
{
  g_autoptr (GVariant) details = NULL;
  g_autofree char *found = caller_state (caller, path, &details);
  g_autofree char *found_executed = details_get (details, "executed");
  g_autofree char *found_reason = details_get (details, "reason");

  g_assert_cmpstr (found, ==, state);
  g_assert_cmpstr (found_executed, ==, executed);
  g_assert_cmpstr (found_reason, ==, reason);
}

gboolean
caller_again (Caller *caller, const char *path, GError **error)
{
  g_autoptr (GVariant) card = caller_call (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, "GetCard",
                                           g_variant_new ("(o)", path), error);
  g_autoptr (GVariant) details = NULL;
  gboolean again = FALSE;

  if (card == NULL)
    return FALSE;
  details = g_variant_get_child_value (card, 1);
  g_assert_true (g_variant_lookup (details, "again", "b", &again));
  return again;
}

GVariant *
caller_open_run_with (Caller *caller, const char *options, GError **error)
{
  return caller_agent (caller, "OpenRun", g_variant_new ("(@a{sv})", vardict (options)), error);
}

GVariant *
caller_open_run_for (Caller *caller, const char *agent, const char *options, GError **error)
{
  return caller_agent (caller, "OpenRunFor", g_variant_new ("(s@a{sv})", agent, vardict (options)),
                       error);
}

/* --- waiting --- */

/* Calls @find until it has something; NULL and @what after BED_PATIENCE. */
static char *
wait_found (char *(*find) (Caller *caller, const char *path, const char *key),
            Caller *caller,
            const char *path,
            const char *key)
{
  gint64 end = g_get_monotonic_time () + BED_PATIENCE * G_USEC_PER_SEC;
  char *found = NULL;

  while ((found = find (caller, path, key)) == NULL)
    {
      if (g_get_monotonic_time () > end)
        g_error ("%s does not come to be: %s", path, key);
      bed_spin (10);
    }
  return found;
}

static char *
find_state (Caller *caller, const char *path, const char *state)
{
  char *found = caller_state (caller, path, NULL);

  if (strcmp (found, state) != 0)
    g_clear_pointer (&found, g_free);
  return found;
}

void
wait_state (Caller *caller, const char *path, const char *state)
{
  g_free (wait_found (find_state, caller, path, state));
}

char *
wait_successor (Caller *caller, const char *path)
{
  return wait_found (caller_detail, caller, path, "successor");
}

static char *
find_again (Caller *caller, const char *path, const char *again)
{
  return caller_again (caller, path, NULL) ? g_strdup (again) : NULL;
}

void
wait_again (Caller *caller, const char *path)
{
  g_free (wait_found (find_again, caller, path, "again"));
}

void
wait_heard (Caller *caller, const char *heard)
{
  gint64 end = g_get_monotonic_time () + BED_PATIENCE * G_USEC_PER_SEC;

  while (strcmp (caller->heard->str, heard) != 0 && g_get_monotonic_time () < end)
    bed_spin (5);
  g_assert_cmpstr (caller->heard->str, ==, heard);
}

void
assert_row (Bed *bed, const char *path, const char *row)
{
  g_autofree char *found = fake_row (bed->fake, request_id_of (path));

  g_assert_cmpstr (found, ==, row);
}

typedef struct
{
  Bed *bed;
  const char *id, *row;
} RowWait;

static gboolean
row_is (gpointer data)
{
  const RowWait *wait = data;
  g_autofree char *found = fake_row (wait->bed->fake, wait->id);

  return strcmp (found, wait->row) == 0;
}

void
wait_row (Bed *bed, const char *path, const char *row)
{
  RowWait wait = { bed, request_id_of (path), row };

  bed_wait (row_is, &wait);
}
