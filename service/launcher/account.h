/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a user is an agent's alone: its owner starts commands as it without a password. */
#pragma once

#include <glib.h>
#include <pwd.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* account_read: however long the entry is.  @out_buffer: what @out points into.  FALSE with reason
 * identity. */
gboolean account_read (uid_t uid, struct passwd *out, char **out_buffer, GError **error);

/*
 * account_check: nobody logs in as the user, its group has its name, no other member and is no
 * other's own as far as directories of users tell, it is in no other, and it is called @prefix and
 * @agent or its home is that of the agent's commands: which user of a service would be neither.
 * Returns: FALSE with reason identity, also where this cannot be found out: a directory of users may break
 * off.
 */
gboolean
account_check (uid_t uid, uid_t owner, const char *prefix, const char *agent, GError **error);

G_END_DECLS
