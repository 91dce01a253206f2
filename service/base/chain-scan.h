/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A look at an audit entry that is like most; shared by chain.c and this file's C file alone. */
#pragma once

#include "service/base/pae.h"

#include <glib.h>

G_BEGIN_DECLS

/*
 * chain_scan:
 * @text: (array length=len): untrusted bytes, need not end in NUL
 *
 * Returns: TRUE where chain_entry_parse() would read it, too, and to chain_add() it says no more
 *   than these two; FALSE where that is not known.
 */
gboolean
chain_scan (const char *text, gsize len, guint64 *out_seq, guint8 out_previous[PAE_DIGEST_SIZE]);

G_END_DECLS
