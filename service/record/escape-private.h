/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How one value is spelled on a screen, and what is said beside it; for the rows alone. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  ESCAPE_LINE,  /* spaces at the ends and in a row are marked */
  ESCAPE_TEXT,  /* one line of many: it may be indented */
  ESCAPE_NAME,  /* of a path or file: what could reorder or imitate its separators is escaped too */
  ESCAPE_ASCII, /* everything outside ASCII is escaped */
} EscapeMode;

/* Counted over all that was escaped with it. */
typedef struct
{
  gsize shown;  /* characters that are their own picture */
  gsize hidden; /* escapes, each run once; without those of U+0009, U+000A and U+0020 */
  gsize spaces; /* runs of U+0020 that were escaped */
} EscapeCount;

/* escape_append: @len bytes of valid UTF-8 without NUL; @count may be NULL. */
void escape_append (
    GString *out, const char *text, gsize len, EscapeMode mode, EscapeCount *count);

char *escape_value (const char *text, EscapeMode mode, EscapeCount *count);
GPtrArray *escape_lines (const char *text, EscapeCount *count);

/* escape_is_mostly_hidden: whether more was escaped than a person could read around. */
gboolean escape_is_mostly_hidden (const EscapeCount *count);

/* notes.c: what is worth a word, collected over the items of one value. */
typedef struct Notes Notes;

Notes *notes_new (void);
void notes_free (Notes *notes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Notes, notes_free)

void notes_read (Notes *notes, const char *text);
/* notes_write: appends the warnings, in the order of undersign-record(7), to an array of strings.
 * @count: of the same value */
void notes_write (const Notes *notes, const EscapeCount *count, GPtrArray *out);

G_END_DECLS
