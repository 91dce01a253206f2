/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign.h: ask for an action, and learn what became of it.
 *
 * An agent holds no secret and decides nothing.  It opens a run, submits an action with its
 * arguments and waits while a person sees exactly that action and answers.  What it gets back is a
 * state, and whether anything ran.
 *
 * Every call has a blocking form and a form with _async and _finish, which is of GIO's usual shape.
 * A #UsClient belongs to one thread.  Errors are of the domain %US_ERROR (dbus/error.h), with a
 * message "REASON: text"; a call that was cancelled gives %G_IO_ERROR_CANCELLED.
 */
#pragma once

#include "dbus/error.h"

#include <gio/gio.h>

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
 * @US_STATE_N: the number of states
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
 */
typedef enum
{
  US_EXECUTED_NO,
  US_EXECUTED_YES,
  US_EXECUTED_UNKNOWN
} UsExecuted;

/* us_state_to_string: the word on the bus, e.g. "pending". */
const char *us_state_to_string (UsState state);

/**
 * us_state_from_string:
 * @text: a word
 * @out_state: (out): set on success only
 *
 * Returns: FALSE for a word that is no state.
 */
gboolean us_state_from_string (const char *text, UsState *out_state);

/* us_state_has_ended: whether nothing more happens to a request by itself. */
gboolean us_state_has_ended (UsState state);

const char *us_executed_to_string (UsExecuted executed);

/**
 * UsStatus:
 *
 * What the service said of a request at one moment.  Immutable, counted by reference.
 */
typedef struct _UsStatus UsStatus;

#define US_TYPE_STATUS (us_status_get_type ())
GType us_status_get_type (void);
UsStatus *us_status_ref (UsStatus *status);
void us_status_unref (UsStatus *status);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (UsStatus, us_status_unref)

UsState us_status_get_state (const UsStatus *status);
UsExecuted us_status_get_executed (const UsStatus *status);

/* us_status_get_card_open: whether a person who could answer has a card open now. */
gboolean us_status_get_card_open (const UsStatus *status);

/* us_status_get_resolved: whether a person found out what became of it; the result is their note. */
gboolean us_status_get_resolved (const UsStatus *status);

/* us_status_get_watchers: how many connections of the caller's user wait for it, its own included. */
guint us_status_get_watchers (const UsStatus *status);

/* us_status_get_answers, us_status_get_needed: approvals counted, and asked for in all. */
guint us_status_get_answers (const UsStatus *status);
guint us_status_get_needed (const UsStatus *status);

/*
 * Each of these is (nullable): NULL where the service did not say.
 *   action     its id
 *   run        its id
 *   digest     "sha256:…" of the record
 *   expires    RFC 3339, UTC
 *   reason     of a denial the person's word, of a refusal "REASON: text"
 *   result     what the module said; untrusted text
 *   supersedes, successor   object paths of requests
 */
const char *us_status_get_action (const UsStatus *status);
const char *us_status_get_run (const UsStatus *status);
const char *us_status_get_digest (const UsStatus *status);
const char *us_status_get_expires (const UsStatus *status);
const char *us_status_get_reason (const UsStatus *status);
const char *us_status_get_result (const UsStatus *status);
const char *us_status_get_supersedes (const UsStatus *status);
const char *us_status_get_successor (const UsStatus *status);

/**
 * UsSubmission:
 *
 * An action with its arguments, to be submitted.  The types of the arguments are those that
 * us_client_describe_action() tells.  An argument is added once, all of it.
 */
#define US_TYPE_SUBMISSION (us_submission_get_type ())
G_DECLARE_FINAL_TYPE (UsSubmission, us_submission, US, SUBMISSION, GObject)

/* What the service takes at most: files of a submission, bytes of one, bytes of all. */
#define US_MAX_FILES 16
#define US_MAX_FILE_SIZE (25 * 1024 * 1024)
#define US_MAX_FILES_SIZE (64 * 1024 * 1024)

/**
 * us_submission_new:
 * @action: an action id
 *
 * Returns: (transfer full): a submission without arguments
 */
UsSubmission *us_submission_new (const char *action);

