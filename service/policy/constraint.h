/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an action demands of a value beyond its type: Pattern=, Minimum=, Maximum=, MaxItems= and
 * Choices=.  The same check is made of an agent's values and, at load, of Default= and Value=.
 */
#pragma once

#include "service/policy/policy.h"

#include <glib.h>

G_BEGIN_DECLS

#define PATTERN_MAX_BYTES 1024
#define PATTERN_MAX_REPEAT 4096 /* product of the upper bounds of all {m,n} */

/* type_is_ordered: whether type_compare() knows an order of its values. */
gboolean type_is_ordered (const Type *type);
/* type_is_list: a value holds items. */
gboolean type_is_list (const Type *type);
gboolean type_is_file (const Type *type); /* or a list of files */

/*
 * constraint_check: an empty value satisfies every constraint; Required= is not one of them.
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT and reason bad-value; the text names the argument
 *   and the constraint, not the value.
 */
gboolean constraint_check (const PolicyArgument *argument, const JsonTree *value, GError **error);

typedef struct Pattern Pattern;

/*
 * pattern_new: compiled once, for whatever it is held against.
 *
 * Returns: (transfer full): NULL for what is no POSIX extended regular expression, holds a back
 *   reference or repeats beyond the limit.  The error's message has no reason.
 */
Pattern *pattern_new (const char *text, GError **error);
void pattern_free (Pattern *pattern);

/*
 * pattern_matches: the whole of @text.  Always in the locale C.UTF-8, whatever the process has.
 * @pattern: (nullable): NULL, of a text that was no pattern, matches nothing
 */
gboolean pattern_matches (const Pattern *pattern, const char *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Pattern, pattern_free)

G_END_DECLS
