/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one error domain of Undersign.  Every refusal carries a code, which is the D-Bus error name
 * that a caller reads (org.undersign1.Error.<Name>), and a reason, which is a stable word of
 * dbus/reason.h.  The message of such a GError is always "REASON: text".
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define US_ERROR (us_error_quark ())
#define US_ERROR_PREFIX "org.undersign1.Error."

/* The order is that of the table in error.c; a static assertion ties the two together. */
typedef enum
{
  US_ERROR_NOT_AGENT,
  US_ERROR_NOT_APPROVER,
  US_ERROR_NOT_FOUND,
  US_ERROR_WRONG_STATE,
  US_ERROR_UNKNOWN_ACTION,
  US_ERROR_INVALID_ARGUMENT,
  US_ERROR_LIMIT_EXCEEDED,
  US_ERROR_REFUSED,
  US_ERROR_NO_APPROVER,
  US_ERROR_PAUSED,
  US_ERROR_HALTED,
  US_ERROR_POLICY_INVALID,
  US_ERROR_WRONG_ASSERTION,
  US_ERROR_UNAVAILABLE,
  US_ERROR_N
} UsError;

GQuark us_error_quark (void);

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

/* us_error_has_reason: whether @error is of this domain and its message starts with @reason. */
gboolean us_error_has_reason (const GError *error, const char *reason);

/* us_error_reason: the word before the colon; "" where there is none.  (transfer full) */
char *us_error_reason (const GError *error);

/* us_error_about: "reason: text" becomes "reason: @what: text", so that a message names the file or
 * the word that it is about. */
void us_error_about (GError **error, const char *what);

/* us_error_name: the last part of the D-Bus name of @code, "Unavailable" for anything unknown. */
const char *us_error_name (UsError code);

/* us_error_from_name: the code of a last part; US_ERROR_UNAVAILABLE for anything unknown. */
UsError us_error_from_name (const char *name);

G_END_DECLS
