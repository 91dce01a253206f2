/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For prefork.c and prefork-pool.c alone. */
#pragma once

#include <glib.h>
#include <signal.h>

G_BEGIN_DECLS

/* From here on are the listener's own descriptors, above those of a worker, so that none is overwritten. */
#define PREFORK_FD_PRIVATE 10

typedef struct
{
  const char *const *argv;
  int listen_fd;
  int shared_fd;           /* -1 for none */
  const sigset_t *signals; /* that the listener has taken, and a worker has as ever */
} PreforkSpawn;

/* prefork_spawn: starts a worker.  Returns: the listener's end of its status socket, or -1 */
int prefork_spawn (const PreforkSpawn *spawn, pid_t *out_pid, GError **error);

G_END_DECLS
