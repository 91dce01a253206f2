/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A strict JSON reader (RFC 8259 with the limits of RFC 7493) and the canonical writer of RFC 8785.
 * A leaf: it includes nothing of ours but the error domain.
 *
 * The reader refuses what other readers forgive: a byte order mark, invalid UTF-8, a lone surrogate,
 * U+0000, a name used twice in one object (compared after unescaping), bytes after the value, and
 * everything over the limits.  It never rewrites a value: a number is kept as its text.  Unlike
 * RFC 7493 it lets noncharacters such as U+FFFE pass, because the bus does.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  JSON_TREE_NULL,
  JSON_TREE_BOOLEAN,
  JSON_TREE_NUMBER,
  JSON_TREE_STRING,
  JSON_TREE_ARRAY,
  JSON_TREE_OBJECT,
} JsonTreeKind;

typedef struct JsonTree JsonTree;

#define JSON_MAX_DEPTH 512

typedef struct
{
  gsize bytes;  /* of the whole text */
  guint depth;  /* of nested arrays and objects; 0 allows none, over JSON_MAX_DEPTH is no more */
  gsize string; /* bytes of one string, unescaped, names included, or of one number */
  guint items;  /* of one array or members of one object */
} JsonLimits;

/*
 * json_tree_parse:
 * @text: (array length=len): untrusted bytes, need not end in NUL
 *
 * Returns: (transfer full) (nullable): the tree, or NULL with US_ERROR_INVALID_ARGUMENT and reason
 *   bad-json, whose text names the byte offset.
 */
JsonTree *json_tree_parse (const char *text, gsize len, const JsonLimits *limits, GError **error);

void json_tree_free (JsonTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (JsonTree, json_tree_free)

JsonTree *json_tree_copy (const JsonTree *tree);
gboolean json_tree_equal (const JsonTree *a, const JsonTree *b);

/* Building.  Strings must be valid UTF-8; a name may be added once (both are programming errors). */
JsonTree *json_tree_new_null (void);
JsonTree *json_tree_new_boolean (gboolean value);
JsonTree *json_tree_new_number (const char *text); /* by the grammar of RFC 8259 */
JsonTree *json_tree_new_string (const char *value);
JsonTree *json_tree_new_array (void);
JsonTree *json_tree_new_object (void);
/* json_tree_add: @value is (transfer full).  Returns: @value, borrowed, for building inwards. */
JsonTree *json_tree_add (JsonTree *object, const char *name, JsonTree *value);
void json_tree_add_string (JsonTree *object, const char *name, const char *value);
void json_tree_add_boolean (JsonTree *object, const char *name, gboolean value);
JsonTree *json_tree_append (JsonTree *array, JsonTree *value);
void json_tree_append_string (JsonTree *array, const char *value);

/* Reading.  Each getter returns NULL (or 0) where the tree is NULL, absent or of another kind. */
JsonTreeKind json_tree_kind (const JsonTree *tree);
guint json_tree_length (const JsonTree *tree); /* items of an array, members of an object */
const JsonTree *json_tree_item (const JsonTree *array, guint i);
const char *json_tree_name (const JsonTree *object, guint i);
const JsonTree *json_tree_member_at (const JsonTree *object, guint i);
const JsonTree *json_tree_member (const JsonTree *object, const char *name);
const char *json_tree_string (const JsonTree *tree);
const char *json_tree_number (const JsonTree *tree); /* the text as given */
gboolean json_tree_boolean (const JsonTree *tree, gboolean *out_value); /* FALSE: not a boolean */
/* json_tree_get_string: short for json_tree_string (json_tree_member (object, name)). */
const char *json_tree_get_string (const JsonTree *object, const char *name);

/*
 * json_tree_write: the canonical bytes (RFC 8785): members sorted by UTF-16 code units, the
 * shortest escapes, no white space.
 *
 * Returns: (transfer full) (nullable): NULL where the tree holds a number: this writer does not
 *   format numbers, and none of our formats has one.
 */
GBytes *json_tree_write (const JsonTree *tree);
/* json_tree_write_to: the same, appended to @out; what is there is undefined after FALSE. */
gboolean json_tree_write_to (const JsonTree *tree, GString *out);

G_END_DECLS
