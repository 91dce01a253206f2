/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For prefork.c alone. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Of one call: what else the listener watches is not kept waiting by who calls and calls. */
#define PREFORK_REFUSE_MAX 64

/*
 * prefork_refuse: takes the connections that wait at @listen_fd, which does not block, answers each
 * with US_ERROR_UNAVAILABLE and reason unreachable, and closes it, unread.
 * Returns: FALSE where connections may be left.
 */
gboolean prefork_refuse (int listen_fd, GError **error);

G_END_DECLS
