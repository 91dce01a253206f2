/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The mock service: one table of replies by method, one lock, one message filter. */
#include "tests/agentlib/mock.h"

#include "dbus/names.h"

#include <fcntl.h>
#include <gio/gunixfdlist.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct Mock
{
  GDBusConnection *connection;
  GMutex lock;
  GHashTable *replies; /* method → GVariant text, or "!NAME MESSAGE", or "" for silence */
  GHashTable *counts;  /* method → guint */
  GHashTable *bodies;  /* method → text */
  char *held;          /* a method */
  GPtrArray *waiting;  /* GDBusMessage: calls of it */
  GUnixFDList *fds;    /* of the latest Submit() */
  char *watcher;
};

static const struct
{
  const char *method, *reply;
} usual[] = {
  { "GetInfo", "({'version': <'0.1.0'>, 'agent': <'offboarding'>, 'owner': <'hr.jones'>,"
               " 'parts': <['main']>, 'pending': <uint32 0>, 'paused': <false>},)" },
  { "OpenRun", "('" MOCK_RUN "',)" },
  { "OpenRunFor", "('" MOCK_RUN "',)" },
  { "CloseRun", "()" },
  { "ListActions", "({'mail.send': {'summary': <'Send an e-mail'>, 'effect': <'irreversible'>,"
                   " 'needs-approval': <'always'>}},)" },
  { "DescribeAction",
    "({'id': <'mail.send'>, 'summary': <'Send an e-mail'>, 'effect': <'irreversible'>,"
    " 'needs-approval': <'always'>, 'arguments': <["
    "{'name': <'to'>, 'label': <'To'>, 'type': <'email-list'>, 'signature': <'as'>,"
    " 'required': <true>, 'schema': <'{\"type\":\"array\",\"items\":{\"type\":\"string\"}}'>,"
    " 'max-items': <uint32 20>},"
    "{'name': <'subject'>, 'label': <'Subject'>, 'type': <'line'>, 'signature': <'s'>,"
    " 'required': <true>, 'schema': <'{\"type\":\"string\"}'>},"
    "{'name': <'urgent'>, 'label': <'Urgent'>, 'type': <'boolean'>, 'signature': <'b'>,"
    " 'required': <false>, 'schema': <'{\"type\":\"boolean\"}'>, 'default': <<false>>},"
    "{'name': <'list'>, 'label': <'Mailing list'>, 'type': <'email'>, 'signature': <'s'>,"
    " 'required': <false>, 'schema': <'{\"type\":\"string\"}'>, 'constant': <<'hr@example.com'>>},"
    "{'name': <'letter'>, 'label': <'Letter'>, 'type': <'file'>, 'signature': <'(sh)'>,"
    " 'required': <false>, 'schema': <'{}'>},"
    "{'name': <'attachment'>, 'label': <'Attachments'>, 'type': <'file-list'>,"
    " 'signature': <'a(sh)'>, 'required': <false>, 'schema': <'{}'>}]>},)" },
  { "Submit", "(objectpath '" MOCK_REQUEST "', 'pending')" },
  { "ListRequests", "([(objectpath '" MOCK_REQUEST "', 'mail.send', 'pending')],)" },
  { "GetState", "('pending', {'executed': <'no'>})" },
  { "Watch", "()" },
  { "Unwatch", "()" },
  { "Leave", "()" },
  { "Withdraw", "()" },
};

static void
mock_note (Mock *mock, GDBusMessage *message)
{
  const char *method = g_dbus_message_get_member (message);
  GVariant *body = g_dbus_message_get_body (message);
  guint count = GPOINTER_TO_UINT (g_hash_table_lookup (mock->counts, method));

  g_hash_table_insert (mock->counts, g_strdup (method), GUINT_TO_POINTER (count + 1));
  g_hash_table_insert (mock->bodies, g_strdup (method),
                       body != NULL ? g_variant_print (body, TRUE) : g_strdup ("()"));
  if (strcmp (method, "Submit") == 0)
    {
      g_clear_object (&mock->fds);
      if (g_dbus_message_get_unix_fd_list (message) != NULL)
        mock->fds = g_object_ref (g_dbus_message_get_unix_fd_list (message));
    }
  if (strcmp (method, "Watch") == 0)
    {
      g_free (mock->watcher);
      mock->watcher = g_strdup (g_dbus_message_get_sender (message));
    }
}

