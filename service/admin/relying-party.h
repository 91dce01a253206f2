/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which relying parties keys may be enrolled for: this host's own, and those root has written. */
#pragma once

#include "service/admin/admin.h"

G_BEGIN_DECLS

/*
 * relying_party_find:
 * @rp: (nullable): NULL is a key held on the desktop
 * @out_origin: (out): as passkey_origin() takes it: "" for a key held on the desktop
 *
 * Returns: FALSE with reason bad-value for one that root has not configured.
 */
gboolean relying_party_find (
    const AdminConfig *config, const char *rp, char **out_rp, char **out_origin, GError **error);

G_END_DECLS
