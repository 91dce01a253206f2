/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A JSON tree as one line of text. */
#pragma once

#include "service/base/json.h"

G_BEGIN_DECLS

/*
 * tree_text: members in the order in which they were added, numbers as their text, and nothing in
 * it that ends a line.
 *
 * Returns: (transfer full): without an end of line
 */
char *tree_text (const JsonTree *tree);

/* tree_new_integer: for building. */
JsonTree *tree_new_integer (gint64 value);

/* tree_integer: FALSE where @tree is no integer of 53 bits. */
gboolean tree_integer (const JsonTree *tree, gint64 *out_value);

G_END_DECLS
