/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading root-owned files: opened once, checked on the descriptor, read from it; and making them. */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/*
 * file_read_trusted:
 * @dirfd: an open directory, or AT_FDCWD
 * @owner: the uid that must own the file; nobody else may have write permission
 *
 * Opens without following a final symlink, refuses all but a regular file.
 * Returns: (transfer full): the content, or NULL with a GError that names @path: G_FILE_ERROR where
 *   the system refused (G_FILE_ERROR_NOENT: there is none), else US_ERROR with reason
 *   untrusted-file or too-large.
 */
GBytes *file_read_trusted (int dirfd, const char *path, uid_t owner, gsize max, GError **error);

/* file_open_trusted: the same without reading: an fd, or -1. */
int file_open_trusted (int dirfd, const char *path, uid_t owner, GError **error);

/* dir_open_trusted: the same for a directory: an fd, or -1. */
int dir_open_trusted (int dirfd, const char *path, uid_t owner, GError **error);

/* fd_read_all: reads exactly up to EOF, at most @max bytes; more is an error. */
GBytes *fd_read_all (int fd, gsize max, GError **error);

/* file_read_given: what a person named on the command line; bad-value or too-large, with its name. */
GBytes *file_read_given (const char *path, gsize max, GError **error);

/* file_refuse_given: FALSE with bad-value, by errno, for such a file that can't be opened. */
gboolean file_refuse_given (const char *path, GError **error);

gboolean fd_write_all (int fd, const void *data, gsize len, GError **error);

/*
 * file_publish: makes a file that others may read, and its folder where there is none.  Whoever reads
 * the folder finds all of the file or none: until it is on the disk it is ".NAME.new", a name that
 * neither policy nor systemd-sysusers(8) reads.
 *
 * Returns: FALSE with G_FILE_ERROR: G_FILE_ERROR_EXIST where something has the name, which is left as
 *   it is.
 */
gboolean file_publish (const char *path, const char *text, GError **error);

/* file_publish_tidy: removes the unfinished name that one who was killed left beside the whole file. */
void file_publish_tidy (const char *path);

G_END_DECLS
