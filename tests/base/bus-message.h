/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages as a bus delivers them, made by GDBus. */
#pragma once

#include <gio/gio.h>

#define MESSAGE_SENDER ":1.7"

/*
 * message_new: a call of org.example.Some.Member at /org/example.
 * @body: (nullable): text of a GVariant
 */
GDBusMessage *message_new (const char *body, guint32 serial);

/* message_set_fds: from now on its header says that @n descriptors come with it. */
void message_set_fds (GDBusMessage *message, guint n);

/* message_blob: its bytes, in either order.  (transfer full) */
GByteArray *message_blob (GDBusMessage *message, gboolean is_big);
