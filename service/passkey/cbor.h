/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reader of the little CBOR (RFC 8949) that a registration holds.  It takes what CTAP2 writes and
 * nothing more: definite lengths, shortest heads, no tags, no floats, a fixed depth.  It copies
 * nothing; what it returns points into the bytes it was given.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const guint8 *data;
  gsize len;
  gsize at; /* of the next byte; never over len */
} Cbor;

void cbor_init (Cbor *cbor, const guint8 *data, gsize len);
gboolean cbor_at_end (const Cbor *cbor);

/* Each reads one item and returns FALSE, with the position undefined, where another one stands. */
gboolean cbor_read_map (Cbor *cbor, guint64 *out_members);
gboolean cbor_read_array (Cbor *cbor, guint64 *out_items);
gboolean cbor_read_int (Cbor *cbor, gint64 *out_value);
gboolean cbor_read_bytes (Cbor *cbor, const guint8 **out_data, gsize *out_len);
gboolean cbor_read_text (Cbor *cbor, const char **out_text, gsize *out_len);

/* cbor_text_is: whether @text, which does not end in NUL, is @name. */
gboolean cbor_text_is (const char *text, gsize len, const char *name);

/*
 * cbor_skip_map: passes over one map of names, as extensions are; names of each map must ascend in
 * the CTAP2 order, so that none is there twice.
 */
gboolean cbor_skip_map (Cbor *cbor);

G_END_DECLS
