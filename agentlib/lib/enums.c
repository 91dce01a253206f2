/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library's enumerations as types of GObject, for bindings.  The nicks are the words on the bus,
 * and of an error the last part of its name there in GLib's form; a test holds them to that.
 */
#include "agentlib/lib/undersign.h"

G_DEFINE_ENUM_TYPE (UsState,
                    us_state,
                    G_DEFINE_ENUM_VALUE (US_STATE_PENDING, "pending"),
                    G_DEFINE_ENUM_VALUE (US_STATE_APPROVED, "approved"),
                    G_DEFINE_ENUM_VALUE (US_STATE_EXECUTING, "executing"),
                    G_DEFINE_ENUM_VALUE (US_STATE_DONE, "done"),
                    G_DEFINE_ENUM_VALUE (US_STATE_FAILED, "failed"),
                    G_DEFINE_ENUM_VALUE (US_STATE_UNKNOWN, "unknown"),
                    G_DEFINE_ENUM_VALUE (US_STATE_DENIED, "denied"),
                    G_DEFINE_ENUM_VALUE (US_STATE_EXPIRED, "expired"),
                    G_DEFINE_ENUM_VALUE (US_STATE_WITHDRAWN, "withdrawn"),
                    G_DEFINE_ENUM_VALUE (US_STATE_SUPERSEDED, "superseded"),
                    G_DEFINE_ENUM_VALUE (US_STATE_UNREACHABLE, "unreachable"),
                    G_DEFINE_ENUM_VALUE (US_STATE_REFUSED, "refused"))

G_DEFINE_ENUM_TYPE (UsExecuted,
                    us_executed,
                    G_DEFINE_ENUM_VALUE (US_EXECUTED_NO, "no"),
                    G_DEFINE_ENUM_VALUE (US_EXECUTED_YES, "yes"),
                    G_DEFINE_ENUM_VALUE (US_EXECUTED_UNKNOWN, "unknown"))

G_DEFINE_ENUM_TYPE (UsError,
                    us_error,
                    G_DEFINE_ENUM_VALUE (US_ERROR_NOT_AGENT, "not-agent"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_NOT_APPROVER, "not-approver"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_NOT_FOUND, "not-found"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_WRONG_STATE, "wrong-state"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_UNKNOWN_ACTION, "unknown-action"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_INVALID_ARGUMENT, "invalid-argument"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_LIMIT_EXCEEDED, "limit-exceeded"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_REFUSED, "refused"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_NO_APPROVER, "no-approver"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_PAUSED, "paused"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_HALTED, "halted"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_POLICY_INVALID, "policy-invalid"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_WRONG_ASSERTION, "wrong-assertion"),
                    G_DEFINE_ENUM_VALUE (US_ERROR_UNAVAILABLE, "unavailable"))
