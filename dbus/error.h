/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How errors are made and named, for Undersign itself; what others see of them is undersign-error.h,
 * which is installed with the library.  A reason is a word of dbus/reason.h.
 */
#pragma once

#include "dbus/undersign-error.h"

G_BEGIN_DECLS

#define US_ERROR_PREFIX "org.undersign1.Error."

/*
 * us_error_set:
 * @error: (out) (optional): where to put the error
 * @code: what kind of refusal this is
 * @reason: a word of dbus/reason.h
 * @format: the text for a person: lower case, no final stop, no secret
 *
 * Returns: FALSE, always, so that a check can say `return us_error_set (…);`.
 */
gboolean us_error_set (GError **error, UsError code, const char *reason, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

/* us_error_about: "reason: text" becomes "reason: @what: text", so that a message names the file or
 * the word that it is about. */
void us_error_about (GError **error, const char *what);

/* us_error_name: the last part of the D-Bus name of @code, "Unavailable" for anything unknown. */
const char *us_error_name (UsError code);

/* us_error_from_name: the code of a last part; US_ERROR_UNAVAILABLE for anything unknown. */
UsError us_error_from_name (const char *name);

G_END_DECLS
