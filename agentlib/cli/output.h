/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the program prints: lines for a person, or with --json one object on one line.  The answer to
 * the command goes to standard output, everything else to standard error.
 */
#pragma once

#include "agentlib/lib/undersign.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define PROGRAM "undersign-agent"
/* Of the JSON objects; it changes where a key's meaning does. */
#define OUTPUT_VERSION "1"

/* output_line: "LABEL  value", where there is a value.  Both are escaped. */
void output_line (const char *label, const char *value);
/* output_text: our own text, as it is. */
void output_text (const char *text);

/* output_object: a builder inside an object that has the version already. */
JsonBuilder *output_object (void);
/* output_finish: closes the object and prints it.  @builder is (transfer full). */
void output_finish (JsonBuilder *builder);

void output_add_string (JsonBuilder *builder, const char *name, const char *value);
/* output_add_variant: text, numbers, booleans, lists and dictionaries; variants are opened. */
void output_add_variant (JsonBuilder *builder, const char *name, GVariant *value);

/* output_error: a failure, of US_ERROR; @request (nullable) is what it is about. */
void output_error (gboolean json, const GError *error, const char *request);

/* request_id: the last component of the path.  request_path: NULL for what is neither id nor path. */
const char *request_id (const char *path);
char *request_path (const char *id_or_path, GError **error);

/* output_request: a request and its status, or, while @status is NULL, its state. */
void output_request (gboolean json, const char *path, UsState state, const UsStatus *status);

G_END_DECLS
