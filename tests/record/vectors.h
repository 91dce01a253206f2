/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads tests/vectors/record; its README.md describes the files. */
#pragma once

#include "service/base/json.h"

#include <glib.h>

/* vectors_read: (transfer full): the whole file; aborts where it can't be read. */
JsonTree *vectors_read (const char *name);

/* vectors_find: the entry of an array with this id; aborts where there is none. */
const JsonTree *vectors_find (const JsonTree *entries, const char *id);

/*
 * vectors_bytes:
 * @member: "record" or "statement"
 *
 * Returns: (transfer full): the bytes that an entry stands for, whichever way it gives them.
 */
GBytes *vectors_bytes (const JsonTree *entries, const JsonTree *entry, const char *member);

/* vectors_value: (transfer full): the member `value`, repeated as often as `times` says. */
JsonTree *vectors_value (const JsonTree *entry);

/* vectors_text: a member that must be there. */
const char *vectors_text (const JsonTree *entry, const char *name);

/* vectors_assert_verdict: @error is NULL for "ok", else its reason is the verdict. */
void vectors_assert_verdict (const JsonTree *entry, const GError *error);
