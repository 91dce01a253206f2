/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which paths systemd may be told.  It writes them into a file that it reads again when it reloads,
 * and makes folders for mounts as root.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * path_flaw: what keeps a path out of a unit: no UTF-8, what is not printable, white space, and
 * what means something in the file of a unit: \ " ' : ; % $
 * Returns: (transfer full): NULL if there is nothing, or words that go on from "the path".
 */
char *path_flaw (const char *path);

/* path_is_steady: every folder that @path is in is root's, and nobody else can write there. */
gboolean path_is_steady (const char *path);

/* home_is_elsewhere: ProtectHome= does not know it, and a unit has to empty it by itself. */
gboolean home_is_elsewhere (const char *home);

/*
 * home_flaw: what keeps a unit from emptying a home elsewhere: that of its path, that others could lead
 * it elsewhere, or that it is no folder.  systemd would make one that is not there, as root, for good; and
 * one that comes to be while the command runs would not be empty.
 * Returns: (transfer full): as path_flaw()
 */
char *home_flaw (const char *home);

/* path_is_hidden: it is in a folder that a unit for the owner of @home has for itself, empty. */
gboolean path_is_hidden (const char *path, const char *home);

G_END_DECLS
