/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A socket-activated program for tests: what systemd does for a service, done by the test as a
 * plain user.  The test keeps the listening socket, as systemd does, so a program can be stopped
 * and started again on it.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct
{
  char *dir;    /* a new temporary directory, 0700 */
  char *path;   /* of the socket, in it */
  char *log;    /* path of the file that takes the program's output, in it */
  int listener; /* SOCK_SEQPACKET */
  char *second_path; /* of another, NULL where there is none */
  int second;
  pid_t pid;    /* of the program, 0 while it does not run */
} Activated;

Activated *activated_new (void);
/* activated_add_second: a second socket; to be called before activated_start(). */
void activated_add_second (Activated *activated);
/* activated_free: stops the program, removes the directory and all in it. */
void activated_free (Activated *activated);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Activated, activated_free)

/*
 * activated_start: runs @argv with the sockets from descriptor 3 on, an environment of @env alone and no
 * leak check at its end: that needs a process that can be traced, and hardened ones cannot.
 */
void activated_start (Activated *activated, const char *const *argv, const char *const *env);

/* activated_wait: the program's wait status; aborts the test after @seconds. */
int activated_wait (Activated *activated, guint seconds);

/* activated_stop: SIGTERM, then activated_wait (10). */
int activated_stop (Activated *activated);

/* activated_connect: a connection with a time-out of @seconds for receiving. */
int activated_connect (Activated *activated, guint seconds);

/* activated_log: what the program has written up to now. */
char *activated_log (Activated *activated);

G_END_DECLS
