/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making text from elsewhere safe to print. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * escape_text: one line of printable text for any bytes.  What could move the cursor, hide or
 * reorder text becomes \u{XXXX}, a byte that is no UTF-8 \x{XX}, and a backslash two, so that no two
 * inputs look alike.  (transfer full)
 */
char *escape_text (const char *bytes);

/* escape_json: the same JSON text with such characters as \uXXXX of JSON.  (transfer full) */
char *escape_json (const char *json);

G_END_DECLS
