/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The listening socket of a socket-activated service. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define LISTEN_FD 3

/*
 * listen_fd_take: the one socket that was passed in, as sd_listen_fds(3) describes it: a listening
 * Unix SOCK_SEQPACKET socket, from now on CLOEXEC and not blocking.  The variables are removed from
 * the environment.
 * Returns: the descriptor, or -1.
 */
int listen_fd_take (GError **error);

G_END_DECLS