static GDBusMessage *
mock_answer (Mock *mock, GDBusMessage *message)
{
  const char *reply = g_hash_table_lookup (mock->replies, g_dbus_message_get_member (message));
  g_autoptr (GError) error = NULL;
  GDBusMessage *answer;

  if (reply == NULL)
    return g_dbus_message_new_method_error_literal (
        message, "org.freedesktop.DBus.Error.UnknownMethod", "the mock has no such method");
  if (reply[0] == '\0')
    return NULL;
  if (reply[0] == '!')
    {
      g_auto (GStrv) parts = g_strsplit (reply + 1, " ", 2);

      return g_dbus_message_new_method_error_literal (message, parts[0], parts[1]);
    }
  answer = g_dbus_message_new_method_reply (message);
  g_dbus_message_set_body (answer, g_variant_parse (NULL, reply, NULL, NULL, &error));
  g_assert_no_error (error);
  return answer;
}

/* In the worker thread. */
static GDBusMessage *
on_message (GDBusConnection *connection, GDBusMessage *message, gboolean incoming, gpointer data)
{
  Mock *mock = data;
  g_autoptr (GDBusMessage) answer = NULL;

  if (!incoming || g_dbus_message_get_message_type (message) != G_DBUS_MESSAGE_TYPE_METHOD_CALL)
    return message;
  g_mutex_lock (&mock->lock);
  mock_note (mock, message);
  if (g_strcmp0 (mock->held, g_dbus_message_get_member (message)) == 0)
    g_ptr_array_add (mock->waiting, g_object_ref (message));
  else if ((g_dbus_message_get_flags (message) & G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED) == 0)
    answer = mock_answer (mock, message);
  g_mutex_unlock (&mock->lock);
  if (answer != NULL)
    g_dbus_connection_send_message (connection, answer, G_DBUS_SEND_MESSAGE_FLAGS_NONE, NULL, NULL);
  g_object_unref (message);
  return NULL;
}

