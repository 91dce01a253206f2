/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making a UsStatus: inside the library only. */
#pragma once

#include "agentlib/lib/undersign.h"

G_BEGIN_DECLS

/*
 * status_new:
 * @reply: the reply of GetState(), of type "(sa{sv})"
 *
 * Returns: (transfer full) (nullable): NULL with US_ERROR_UNAVAILABLE and reason bad-message where it
 *   is not what the interface documents.  Keys that this version does not know are left out.
 */
UsStatus *status_new (GVariant *reply, GError **error);

G_END_DECLS
