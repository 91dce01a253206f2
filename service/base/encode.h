/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hexadecimal and base64url (RFC 4648 section 5, no padding), written one way and read strictly. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

char *hex_encode (const guint8 *data, gsize len); /* lower case */
/* hex_decode: FALSE unless @text is exactly 2 × @len lower-case hex digits. */
gboolean hex_decode (const char *text, guint8 *out_data, gsize len);

char *base64url_encode (const guint8 *data, gsize len);
/* base64url_decode: NULL for padding, a foreign letter, or bits set beyond the last byte. */
GBytes *base64url_decode (const char *text, gsize max_bytes);

/* random_id: 128 random bits as 32 lower-case hex digits; aborts without randomness. */
char *random_id (void);
gboolean id_is_valid (const char *id); /* exactly 32 lower-case hex digits */

G_END_DECLS
