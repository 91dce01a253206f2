/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pieces of a mail: header fields and encodings (RFC 5322, 2045, 2047, 2231).  Everything written
 * is ASCII, in lines that end with CRLF, so no value can begin a line; one is longer than 76
 * characters only where a single address is.
 */
#pragma once

#include <glib.h>

/* value_is_clean: valid UTF-8 without a control character.  Nothing else may be in a header. */
gboolean value_is_clean (const char *value);

/* address_is_clean: a bare LOCAL@DOMAIN of the characters that need no quoting anywhere. */
gboolean address_is_clean (const char *address);

/* Each adds one whole field.  The value must be clean: it aborts otherwise. */
void header_add_addresses (GString *out, const char *name, const char *const *addresses);
void header_add_text (GString *out, const char *name, const char *text);
void header_add_date (GString *out, gint64 seconds);
/* header_add_attachment: the Content-Disposition of a file of that name. */
void header_add_attachment (GString *out, const char *file_name);

/* quoted_printable_add: @text with its lines ended by CRLF; nothing is added after the last. */
void quoted_printable_add (GString *out, const char *text);

/* base64_size: of @size bytes in lines; each line ends with CRLF. */
guint64 base64_size (guint64 size);
/* base64_add: @len must be a multiple of BASE64_LINE_BYTES but for the last part of a file. */
#define BASE64_LINE_BYTES 57
void base64_add (GString *out, const guint8 *data, gsize len);
