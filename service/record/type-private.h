/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of the type table, shared by the files that make it up and by no one else.
 *
 * A fault function says why a non-empty string is not of its type, in words for the agent, or
 * returns NULL where it is.  A respell function proposes the canonical spelling of the same value,
 * or NULL; it may propose nonsense, since only what then has no fault is ever named.
 */
#pragma once

#include "service/record/type.h"

#include <glib.h>

G_BEGIN_DECLS

typedef char *(*TypeFault) (const char *value);
typedef char *(*TypeRespell) (const char *value);

struct Type
{
  const char *name;
  TypeWire wire;
  TypeFault fault;     /* of a string, or of an item of a list; NULL for boolean and files */
  TypeRespell respell; /* (nullable) */
  const char *pattern; /* (nullable): for the schema, an ECMA regular expression */
  const char *help;    /* for the schema: how a value is spelled */
};

/* type-text.c */
char *fault_line (const char *value);
char *fault_text (const char *value);
char *fault_argv_item (const char *value);
char *fault_choice (const char *value);
char *fault_account (const char *value);
char *fault_path (const char *value);
char *fault_file_name (const char *value);
char *respell_text (const char *value);
char *respell_path (const char *value);
char *respell_file_name (const char *value);

/* type-number.c */
char *fault_integer (const char *value);
char *fault_decimal (const char *value);
char *fault_money (const char *value);
char *fault_size (const char *value);
char *fault_timestamp (const char *value);
char *fault_duration (const char *value);
char *respell_integer (const char *value);
char *respell_decimal (const char *value);
char *respell_money (const char *value);
char *respell_size (const char *value);
char *respell_timestamp (const char *value);
char *respell_duration (const char *value);

/* type-address.c */
char *fault_hostname (const char *value);
char *fault_hostport (const char *value);
char *fault_email (const char *value);
char *respell_hostname (const char *value);
char *respell_hostport (const char *value);
char *respell_email (const char *value);
/* fault_authority: HOST or HOST:PORT with IPv6 in brackets; @out_port is 0 where there is none. */
char *fault_authority (const char *value, guint *out_port);
char *respell_authority (const char *value);

/* type-url.c */
char *fault_url (const char *value);
char *respell_url (const char *value);

/* currency.c: the digits after the point of an ISO 4217 code, or -1 where there is no such code. */
int currency_digits (const char *code);

/* type-check.c: one string against @type; @where names argument and item. */
gboolean type_check_string (const Type *type, const char *where, const char *value, GError **error);

G_END_DECLS
