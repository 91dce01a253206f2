/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a program that prints JSON says of an error. */
#pragma once

#include "service/base/json.h"

G_BEGIN_DECLS

/* error_wants_json: whether --json is among the words; before options are read, so that an error in
 * them is JSON, too. */
gboolean error_wants_json (int argc, char **argv);

/* error_to_tree: (transfer full): an object with the members error, reason and text. */
JsonTree *error_to_tree (const GError *error);

G_END_DECLS
