/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which machine a record and a desktop-held key belong to.  The machine id itself is not published:
 * the name is derived from it for this application alone.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * host_id: 32 lower-case hex digits, from /etc/machine-id.
 * Returns: (transfer full) (nullable): NULL with a GError where there is no valid machine id.
 */
char *host_id (GError **error);

/*
 * host_id_derive: the first half of an HMAC-SHA-256 with the 16 bytes of the id as key.
 * @machine_id: the content of a machine-id(5) file
 */
char *host_id_derive (GBytes *machine_id, GError **error);

G_END_DECLS
