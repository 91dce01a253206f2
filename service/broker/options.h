/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading an a{sv} of the bus strictly: a key that is not in the table, stands twice or has another
 * type is an error; absent is only what really is not there.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const char *name;
  const char *type; /* a GVariant type: "s", "ay", "o", … */
  gboolean required;
  GVariant **out_value; /* (transfer full): NULL where absent */
} Option;

/*
 * options_read:
 * @dictionary: of type a{sv}, untrusted
 * @options: ends with a NULL name; every out_value points to NULL
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT and reason unknown-option, duplicate-argument,
 *   wrong-type or missing-argument; what was read until then is in out_value all the same.
 */
gboolean options_read (GVariant *dictionary, const Option *options, GError **error);

G_END_DECLS