Mock *
mock_new (const char *address)
{
  Mock *mock = g_new0 (Mock, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = NULL;
  guint32 owner;

  g_mutex_init (&mock->lock);
  mock->replies = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  mock->counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  mock->bodies = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  mock->waiting = g_ptr_array_new_with_free_func (g_object_unref);
  for (gsize i = 0; i < G_N_ELEMENTS (usual); i++)
    mock_set_reply (mock, usual[i].method, usual[i].reply);

  mock->connection = g_dbus_connection_new_for_address_sync (
      address,
      G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
          G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
      NULL, NULL, &error);
  g_assert_no_error (error);
  g_dbus_connection_add_filter (mock->connection, on_message, mock, NULL);
  /* Flags: allow replacement, replace, don't queue. */
  reply = g_dbus_connection_call_sync (
      mock->connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
      "RequestName", g_variant_new ("(su)", US_BUS_NAME, 1 | 2 | 4), G_VARIANT_TYPE ("(u)"),
      G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
  g_assert_no_error (error);
  g_variant_get (reply, "(u)", &owner);
  g_assert_cmpuint (owner, ==, 1);
  return mock;
}

void
mock_free (Mock *mock)
{
  if (mock == NULL)
    return;
  g_dbus_connection_close_sync (mock->connection, NULL, NULL);
  g_object_unref (mock->connection);
  g_hash_table_unref (mock->replies);
  g_hash_table_unref (mock->counts);
  g_hash_table_unref (mock->bodies);
  g_ptr_array_unref (mock->waiting);
  g_free (mock->held);
  g_clear_object (&mock->fds);
  g_free (mock->watcher);
  g_mutex_clear (&mock->lock);
  g_free (mock);
}

void
mock_set_reply (Mock *mock, const char *method, const char *reply)
{
  g_mutex_lock (&mock->lock);
  g_hash_table_insert (mock->replies, g_strdup (method), g_strdup (reply));
  g_mutex_unlock (&mock->lock);
}

void
mock_set_error (Mock *mock, const char *method, const char *name, const char *message)
{
  g_autofree char *reply = g_strdup_printf ("!%s %s", name, message);

  mock_set_reply (mock, method, reply);
}

void
mock_set_silent (Mock *mock, const char *method)
{
  mock_set_reply (mock, method, "");
}

void
mock_hold (Mock *mock, const char *method)
{
  g_mutex_lock (&mock->lock);
  g_free (mock->held);
  mock->held = g_strdup (method);
  g_mutex_unlock (&mock->lock);
}

void
mock_release (Mock *mock)
{
  g_mutex_lock (&mock->lock);
  g_clear_pointer (&mock->held, g_free);
  for (guint i = 0; i < mock->waiting->len; i++)
    {
      g_autoptr (GDBusMessage) answer = mock_answer (mock, mock->waiting->pdata[i]);

      if (answer != NULL)
        g_dbus_connection_send_message (mock->connection, answer, G_DBUS_SEND_MESSAGE_FLAGS_NONE,
                                        NULL, NULL);
    }
  g_ptr_array_set_size (mock->waiting, 0);
  g_mutex_unlock (&mock->lock);
}

void
mock_set_state (Mock *mock, const char *state, const char *executed, const char *extra)
{
  g_autofree char *reply = g_strdup_printf ("('%s', {'executed': <'%s'>%s%s})", state, executed,
                                            extra != NULL ? ", " : "", extra != NULL ? extra : "");

  mock_set_reply (mock, "GetState", reply);
}

void
mock_set_submit_state (Mock *mock, const char *state)
{
  g_autofree char *reply = g_strdup_printf ("(objectpath '" MOCK_REQUEST "', '%s')", state);

  mock_set_reply (mock, "Submit", reply);
}

void
mock_emit_changed (Mock *mock, const char *state)
{
  g_autofree char *watcher = mock_watcher (mock);
  g_autoptr (GError) error = NULL;

  g_dbus_connection_emit_signal (mock->connection, watcher, MOCK_REQUEST, US_INTERFACE_REQUEST,
                                 "Changed", g_variant_new ("(s)", state), &error);
  g_assert_no_error (error);
}

guint
mock_calls (Mock *mock, const char *method)
{
  guint count = 0;

  g_mutex_lock (&mock->lock);
  if (method != NULL)
    count = GPOINTER_TO_UINT (g_hash_table_lookup (mock->counts, method));
  else
    {
      GHashTableIter iter;
      gpointer value;

      g_hash_table_iter_init (&iter, mock->counts);
      while (g_hash_table_iter_next (&iter, NULL, &value))
        count += GPOINTER_TO_UINT (value);
    }
  g_mutex_unlock (&mock->lock);
  return count;
}

char *
mock_body (Mock *mock, const char *method)
{
  char *body;

  g_mutex_lock (&mock->lock);
  body = g_strdup (g_hash_table_lookup (mock->bodies, method));
  g_mutex_unlock (&mock->lock);
  return body;
}

char *
mock_watcher (Mock *mock)
{
  char *watcher;

  g_mutex_lock (&mock->lock);
  watcher = g_strdup (mock->watcher);
  g_mutex_unlock (&mock->lock);
  return watcher;
}

char *
mock_file (Mock *mock, guint handle)
{
  char *content = NULL;

  g_mutex_lock (&mock->lock);
  if (mock->fds != NULL && handle < (guint) g_unix_fd_list_get_length (mock->fds))
    {
      int fd = g_unix_fd_list_peek_fds (mock->fds, NULL)[handle];
      int seals = fcntl (fd, F_GET_SEALS);
      struct stat info;

      g_assert_cmpint (seals & 15, ==, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
      g_assert_cmpint (fstat (fd, &info), ==, 0);
      content = g_malloc0 ((gsize) info.st_size + 1);
      g_assert_cmpint (pread (fd, content, (size_t) info.st_size, 0), ==, info.st_size);
    }
  g_mutex_unlock (&mock->lock);
  return content;
}
