/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A question that may never be answered, asked in a child process that is killed when it is late.
 * For a process with one thread: the child goes on from a fork.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* child_says_yes: FALSE also when the child is late, crashes or cannot be made. */
gboolean child_says_yes (gboolean (*question) (const void *data), const void *data, int timeout_ms);

G_END_DECLS
