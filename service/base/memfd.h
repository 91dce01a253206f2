/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * File content crosses processes as sealed memfds only: what F_GET_SEALS says can't be undone, so
 * no FIFO, no growing and no swapped file can be behind the descriptor.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* memfd_new_sealed: a CLOEXEC memfd that holds @data and can no longer change; -1 on error. */
int memfd_new_sealed (const char *name, const void *data, gsize len, GError **error);

/*
 * memfd_check:
 * @fd: untrusted, nothing of it is read
 * @max_size: bytes
 * @out_size: (out): its size, which is fixed
 *
 * Returns: TRUE only for a memfd with F_SEAL_WRITE, _GROW, _SHRINK and _SEAL and no larger than
 *   @max_size; else US_ERROR_INVALID_ARGUMENT with reason not-sealed or too-large.
 */
gboolean memfd_check (int fd, gsize max_size, gsize *out_size, GError **error);

/* memfd_read: checks as memfd_check does, then maps it.  The bytes live as long as the GBytes. */
GBytes *memfd_read (int fd, gsize max_size, GError **error);

/*
 * memfd_lease: a mark on the file behind @fd that everyone sees who has been sent it, until the
 * descriptor that is returned is closed or its process ends.
 * @fd: a memfd of this process's own
 *
 * Returns: a CLOEXEC descriptor, or -1.
 */
int memfd_lease (int fd, GError **error);

/* memfd_is_leased: whether somebody else holds one now; FALSE where that cannot be told. */
gboolean memfd_is_leased (int fd);

/* memfd_sha256: checks as memfd_check does, then hashes the content in constant memory. */
gboolean memfd_sha256 (int fd, gsize max_size, gsize *out_size, guint8 out[32], GError **error);

G_END_DECLS
