/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the small formats (keys, signatures, checkpoints, receipts) share in being read strictly. */
#pragma once

#include "service/base/json.h"

#include <glib.h>

G_BEGIN_DECLS

/*
 * shape_check: that @tree is an object with exactly the members @names.
 * @names: (array zero-terminated=1)
 * @what: of the message, e.g. "a checkpoint"
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT and @reason.
 */
gboolean shape_check (const JsonTree *tree,
                      const char *const *names,
                      const char *reason,
                      const char *what,
                      GError **error);
/* shape_check_strings: likewise, and each is a string. */
gboolean shape_check_strings (const JsonTree *tree,
                              const char *const *names,
                              const char *reason,
                              const char *what,
                              GError **error);

/* shape_number: a decimal number without sign, blanks or leading zeros, below 2^63. */
gboolean shape_number (const char *text, guint64 *out_number);

/* shape_parse: reads strictly, and only the canonical bytes of the tree: reason bad-json or
 * @reason. */
JsonTree *shape_parse (
    GBytes *bytes, const JsonLimits *limits, const char *reason, const char *what, GError **error);

G_END_DECLS
