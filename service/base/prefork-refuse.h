/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For prefork.c alone. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * prefork_refuse: takes every connection that waits at @listen_fd, which does not block, answers it
 * with US_ERROR_UNAVAILABLE and reason unreachable, and closes it, unread.
 * Returns: FALSE where connections may be left.
 */
gboolean prefork_refuse (int listen_fd, GError **error);

G_END_DECLS
