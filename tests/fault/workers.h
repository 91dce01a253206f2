/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Workers that need not start: see workers.c.  For fault.c alone.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* worker_is_forked: whether a listener that spawns @argv gets its child by worker_fork(). */
bool worker_is_forked (char *const *argv);

/* worker_fork: in the place of posix_spawn(), with the file actions of last; an errno. */
int worker_fork (pid_t *pid, char *const *argv);

/* worker_copies: called before each send(): in a template it returns in the copies, on and on, and in
 * itself never.  Elsewhere it does nothing. */
void worker_copies (int fd);

/* worker_note_flock: called before each flock(). */
void worker_note_flock (int fd);

/* role_take: in fault.c: this process is from here on what starts with those arguments. */
void role_take (int argc, char **argv);
