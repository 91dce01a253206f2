/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A listener that keeps pre-initialised workers ready.  A worker is this program again, with
 * the listening socket, a status socket and at most one more descriptor; it prepares itself,
 * accepts one connection, says so, serves it and exits.  The listener reads no connection; on a socket
 * of its own it can say what it knows to those who ask, however busy the workers are.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const char *const *argv; /* of a worker; argv[0] is an absolute path */
  guint max_workers;       /* at once, at least 1; over it, connections wait in the backlog */
  guint ready_workers;     /* kept ready; 0 for 1 */
  guint start_seconds;     /* a worker not ready by then is killed; 0 for 20 */
  /*
   * (nullable): makes the descriptor that each next worker inherits, at start and on reload: a
   * CLOEXEC one of a memfd, or -1.  The listener holds a lease of it (service/base/memfd.h) until
   * the next reload begins.  While it fails nothing is served; it is tried again, ever more rarely.
   * Called with SIGCHLD, SIGHUP, SIGINT and SIGTERM blocked; it may wait for children of its own,
   * by their pid.
   */
  int (*make_shared) (gpointer data, GError **error);
  /*
   * (nullable): says what is to be known without a worker, to a connection of a second socket that is
   * then to be passed in.  It must not read or block; @sock does not block and is closed afterwards.
   * @impaired: whether the worker that got ready last said so of itself
   */
  void (*tell) (int sock, gboolean impaired, gpointer data);
  gpointer data;
} PreforkConfig;

/* The descriptors of a worker. */
#define PREFORK_FD_LISTEN 3 /* LISTEN_FD of service/base/listen.h */
#define PREFORK_FD_STATUS 4
#define PREFORK_FD_SHARED 5

/*
 * prefork_run: takes the one socket of LISTEN_FDS (sd_listen_fds(3)), or two, serves until SIGTERM, then
 * ends the idle workers and waits for the busy ones.  SIGHUP, or a worker's word, reloads: the
 * shared descriptor is made anew and the idle workers are replaced.  A worker that ends before it
 * accepted is started again after a delay that doubles from 100 ms to 30 s.  After two such ends in
 * a row, or one that was killed, every connection is answered with US_ERROR_UNAVAILABLE, unread,
 * until a worker is ready.  Those who ask on the second socket wait until one has been ready since the
 * last reload; idle workers that are impaired are replaced once that was told.
 * Returns: the exit status for main().
 */
int prefork_run (const PreforkConfig *config);

/*
 * prefork_say_impaired: in a worker, before prefork_accept(): it will not be able to do what it is for,
 * though it can say so to who calls.
 */
gboolean prefork_say_impaired (GError **error);

/* prefork_is_awaited: in a worker, before prefork_accept(): whether somebody has called already, so that
 * what can as well be done later is done later. */
gboolean prefork_is_awaited (void);

/*
 * prefork_accept: in a worker, called when it is ready: waits for a connection and tells the
 * listener.  The connection has time-outs of 30 seconds for sending and receiving; from here on
 * the worker may use a minute of CPU time.
 * Returns: the connection, or -1; -1 without an error where this worker is no longer needed and
 *   shall exit with 0.
 */
int prefork_accept (GError **error);

/* prefork_is_ending: in a worker, after prefork_accept(): whether the listener has been told to stop, so
 * that nobody may come after this worker. */
gboolean prefork_is_ending (void);

/*
 * prefork_request_reload: in a worker, after prefork_accept(): asks for a reload and waits for it.
 * Returns: TRUE where every connection made from now on is served with the new descriptor.
 */
gboolean prefork_request_reload (GError **error);

/*
 * process_harden: for main(), in listener and worker: no core, not dumpable, no new privileges,
 * umask 077, SIGPIPE ignored, limits on descriptors and address space.
 */
gboolean process_harden (GError **error);

G_END_DECLS
