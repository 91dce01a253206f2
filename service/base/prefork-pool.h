/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The workers of a listener.  For prefork.c alone. */
#pragma once

#include "service/base/prefork.h"

#include <glib.h>
#include <poll.h>
#include <signal.h>

G_BEGIN_DECLS

typedef struct
{
  const PreforkConfig *config;
  int listen_fd;    /* what they accept at: borrowed */
  sigset_t signals; /* those that the listener takes */
  int shared_fd;
  int lease_fd; /* of shared_fd: gone before anything newer is served */
  GPtrArray *workers;
  guint failures;     /* starts in a row that led to no connection */
  gint64 not_before;  /* monotonic milliseconds: no start earlier */
  gint64 pause_until; /* and none earlier that can wait */
  gboolean refusing;  /* where none is ready, and until one gets ready */
  gboolean known;     /* a worker has been ready since the idle ones were last replaced */
  gboolean impaired;  /* and the last of them said so */
  gboolean ending;
} Pool;

/* pool_init: without listen_fd and signals, which are to be set before the first start. */
void pool_init (Pool *pool, const PreforkConfig *config);
void pool_clear (Pool *pool);

/* pool_start_worker: one, where one is wanted and may be started now. */
void pool_start_worker (Pool *pool);

/* pool_is_ready: whether a worker waits to be called. */
gboolean pool_is_ready (const Pool *pool);

/* pool_pauses: whether who calls ends the pause: there is nobody else to be called. */
gboolean pool_pauses (const Pool *pool);

/* pool_timeout, pool_poll: until when, for poll(), and on what, an entry each, to wait for the workers. */
int pool_timeout (const Pool *pool);
void pool_poll (const Pool *pool, struct pollfd *polled);

/* After every wake-up, in this order. */
void pool_read (Pool *pool);
void pool_reap (Pool *pool);
void pool_kill_stuck (Pool *pool);
void pool_confirm_reload (Pool *pool);

/* pool_retire_idle: those that have not been called end; others take their place. */
void pool_retire_idle (Pool *pool);

/* pool_reload: makes the shared descriptor anew, and retires the idle ones. */
void pool_reload (Pool *pool);

/* pool_end: no more workers; those that serve are told as well, for they may be the last. */
void pool_end (Pool *pool);

G_END_DECLS