/**
 * us_submission_add_string:
 * @submission: a submission
 * @name: the argument's name
 * @value: valid UTF-8
 * @error: return location
 *
 * For arguments of the signature "s".  This and its sisters fail with
 * %US_ERROR_INVALID_ARGUMENT: duplicate-argument where @name was added before, bad-value where it
 * is no valid text.
 *
 * Returns: TRUE on success
 */
gboolean us_submission_add_string (UsSubmission *submission,
                                   const char *name,
                                   const char *value,
                                   GError **error);

/* us_submission_add_boolean: for the signature "b". */
gboolean us_submission_add_boolean (UsSubmission *submission,
                                    const char *name,
                                    gboolean value,
                                    GError **error);

/**
 * us_submission_add_strings:
 * @submission: a submission
 * @name: the argument's name
 * @values: (array zero-terminated=1): the items, possibly none
 * @error: return location
 *
 * For the signature "as".
 *
 * Returns: TRUE on success
 */
gboolean us_submission_add_strings (UsSubmission *submission,
                                    const char *name,
                                    const char *const *values,
                                    GError **error);

/**
 * us_submission_add_file:
 * @submission: a submission
 * @name: the argument's name
 * @path: (type filename): a regular file; its last component is the file's name in the record
 * @error: return location
 *
 * For the signature "(sh)".  The content is copied into sealed memory now: what happens to the file
 * later does not matter.  Anything but a regular file is refused with bad-value, one over
 * %US_MAX_FILE_SIZE with too-large, one more than %US_MAX_FILES, or more than %US_MAX_FILES_SIZE
 * together, with limit.  A file that can't be read gives a %G_FILE_ERROR.
 *
 * Returns: TRUE on success; on failure nothing was added
 */
gboolean us_submission_add_file (UsSubmission *submission,
                                 const char *name,
                                 const char *path,
                                 GError **error);

/**
 * us_submission_add_files:
 * @submission: a submission
 * @name: the argument's name
 * @paths: (array zero-terminated=1) (element-type filename): the files, possibly none
 * @error: return location
 *
 * For the signature "a(sh)"; otherwise as us_submission_add_file().
 *
 * Returns: TRUE on success
 */
gboolean us_submission_add_files (UsSubmission *submission,
                                  const char *name,
                                  const char *const *paths,
                                  GError **error);

/**
 * us_submission_set_claim:
 * @submission: a submission
 * @claim: (nullable): what the agent says about it; people see it marked as unverified
 */
void us_submission_set_claim (UsSubmission *submission, const char *claim);

/**
 * us_submission_set_idempotency_key:
 * @submission: a submission
 * @key: (nullable): the same key gives the same request and its outcome, for good
 */
void us_submission_set_idempotency_key (UsSubmission *submission, const char *key);

/**
 * us_submission_set_supersedes:
 * @submission: a submission
 * @request: (nullable): object path of the request to close; its card shows what changed
 */
void us_submission_set_supersedes (UsSubmission *submission, const char *request);

/**
 * UsClient:
 *
 * A connection to the service.  It is made with the first call, to the system bus; whoever owns
 * org.undersign1 there must be the user `undersign`, else every call fails with %US_ERROR_UNAVAILABLE
 * and the reason bad-peer.  After the service or the bus restarted the next call finds it again.
 */
#define US_TYPE_CLIENT (us_client_get_type ())
G_DECLARE_FINAL_TYPE (UsClient, us_client, US, CLIENT, GObject)

/**
 * us_client_new:
 *
 * Returns: (transfer full): a client; nothing is sent yet
 */
UsClient *us_client_new (void);

/**
 * us_client_get_info:
 * @client: a client
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Who the caller is to the service, and its limits.
 *
 * Returns: (transfer full): an `a{sv}` as org.undersign1.Agent.GetInfo() documents
 */
GVariant *us_client_get_info (UsClient *client, GCancellable *cancellable, GError **error);
void us_client_get_info_async (UsClient *client,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);
GVariant *us_client_get_info_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_open_run:
 * @client: a client
 * @label: (nullable): what the run is about; the same label gives the same run until it is closed
 * @part: (nullable): the part of the agent that acts
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Returns: (transfer full): the run's id
 */
