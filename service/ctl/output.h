/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the command prints.  Nothing that came from elsewhere reaches a terminal unescaped. */
#pragma once

#include "service/base/json.h"

G_BEGIN_DECLS

/* Of the JSON objects; it changes where a member's meaning does. */
#define OUTPUT_VERSION "1"

/* output_json: the object @tree, to which it adds the version, as one line of canonical JSON. */
void output_json (JsonTree *tree);

/* output_entry: @tree as it was recorded, with a format of its own. */
void output_entry (const JsonTree *tree);

/* output_field: "  name: value", the value escaped. */
void output_field (const char *name, const char *value);

/* output_done: an object with nothing but the version as JSON, else @text. */
void output_done (gboolean json, const char *text);

/* output_error: on standard error; as JSON {"error": NAME, "reason": WORD, "text": …} on standard
 * output. */
void output_error (gboolean json, const GError *error);

G_END_DECLS
