/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding the one right owner of a name on the system bus, and calling it. */
#pragma once

#include "module/card/tty/trust.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* bus_connect: to the system bus; reason unreachable, or internal where @trust has a fault. */
GDBusConnection *bus_connect (const Trust *trust, GError **error);

/*
 * bus_pin: has @name started where nobody owns it, and checks that @uid does.
 * Returns: (transfer full) (nullable): the owner's unique name, to which everything is sent; NULL
 *   with reason unreachable, or bad-peer for an owner of another uid.
 */
char *bus_pin (GDBusConnection *connection, const char *name, uid_t uid, GError **error);

/*
 * bus_call: one call to a unique name.  A refusal comes out as the service made it.
 * @parameters: (transfer floating) (nullable)
 * @reply_type: of the body
 * @timeout: milliseconds, -1 for the default
 */
GVariant *bus_call (GDBusConnection *connection,
                    const char *owner,
                    const char *path,
                    const char *interface,
                    const char *member,
                    GVariant *parameters,
                    const char *reply_type,
                    int timeout,
                    GError **error);

G_END_DECLS
