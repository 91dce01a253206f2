/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the command prints.  Nothing that came from elsewhere reaches a terminal unescaped. */
#pragma once

#include "service/base/json.h"

G_BEGIN_DECLS

/* output_json: one line of canonical JSON. */
void output_json (const JsonTree *tree);

/* output_field: "  name: value", the value escaped. */
void output_field (const char *name, const char *value);

/* output_done: "{}" as JSON, else @text. */
void output_done (gboolean json, const char *text);

/* output_error: on standard error; as JSON {"error": NAME, "reason": WORD, "text": …} on standard
 * output. */
void output_error (gboolean json, const GError *error);

G_END_DECLS
