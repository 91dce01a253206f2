/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files that make up the record, and by no one else. */
#pragma once

#include "service/base/json.h"

#include <glib.h>

G_BEGIN_DECLS

/* record-shape.c: whether @tree is a record: every member, every value, every limit but that of the
 * whole; the error is that of record_decode(). */
gboolean record_check_shape (const JsonTree *tree, GError **error);

/* record-member.c: the spellings of what is not a typed value.  Each is FALSE for "". */
gboolean member_is_name (const char *text);   /* [a-z][a-z0-9_-]*, RECORD_MAX_NAME bytes */
gboolean member_is_action (const char *text); /* names joined by full stops, RECORD_MAX_ACTION */
gboolean member_is_credential (const char *text); /* [a-z0-9][a-z0-9._-]*, RECORD_MAX_NAME bytes */
gboolean member_is_user (const char *text);   /* of the type account */
gboolean member_is_label (const char *text);  /* of the type line, RECORD_MAX_LABEL bytes */
gboolean member_is_effect (const char *text); /* irreversible, reversible or read */
gboolean member_is_digest (const char *text); /* sha256: and 64 lower-case hexadecimal digits */
/* member_parse_uid: decimal, no leading zero, at most 4294967294; @out_uid may be NULL. */
gboolean member_parse_uid (const char *text, guint32 *out_uid);

/*
 * member_check_names: whether @object is an object with every name of @required, and else none but
 * those of @optional.  Both end with NULL; @reason and @where go into the error.
 */
gboolean member_check_names (const JsonTree *object,
                             const char *where,
                             const char *const *required,
                             const char *const *optional,
                             const char *reason,
                             GError **error);

G_END_DECLS
