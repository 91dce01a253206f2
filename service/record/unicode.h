/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a screen may show of a character, from a table of one named Unicode version: the same on
 * every machine, whatever its libraries know.  Only the record layer uses it.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The order is that of FLAGS in unicode-table.py. */
typedef enum
{
  CHAR_SHOWN = 1 << 0, /* a letter, number, punctuation mark or symbol with a glyph, or U+0020 */
  CHAR_MARK = 1 << 1,  /* combines with the character before it */
  CHAR_LETTER = 1 << 2,
  CHAR_DIGIT = 1 << 3,   /* a decimal digit of any script */
  CHAR_RTL = 1 << 4,     /* of a right-to-left script */
  CHAR_VARIANT = 1 << 5, /* a letter or digit in a mathematical, full-width or half-width dress */
  CHAR_CONTROL = 1 << 6, /* categories Cc, Cf, Zl and Zp */
  CHAR_BIDI = 1 << 7,    /* orders text, has no glyph */
} CharFlags;

/*
 * char_flags: 0 for what is unassigned, private, a space other than U+0020 or without a glyph.
 * @out_script: (out) (optional): the script of a letter; 0 for what is common to all
 */
guint char_flags (gunichar c, guint8 *out_script);

/* char_looks_like: the ASCII character that @c passes for, and has no other sign of not being; NUL for
 * none. */
char char_looks_like (gunichar c);

/* char_covers: a mark that is drawn over or around its letter. */
gboolean char_covers (gunichar c);

/* script_name: "Latin", "Cyrillic", …; "Common" for 0. */
const char *script_name (guint8 script);

/* script_find: 0 for an unknown name. */
guint8 script_find (const char *name);

/* unicode_version: "15.0.0" */
const char *unicode_version (void);

G_END_DECLS
