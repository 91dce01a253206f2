/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy image between the processes of the executor: a sealed memfd that holds either what
 * policy_snapshot() gave, with its users resolved, or why there is none.
 */
#pragma once

#include "service/policy/policy.h"

#include <glib.h>

G_BEGIN_DECLS

/* snapshot_write: in a process of its own, into @fd. */
gboolean
snapshot_write (const PolicySource *source, const PolicyNames *names, int fd, GError **error);

/* snapshot_make: has a child of @argv write it.  Returns: the sealed memfd, or -1. */
int snapshot_make (const char *const *argv, GError **error);

/* snapshot_read: the image, or NULL with US_ERROR_POLICY_INVALID. */
GBytes *snapshot_read (int fd, GError **error);

G_END_DECLS
