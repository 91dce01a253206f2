/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A listener that keeps one pre-initialised worker ready.  The worker is this program again, with
 * the listening socket, a status pipe and at most one more descriptor; it prepares itself, accepts
 * one connection, says so on the pipe, serves it and exits.  The listener reads no connection.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const char *const *argv; /* of a worker; argv[0] is an absolute path */
  guint max_workers;       /* at once; over it, connections wait in the backlog */
  /* (nullable): makes the descriptor that each next worker inherits, at start and on reload */
  int (*make_shared) (gpointer data, GError **error);
  gpointer data;
} PreforkConfig;

/* The descriptors of a worker. */
#define PREFORK_FD_LISTEN 3
#define PREFORK_FD_STATUS 4
#define PREFORK_FD_SHARED 5

/*
 * prefork_run: takes the one socket of LISTEN_FDS (sd_listen_fds(3)), serves until SIGTERM, then
 * ends the idle worker and waits for the busy ones.  SIGHUP, or a worker's word, reloads.
 * Returns: the exit status for main().
 */
int prefork_run (const PreforkConfig *config);

/*
 * prefork_accept: in a worker, called when it is ready: waits for a connection and tells the
 * listener.  Returns: the connection, or -1.
 */
int prefork_accept (GError **error);

/* prefork_request_reload: in a worker: asks the listener to make the shared descriptor anew. */
gboolean prefork_request_reload (GError **error);

/* process_harden: no core, not dumpable, no new privileges, umask 077, CPU and memory limits. */
gboolean process_harden (GError **error);

G_END_DECLS
