/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The types of arguments, facts and settings: one table of how each is validated, spelled, passed
 * on the bus, described as JSON Schema and shown.  Values are never rewritten: what is not in
 * canonical form is refused, and the error names the canonical spelling where there is one.
 * undersign-record(7), section TYPES, is the specification.
 */
#pragma once

#include "service/base/json.h"

#include <glib.h>

G_BEGIN_DECLS

/* The limits of undersign-record(7), section LIMITS. */
#define RECORD_MAX_DEPTH 8
#define RECORD_MAX_ARGUMENTS 256
#define RECORD_MAX_ITEMS 1000
#define RECORD_MAX_STRING (64 * 1024)
#define RECORD_MAX_BYTES (256 * 1024)
#define RECORD_MAX_CLAIM 2000  /* bytes */
#define RECORD_MAX_LABEL 200   /* bytes of a label, a summary, a run's label */
#define RECORD_MAX_NAME 64     /* bytes of the name of an argument, fact, setting, agent, part, … */
#define RECORD_MAX_ACTION 128  /* bytes of an action id */
#define RECORD_MAX_FILES 16    /* of one record */
#define RECORD_MAX_FILE (25 * 1024 * 1024)
#define RECORD_MAX_FILES_SIZE (64 * 1024 * 1024) /* all files of one record */

typedef struct Type Type;

/* How a value travels: the D-Bus signature of an argument of this type. */
typedef enum
{
  TYPE_WIRE_STRING,  /* s */
  TYPE_WIRE_BOOLEAN, /* b */
  TYPE_WIRE_STRINGS, /* as */
  TYPE_WIRE_FILE,    /* (sh) name and handle */
  TYPE_WIRE_FILES,   /* a(sh) */
} TypeWire;

/* What a handle stands for: the receiver hashes each sealed memfd once and passes this table. */
typedef struct
{
  guint64 size;
  guint8 sha256[32];
} TypeFile;

/* type_find: NULL for an unknown name. */
const Type *type_find (const char *name);
/* type_at: the table in order; NULL after the last. */
const Type *type_at (guint i);
const char *type_name (const Type *type);
TypeWire type_wire (const Type *type);
const char *type_signature (const Type *type); /* "s", "b", "as", "(sh)" or "a(sh)" */

/* type_empty: what an argument left out is: "", false or [].  A file has none: NULL. */
JsonTree *type_empty (const Type *type);
/* type_is_empty: "" and []; a boolean or a file never is. */
gboolean type_is_empty (const Type *type, const JsonTree *value);

/*
 * type_check: whether @value is of the right shape and in canonical form.  An empty string is
 * a value that was not given and passes; `Required=` refuses it, not the type.
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT and reason not-canonical, bad-value, wrong-type or
 *   too-large; the message names @name, which is the argument.
 */
gboolean type_check (const Type *type, const char *name, const JsonTree *value, GError **error);

/*
 * type_from_variant: the value of an argument as it came over the bus.
 * @files: (array length=n_files): what the handles stand for
 * @used: (array length=n_files): set where a handle was used; used twice is an error
 *
 * Returns: (transfer full) (nullable): a value for which type_check() holds, or NULL with reason
 *   wrong-type, bad-handle or those of type_check().
 */
JsonTree *type_from_variant (const Type *type,
                             const char *name,
                             GVariant *variant,
                             const TypeFile *files,
                             guint n_files,
                             gboolean *used,
                             GError **error);

/*
 * type_from_text: the value of a policy file's Default=, Value= or a setting, and of a fact.  A
 * boolean is "yes" or "no".  The items of a list are separated by one space; those of argv and
 * line-list by ';', without spaces around it: they cannot have a ';' inside or a space at an end.
 * An empty text is the empty value.  Files have none.
 */
JsonTree *type_from_text (const Type *type, const char *name, const char *text, GError **error);

/* type_schema: the JSON Schema (2020-12) of one argument, without $ref and oneOf. */
JsonTree *type_schema (const Type *type);

/*
 * type_compare: for Minimum=, Maximum= and `When=… <= …`: integer, decimal, money of one currency,
 * size, duration and timestamp.
 * Returns: FALSE where the two cannot be compared.
 */
gboolean type_compare (const Type *type, const char *a, const char *b, int *out_order);

G_END_DECLS
