/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Failing allocations, for the targets behind which OpenSSL works.  What is decided about the rest:
 * GLib ends the process where it gets no memory, so nothing that it allocates can go wrong and be
 * carried on with; the worker dies, and a request of a worker that died is refused or unknown.  So
 * does pae_sha256() where there is none for its hash, with which all of a receipt begins: each attempt
 * at that is in a process of its own.
 * OpenSSL instead returns an error, which a caller could take for an answer, and lets its allocator
 * be replaced; so here each of its allocations fails in turn, those that libfido2 causes too.  What
 * libfido2 and libcbor allocate by themselves goes through malloc(), as GLib's does; a test of its own
 * has that fail, tests/passkey/test-scarce.c.  SQLite is behind no parser.
 */
#pragma once

#include <glib.h>

/*
 * starve: calls @attempt again and again, and lets OpenSSL get no more memory from another point on
 * each time.  What is refused with memory must be refused without.
 * @attempt: must give the same verdict each time that it is let alone
 */
void starve (gboolean (*attempt) (gpointer data), gpointer data);

/*
 * starve_apart: likewise, with each attempt in a process of its own, which may end with @last_words as
 * the message of g_error().
 */
void starve_apart (gboolean (*attempt) (gpointer data), gpointer data, const char *last_words);
