/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads an a{sv} strictly, and a few kinds of values that members share. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const char *name;
  const char *type;
  gboolean required;
} OptionSpec;

/*
 * options_read:
 * @dict: of type a{sv}
 * @out: (array length=n_specs) (out): in the order of @specs, NULL where absent; the caller unrefs
 *
 * Returns: FALSE with reason unknown-option, duplicate-argument, wrong-type or missing-argument;
 *   then nothing is written to @out.
 */
gboolean options_read (
    GVariant *dict, const OptionSpec *specs, gsize n_specs, GVariant **out, GError **error);

/* line_check: whether @value is a `line` of 1 to @max bytes; the error names @name. */
gboolean line_check (const char *name, const char *value, gsize max, GError **error);

/* word_check: 1 to 64 lower-case letters, digits and hyphens, a letter first. */
gboolean word_check (const char *name, const char *value, GError **error);

G_END_DECLS
