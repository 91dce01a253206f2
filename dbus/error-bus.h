/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The error domain of dbus/error.h on a GDBus connection. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * us_error_register_bus: ties each code to its name on the bus.  Both ends of a connection call it
 * once before they use the domain; calling it again does nothing.
 */
void us_error_register_bus (void);

/*
 * us_error_propagate_bus:
 * @error: (out) (optional): where to put the error
 * @bus_error: (transfer full): what a GDBus call returned
 *
 * For callers of the service: a refusal comes out as it was made, "REASON: text"; a failure of the
 * bus, or a name that is not ours, as US_ERROR_UNAVAILABLE with reason unreachable.  A cancelled
 * call stays G_IO_ERROR_CANCELLED.
 *
 * Returns: FALSE, always.
 */
gboolean us_error_propagate_bus (GError **error, GError *bus_error);

G_END_DECLS
