/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree as its reader makes it: json.c and json-parse.c only, and chain-scan.c for the table. */
#pragma once

#include "service/base/json.h"

G_BEGIN_DECLS

/* What cannot stand for itself in a string, in text to be read or to be written; U+0000 is of both.
 */
extern const guint8 json_needs_escape[256];

/* tree_new: @text is known to be valid UTF-8 without U+0000, and need not end in one. */
JsonTree *tree_new (JsonTreeKind kind, const char *text, gsize len);
/* object_search: the place in the canonical order where @name is, or where it belongs. */
guint object_search (const JsonTree *object, const char *name, gboolean *out_found);
/* items_add: @place is that of object_search(), or the length of an array.  @name, as known as
 * @text of tree_new(), and @value are (transfer full). */
void items_add (JsonTree *tree, guint place, char *name, JsonTree *value);

G_END_DECLS
