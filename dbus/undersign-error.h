/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-error.h: the one error domain of Undersign.  Every refusal carries a code, which is the
 * D-Bus error name that a caller reads (org.undersign1.Error.<Name>), and a reason, which is a stable
 * word.  The message of such a GError is always "REASON: text".
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * US_ERROR:
 *
 * The error domain of Undersign; its codes are #UsError.
 */
#define US_ERROR (us_error_quark ())

/**
 * UsError:
 * @US_ERROR_NOT_AGENT: the caller is no agent
 * @US_ERROR_NOT_APPROVER: the caller has no passkey that counts
 * @US_ERROR_NOT_FOUND: there is no such thing, or it is not the caller's
 * @US_ERROR_WRONG_STATE: it is too late for that, or too early
 * @US_ERROR_UNKNOWN_ACTION: there is no such action for this agent
 * @US_ERROR_INVALID_ARGUMENT: an argument is wrong; the message names it
 * @US_ERROR_LIMIT_EXCEEDED: a limit is spent; the message names it
 * @US_ERROR_REFUSED: policy refuses it
 * @US_ERROR_NO_APPROVER: nobody could approve it
 * @US_ERROR_PAUSED: the agent is paused
 * @US_ERROR_HALTED: execution is halted
 * @US_ERROR_POLICY_INVALID: the policy of this machine has a fault
 * @US_ERROR_WRONG_ASSERTION: an approval was not signed as it must be
 * @US_ERROR_UNAVAILABLE: the service, or a part of it, is not there or not itself
 * @US_ERROR_N: the number of codes; it grows with later versions
 *
 * What kind of refusal an error of the domain %US_ERROR is.
 */
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

/**
 * us_error_quark:
 *
 * Returns: the error domain of Undersign
 */
GQuark us_error_quark (void);

/**
 * us_error_has_reason:
 * @error: (nullable): an error
 * @reason: a word, such as "no-rule"
 *
 * Returns: whether @error is of the domain %US_ERROR and its message starts with @reason
 */
gboolean us_error_has_reason (const GError *error, const char *reason);

/**
 * us_error_reason:
 * @error: an error
 *
 * Returns: (transfer full): the word before the colon; "" where there is none
 */
char *us_error_reason (const GError *error);

G_END_DECLS
