/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All users that the system's directories of users tell of, each directory by itself. */
#pragma once

#include <glib.h>
#include <pwd.h>

G_BEGIN_DECLS

/*
 * users_find: whether there is one of whom @is_it says so.  For a child of look.h: it changes where
 * the process looks for users while it goes on, and may take long.
 * Returns: FALSE with reason identity where a directory breaks off before one is found.  One that is not
 *   there at all, or tells nobody, has no users here.
 */
gboolean users_find (gboolean (*is_it) (const struct passwd *entry, gconstpointer data),
                     gconstpointer data,
                     gboolean *out_found,
                     GError **error);

G_END_DECLS
