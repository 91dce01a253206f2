/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line from a UsClient to the service: which connection, which owner of the name, and whether
 * that owner is who it should be.  Inside the library only, but for client_new_for(), by which
 * the tests put another bus and another uid in the place of the real ones; nothing that a user of
 * a program can set leads there.
 */
#pragma once

#include "agentlib/lib/undersign.h"

#include <gio/gunixfdlist.h>

G_BEGIN_DECLS

/* client_new_for: a client of the bus at @address, where @service_uid must own the name. */
UsClient *client_new_for (const char *address, uid_t service_uid);

/* What to call.  The strings are not copied, but for @path. */
typedef struct
{
  const char *path; /* NULL: the one of the service */
  const char *interface, *method;
  const char *reply_type;
  int timeout_ms; /* 0: the usual */
} LinkMethod;

/*
 * link_call_async: finds and checks the owner where that is not done, then sends to its unique name.
 * @parameters: (nullable): floating is consumed
 * @fds: (nullable)
 *
 * A call that the bus says it could not deliver, because the owner is gone, is sent once more to the
 * owner that is found then; one that may have been delivered is not.
 */
void link_call_async (UsClient *client,
                      const LinkMethod *method,
                      GVariant *parameters,
                      GUnixFDList *fds,
                      GCancellable *cancellable,
                      GAsyncReadyCallback callback,
                      gpointer user_data);

/* link_call_finish: (transfer full): the reply, or NULL with what undersign.h says of errors. */
GVariant *link_call_finish (UsClient *client, GAsyncResult *result, GError **error);

/* The pinned owner and its connection after a call that succeeded: borrowed. */
const char *link_owner (UsClient *client);
GDBusConnection *link_connection (UsClient *client);

/*
 * link_wait_begin, link_wait_end: the waits of one client for one request.  The service counts them as
 * one, so that only the last may tell it that nobody waits here any more.
 *
 * Returns: whether it was the last
 */
void link_wait_begin (UsClient *client, const char *request);
gboolean link_wait_end (UsClient *client, const char *request);

/* link_forget_owner: the next call finds the owner anew. */
void link_forget_owner (UsClient *client);

G_END_DECLS
