/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a user is an agent's alone: its owner starts commands as it without a password. */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/*
 * account_check: nobody logs in as the user, its group has its name and no other member, and it is
 * in no other.
 * Returns: FALSE with reason identity, also where this cannot be found out.
 */
gboolean account_check (uid_t uid, uid_t owner, GError **error);

G_END_DECLS
