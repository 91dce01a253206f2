/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The listening sockets of a socket-activated service. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define LISTEN_FD 3

/*
 * listen_fds_take: the sockets that were passed in, as sd_listen_fds(3) describes them, from LISTEN_FD
 * on: just so many listening Unix SOCK_SEQPACKET sockets, from now on CLOEXEC and not blocking.  The
 * variables are removed from the environment.
 */
gboolean listen_fds_take (guint count, GError **error);

G_END_DECLS
