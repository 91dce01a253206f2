/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policy folders on disk, for tests: usr (shipped), etc (configuration) and lib (modules) in a
 * folder of their own, which goes when the variable does. */
#pragma once

#include "service/policy/policy.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  char *top, *data, *config, *objects;
} Tree;

void tree_init (Tree *tree);
void tree_clear (Tree *tree);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tree, tree_clear)

/* tree_write: @name is relative to the top: "etc/rules/x.rule". */
void tree_write (const Tree *tree, const char *name, const char *text);
PolicySource tree_source (const Tree *tree);

G_END_DECLS