char *us_client_open_run (UsClient *client,
                          const char *label,
                          const char *part,
                          GCancellable *cancellable,
                          GError **error);
void us_client_open_run_async (UsClient *client,
                               const char *label,
                               const char *part,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);
char *us_client_open_run_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_close_run:
 * @client: a client
 * @run: the id of a run
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Nothing more can be submitted in it; its requests go on.
 *
 * Returns: TRUE on success
 */
gboolean us_client_close_run (UsClient *client,
                              const char *run,
                              GCancellable *cancellable,
                              GError **error);
void us_client_close_run_async (UsClient *client,
                                const char *run,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data);
gboolean us_client_close_run_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_list_actions:
 * @client: a client
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Returns: (transfer full): an `a{sa{sv}}` as org.undersign1.Agent.ListActions() documents
 */
GVariant *us_client_list_actions (UsClient *client, GCancellable *cancellable, GError **error);
void us_client_list_actions_async (UsClient *client,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data);
GVariant *us_client_list_actions_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_describe_action:
 * @client: a client
 * @action: an action id
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Returns: (transfer full): an `a{sv}` as org.undersign1.Agent.DescribeAction() documents
 */
GVariant *us_client_describe_action (UsClient *client,
                                     const char *action,
                                     GCancellable *cancellable,
                                     GError **error);
void us_client_describe_action_async (UsClient *client,
                                      const char *action,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data);
GVariant *us_client_describe_action_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_submit:
 * @client: a client
 * @run: the id of an open run
 * @submission: what is asked for
 * @out_state: (out) (optional): the state of the request, set on success only
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * A call that was cancelled, or that ended with the reason unreachable, may have made the request
 * nevertheless: us_client_list_requests() tells, and with an idempotency key it can be repeated.
 *
 * Returns: (transfer full): the object path of the request
 */
char *us_client_submit (UsClient *client,
                        const char *run,
                        UsSubmission *submission,
                        UsState *out_state,
                        GCancellable *cancellable,
                        GError **error);
void us_client_submit_async (UsClient *client,
                             const char *run,
                             UsSubmission *submission,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data);
char *us_client_submit_finish (UsClient *client,
                               GAsyncResult *result,
                               UsState *out_state,
                               GError **error);

/**
 * us_client_list_requests:
 * @client: a client
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Returns: (transfer full): an `a(oss)`: path, action id and state, newest first
 */
GVariant *us_client_list_requests (UsClient *client, GCancellable *cancellable, GError **error);
void us_client_list_requests_async (UsClient *client,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data);
GVariant *us_client_list_requests_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_get_state:
 * @client: a client
 * @request: object path of a request
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Returns: (transfer full): its status now
 */
UsStatus *us_client_get_state (UsClient *client,
                               const char *request,
                               GCancellable *cancellable,
                               GError **error);
void us_client_get_state_async (UsClient *client,
                                const char *request,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data);
UsStatus *us_client_get_state_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_wait:
 * @client: a client
 * @request: object path of a request
 * @timeout_ms: how long to wait at most; negative: until the request ends, which it does at its
 *   deadline at the latest
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Waits until the request has ended.  To stop waiting, by time-out or otherwise, changes nothing:
 * the request stays as it is.  While the service restarts the wait goes on.
 *
 * Returns: (transfer full): its status then; after a time-out one that has not ended
 */
UsStatus *us_client_wait (UsClient *client,
                          const char *request,
                          int timeout_ms,
                          GCancellable *cancellable,
                          GError **error);
void us_client_wait_async (UsClient *client,
                           const char *request,
                           int timeout_ms,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer user_data);
UsStatus *us_client_wait_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_withdraw:
 * @client: a client
 * @request: object path of a request
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Returns: TRUE when nothing of it runs any more; %US_ERROR_WRONG_STATE with reason too-late when it
 *   was handed over or has ended
 */
gboolean us_client_withdraw (UsClient *client,
                             const char *request,
                             GCancellable *cancellable,
                             GError **error);
void us_client_withdraw_async (UsClient *client,
                               const char *request,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);
gboolean us_client_withdraw_finish (UsClient *client, GAsyncResult *result, GError **error);

G_END_DECLS
