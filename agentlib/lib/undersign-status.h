/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-status.h: what the service says of a request.  Programs include undersign.h.
 */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/**
 * UsState:
 * @US_STATE_PENDING: waits for a person
 * @US_STATE_APPROVED: is being handed over
 * @US_STATE_EXECUTING: the approval is used up; the module runs
 * @US_STATE_DONE: ran
 * @US_STATE_FAILED: the module guarantees that it had no effect
 * @US_STATE_UNKNOWN: may have run; a person must find out; never to be repeated
 * @US_STATE_DENIED: a person said no
 * @US_STATE_EXPIRED: nobody answered in time
 * @US_STATE_WITHDRAWN: the agent no longer wanted it
 * @US_STATE_SUPERSEDED: another request took its place
 * @US_STATE_UNREACHABLE: the last person who could have approved is gone
 * @US_STATE_REFUSED: a check at the execution failed
 * @US_STATE_N: the number of states; it grows with later versions
 *
 * The states of a request.  A nick of this type is the word on the bus.
 */
typedef enum
{
  US_STATE_PENDING,
  US_STATE_APPROVED,
  US_STATE_EXECUTING,
  US_STATE_DONE,
  US_STATE_FAILED,
  US_STATE_UNKNOWN,
  US_STATE_DENIED,
  US_STATE_EXPIRED,
  US_STATE_WITHDRAWN,
  US_STATE_SUPERSEDED,
  US_STATE_UNREACHABLE,
  US_STATE_REFUSED,
  US_STATE_N
} UsState;

/**
 * UsExecuted:
 * @US_EXECUTED_NO: nothing ran
 * @US_EXECUTED_YES: it ran
 * @US_EXECUTED_UNKNOWN: it may have run
 *
 * Whether anything ran.
 */
typedef enum
{
  US_EXECUTED_NO,
  US_EXECUTED_YES,
  US_EXECUTED_UNKNOWN
} UsExecuted;

#define US_TYPE_STATE (us_state_get_type ())
GType us_state_get_type (void);

#define US_TYPE_EXECUTED (us_executed_get_type ())
GType us_executed_get_type (void);

/**
 * us_state_to_string:
 * @state: a state
 *
 * Returns: (transfer none): the word on the bus, e.g. "pending"
 */
const char *us_state_to_string (UsState state);

/**
 * us_state_from_string:
 * @text: a word
 * @out_state: (out): set on success only
 *
 * Returns: %FALSE for a word that is no state
 */
gboolean us_state_from_string (const char *text, UsState *out_state);

/**
 * us_state_has_ended:
 * @state: a state
 *
 * Returns: whether nothing more happens to such a request by itself
 */
gboolean us_state_has_ended (UsState state);

/**
 * us_executed_to_string:
 * @executed: whether anything ran
 *
 * Returns: (transfer none): "no", "yes" or "unknown"
 */
const char *us_executed_to_string (UsExecuted executed);

/**
 * UsStatus: (ref-func us_status_ref) (unref-func us_status_unref)
 *
 * What the service said of a request at one moment.  Immutable, counted by reference.
 */
typedef struct _UsStatus UsStatus;

#define US_TYPE_STATUS (us_status_get_type ())
GType us_status_get_type (void);

/**
 * us_status_ref:
 * @status: a status
 *
 * Returns: (transfer full): @status
 */
UsStatus *us_status_ref (UsStatus *status);

/**
 * us_status_unref:
 * @status: (transfer full) (nullable): a status
 */
void us_status_unref (UsStatus *status);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (UsStatus, us_status_unref)

/**
 * us_status_get_state:
 * @status: a status
 *
 * Returns: the state of the request
 */
UsState us_status_get_state (const UsStatus *status);

/**
 * us_status_get_executed:
 * @status: a status
 *
 * Returns: whether anything ran: not to be guessed from the state
 */
UsExecuted us_status_get_executed (const UsStatus *status);

/**
 * us_status_get_card_open:
 * @status: a status
 *
 * Returns: whether a person who could answer has a card open now
 */
gboolean us_status_get_card_open (const UsStatus *status);

/**
 * us_status_get_resolved:
 * @status: a status
 *
 * Returns: whether a person found out what became of it; the result is their note. %TRUE where
 *   the service does not say
 */
gboolean us_status_get_resolved (const UsStatus *status);

/**
 * us_status_get_watchers:
 * @status: a status
 *
 * Returns: how many connections of the caller's user wait for it now, its own included;
 *   %G_MAXUINT where the service does not say
 */
guint us_status_get_watchers (const UsStatus *status);

/**
 * us_status_get_made_here:
 * @status: a status
 *
 * Returns: whether this client's us_client_submit() made it, and did not find it. %FALSE where the
 *   service does not say, or was restarted since
 */
gboolean us_status_get_made_here (const UsStatus *status);

/**
 * us_status_get_answers:
 * @status: a status
 *
 * Returns: how many approvals were counted
 */
guint us_status_get_answers (const UsStatus *status);

/**
 * us_status_get_needed:
 * @status: a status
 *
 * Returns: how many approvals are asked for in all
 */
guint us_status_get_needed (const UsStatus *status);

/**
 * us_status_get_action:
 * @status: a status
 *
 * Returns: (transfer none) (nullable): the action's id; %NULL where the service did not say
 */
const char *us_status_get_action (const UsStatus *status);

/**
 * us_status_get_run:
 * @status: a status
 *
 * Returns: (transfer none) (nullable): the run's id; %NULL where the service did not say
 */
const char *us_status_get_run (const UsStatus *status);

/**
 * us_status_get_digest:
 * @status: a status
 *
 * Returns: (transfer none) (nullable): "sha256:…" of the record; %NULL where the service did not say
 */
const char *us_status_get_digest (const UsStatus *status);

/**
 * us_status_get_expires:
 * @status: a status
 *
 * Returns: (transfer none) (nullable): when it expires, RFC 3339, UTC; %NULL where the service did
 *   not say
 */
const char *us_status_get_expires (const UsStatus *status);

/**
 * us_status_get_reason:
 * @status: a status
 *
 * Returns: (transfer none) (nullable): of a denial the person's word, of a refusal "REASON: text",
 *   else ""; %NULL where the service did not say
 */
const char *us_status_get_reason (const UsStatus *status);

/**
 * us_status_get_result:
 * @status: a status
 *
 * Returns: (transfer none) (nullable): what the module or who resolved it said, which is untrusted
 *   text; "" before; %NULL where the service did not say
 */
const char *us_status_get_result (const UsStatus *status);

/**
 * us_status_get_supersedes:
 * @status: a status
 *
 * Returns: (transfer none) (nullable): object path of the request that this one replaced
 */
const char *us_status_get_supersedes (const UsStatus *status);

/**
 * us_status_get_successor:
 * @status: a status
 *
 * Returns: (transfer none) (nullable): object path of the request that replaced this one
 */
const char *us_status_get_successor (const UsStatus *status);

G_END_DECLS
