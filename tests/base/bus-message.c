/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/base/bus-message.h"

#include <gio/gunixfdlist.h>

GDBusMessage *
message_new (const char *body, guint32 serial)
{
  GDBusMessage *message =
      g_dbus_message_new_method_call (":1.1", "/org/example", "org.example.Some", "Member");
  g_autoptr (GError) error = NULL;

  g_dbus_message_set_sender (message, MESSAGE_SENDER);
  g_dbus_message_set_serial (message, serial);
  if (body != NULL)
    {
      g_dbus_message_set_body (message, g_variant_parse (NULL, body, NULL, NULL, &error));
      g_assert_no_error (error);
    }
  return message;
}

void
message_set_fds (GDBusMessage *message, guint n)
{
  g_autoptr (GUnixFDList) list = g_unix_fd_list_new ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < n; i++)
    g_unix_fd_list_append (list, 0, &error);
  g_assert_no_error (error);
  g_dbus_message_set_unix_fd_list (message, n > 0 ? list : NULL);
}

GByteArray *
message_blob (GDBusMessage *message, gboolean is_big)
{
  g_autoptr (GError) error = NULL;
  gsize size = 0;
  guchar *blob = NULL;

  g_dbus_message_set_byte_order (message, is_big ? G_DBUS_MESSAGE_BYTE_ORDER_BIG_ENDIAN
                                                 : G_DBUS_MESSAGE_BYTE_ORDER_LITTLE_ENDIAN);
  blob = g_dbus_message_to_blob (message, &size, G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING, &error);
  g_assert_no_error (error);
  return g_byte_array_new_take (blob, size);
}
