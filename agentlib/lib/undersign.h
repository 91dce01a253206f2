/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign.h: ask for an action, and learn what became of it.
 *
 * An agent holds no secret and decides nothing.  It opens a run, submits an action with its
 * arguments and waits while a person sees exactly that action and answers.  What it gets back is a
 * state, and whether anything ran.
 *
 * Every call has a blocking form and a form with _async and _finish, which is of GIO's usual shape.
 * A #UsClient belongs to one thread.  Errors are of the domain %US_ERROR (undersign-error.h), with a
 * message "REASON: text"; a call that was cancelled gives %G_IO_ERROR_CANCELLED.  Each call can fail
 * with %US_ERROR_NOT_AGENT where the caller is no agent, %US_ERROR_UNAVAILABLE where the service does
 * not answer or is not who it should be (unreachable, bad-peer), %US_ERROR_LIMIT_EXCEEDED where too
 * many calls of it wait, and %US_ERROR_POLICY_INVALID; further errors are named at each call, with
 * the words that org.undersign1.xml documents.
 */
#pragma once

#include "agentlib/lib/undersign-status.h"
#include "agentlib/lib/undersign-submission.h"
#include "dbus/undersign-error.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define US_TYPE_ERROR (us_error_get_type ())
GType us_error_get_type (void);

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

/**
 * us_client_get_info_async:
 * @client: a client
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_get_info() does.
 */
void us_client_get_info_async (UsClient *client,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);

/**
 * us_client_get_info_finish:
 * @client: a client
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: (transfer full): an `a{sv}` as org.undersign1.Agent.GetInfo() documents
 */
GVariant *us_client_get_info_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_open_run:
 * @client: a client
 * @label: (nullable): what the run is about, 1 to 200 bytes; the same label gives the same run until
 *   it is closed or was not used for a day; %NULL: "default"
 * @part: (nullable): the part of the agent that acts; %NULL: "main"
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Opens a run, or finds the one of that label.
 *
 * Errors: %US_ERROR_INVALID_ARGUMENT (bad-value: @label, or a part that the agent has not),
 * %US_ERROR_LIMIT_EXCEEDED (limit: open runs, or new ones in a minute).
 *
 * Returns: (transfer full): the run's id
 */
char *us_client_open_run (UsClient *client,
                          const char *label,
                          const char *part,
                          GCancellable *cancellable,
                          GError **error);

/**
 * us_client_open_run_async:
 * @client: a client
 * @label: (nullable): what the run is about, 1 to 200 bytes; the same label gives the same run until
 *   it is closed or was not used for a day; %NULL: "default"
 * @part: (nullable): the part of the agent that acts; %NULL: "main"
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_open_run() does.
 */
void us_client_open_run_async (UsClient *client,
                               const char *label,
                               const char *part,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);

/**
 * us_client_open_run_finish:
 * @client: a client
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: (transfer full): the run's id
 */
char *us_client_open_run_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_open_run_for:
 * @client: a client
 * @agent: the name of an agent that the caller may start
 * @label: (nullable): what the run is about, 1 to 200 bytes; the same label gives the same run until
 *   it is closed or was not used for a day; %NULL: "default"
 * @part: (nullable): the part of the agent that acts; %NULL: "main"
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Opens a run for an agent, as its owner or one of its initiators: for a program that starts the
 * agent and gives it the run's id.  Records and cards name the caller as who began the run; what is
 * asked for in it only the agent can ask for.  Where there is no such agent, or the caller may not
 * start it, that is %US_ERROR_NOT_FOUND.
 *
 * Further errors: %US_ERROR_INVALID_ARGUMENT (bad-value), %US_ERROR_WRONG_STATE (wrong-state:
 * another initiator has a run of that label), %US_ERROR_LIMIT_EXCEEDED.
 *
 * Returns: (transfer full): the run's id
 */
char *us_client_open_run_for (UsClient *client,
                              const char *agent,
                              const char *label,
                              const char *part,
                              GCancellable *cancellable,
                              GError **error);

/**
 * us_client_open_run_for_async:
 * @client: a client
 * @agent: the name of an agent that the caller may start
 * @label: (nullable): what the run is about, 1 to 200 bytes; the same label gives the same run until
 *   it is closed or was not used for a day; %NULL: "default"
 * @part: (nullable): the part of the agent that acts; %NULL: "main"
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_open_run_for() does.
 */
void us_client_open_run_for_async (UsClient *client,
                                   const char *agent,
                                   const char *label,
                                   const char *part,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data);

/**
 * us_client_open_run_for_finish:
 * @client: a client
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: (transfer full): the run's id
 */
char *us_client_open_run_for_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_close_run:
 * @client: a client
 * @run: the id of a run
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Nothing more can be submitted in it; its requests go on.
 *
 * Errors: %US_ERROR_NOT_FOUND (there is no such run, or it is not the caller's to close),
 * %US_ERROR_LIMIT_EXCEEDED.
 *
 * Returns: %TRUE on success
 */
gboolean us_client_close_run (UsClient *client,
                              const char *run,
                              GCancellable *cancellable,
                              GError **error);

/**
 * us_client_close_run_async:
 * @client: a client
 * @run: the id of a run
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_close_run() does.
 */
void us_client_close_run_async (UsClient *client,
                                const char *run,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data);

/**
 * us_client_close_run_finish:
 * @client: a client
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: %TRUE on success
 */
gboolean us_client_close_run_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_list_actions:
 * @client: a client
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * The actions that some rule lets the caller ask for.
 *
 * Returns: (transfer full): an `a{sa{sv}}` as org.undersign1.Agent.ListActions() documents
 */
GVariant *us_client_list_actions (UsClient *client, GCancellable *cancellable, GError **error);

/**
 * us_client_list_actions_async:
 * @client: a client
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_list_actions() does.
 */
void us_client_list_actions_async (UsClient *client,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data);

/**
 * us_client_list_actions_finish:
 * @client: a client
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: (transfer full): an `a{sa{sv}}` as org.undersign1.Agent.ListActions() documents
 */
GVariant *us_client_list_actions_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_describe_action:
 * @client: a client
 * @action: an action id
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * The arguments of an action, with their types.
 *
 * Errors: %US_ERROR_UNKNOWN_ACTION (no such action, or not one for the caller: told alike).
 *
 * Returns: (transfer full): an `a{sv}` as org.undersign1.Agent.DescribeAction() documents
 */
GVariant *us_client_describe_action (UsClient *client,
                                     const char *action,
                                     GCancellable *cancellable,
                                     GError **error);

/**
 * us_client_describe_action_async:
 * @client: a client
 * @action: an action id
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_describe_action() does.
 */
void us_client_describe_action_async (UsClient *client,
                                      const char *action,
                                      GCancellable *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data);

/**
 * us_client_describe_action_finish:
 * @client: a client
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: (transfer full): an `a{sv}` as org.undersign1.Agent.DescribeAction() documents
 */
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
 * Errors, after each of which there is no request: %US_ERROR_NOT_FOUND (the run, or what is to be
 * superseded), %US_ERROR_UNKNOWN_ACTION, %US_ERROR_INVALID_ARGUMENT (a word for each fault of an
 * argument; key-reused), %US_ERROR_WRONG_STATE (too-late: what is to be superseded is approved or
 * ran), %US_ERROR_REFUSED (policy says no: no-rule, denied-by-rule, no-initiator, limit; or the
 * same may have run, and nobody knows: intent-unknown), %US_ERROR_NO_APPROVER, %US_ERROR_PAUSED,
 * %US_ERROR_HALTED, %US_ERROR_LIMIT_EXCEEDED, %US_ERROR_UNAVAILABLE (facts, no-credential).
 *
 * Returns: (transfer full): the object path of the request
 */
char *us_client_submit (UsClient *client,
                        const char *run,
                        UsSubmission *submission,
                        UsState *out_state,
                        GCancellable *cancellable,
                        GError **error);

/**
 * us_client_submit_async:
 * @client: a client
 * @run: the id of an open run
 * @submission: what is asked for
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_submit() does.
 */
void us_client_submit_async (UsClient *client,
                             const char *run,
                             UsSubmission *submission,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data);

/**
 * us_client_submit_finish:
 * @client: a client
 * @result: what the callback was given
 * @out_state: (out) (optional): the state of the request, set on success only
 * @error: return location
 *
 * Returns: (transfer full): the object path of the request
 */
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
 * The requests of the caller.
 *
 * Returns: (transfer full): an `a(oss)`: path, action id and state, newest first
 */
GVariant *us_client_list_requests (UsClient *client, GCancellable *cancellable, GError **error);

/**
 * us_client_list_requests_async:
 * @client: a client
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_list_requests() does.
 */
void us_client_list_requests_async (UsClient *client,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data);

/**
 * us_client_list_requests_finish:
 * @client: a client
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: (transfer full): an `a(oss)`: path, action id and state, newest first
 */
GVariant *us_client_list_requests_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_get_state:
 * @client: a client
 * @request: object path of a request
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Looks at a request once.
 *
 * Errors: %US_ERROR_NOT_FOUND (no such request, or not the caller's: told alike).
 *
 * Returns: (transfer full): its status now
 */
UsStatus *us_client_get_state (UsClient *client,
                               const char *request,
                               GCancellable *cancellable,
                               GError **error);

/**
 * us_client_get_state_async:
 * @client: a client
 * @request: object path of a request
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_get_state() does.
 */
void us_client_get_state_async (UsClient *client,
                                const char *request,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data);

/**
 * us_client_get_state_finish:
 * @client: a client
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: (transfer full): its status now
 */
UsStatus *us_client_get_state_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_wait:
 * @client: a client
 * @request: object path of a request
 * @timeout_ms: how long to wait at most; negative: until the request ends, which it does at
 *   its deadline at the latest
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Waits until the request has ended. To stop waiting, by time-out or otherwise, changes nothing:
 * the request stays as it is. The service goes on to count the client among those who wait, until
 * it leaves the bus or the last wait of it for the request is cancelled. While the service restarts
 * the wait goes on.
 *
 * Errors: %US_ERROR_NOT_FOUND (no such request, or not the caller's: told alike),
 * %US_ERROR_LIMIT_EXCEEDED (16 connections of the caller's user wait for it).
 *
 * Returns: (transfer full): its status then; after a time-out one that has not ended
 */
UsStatus *us_client_wait (UsClient *client,
                          const char *request,
                          int timeout_ms,
                          GCancellable *cancellable,
                          GError **error);

/**
 * us_client_wait_async:
 * @client: a client
 * @request: object path of a request
 * @timeout_ms: how long to wait at most; negative: until the request ends, which it does at
 *   its deadline at the latest
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_wait() does.
 */
void us_client_wait_async (UsClient *client,
                           const char *request,
                           int timeout_ms,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer user_data);

/**
 * us_client_wait_finish:
 * @client: a client
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: (transfer full): its status then; after a time-out one that has not ended
 */
UsStatus *us_client_wait_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_withdraw:
 * @client: a client
 * @request: object path of a request
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Takes a request back; withdrawing what was withdrawn is no error. Where it was handed over, or
 * has ended otherwise, that is %US_ERROR_WRONG_STATE with reason too-late.
 *
 * Errors: %US_ERROR_NOT_FOUND (no such request, or not the caller's: told alike).
 *
 * Returns: %TRUE when nothing of it runs any more
 */
gboolean us_client_withdraw (UsClient *client,
                             const char *request,
                             GCancellable *cancellable,
                             GError **error);

/**
 * us_client_withdraw_async:
 * @client: a client
 * @request: object path of a request
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_withdraw() does.
 */
void us_client_withdraw_async (UsClient *client,
                               const char *request,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);

/**
 * us_client_withdraw_finish:
 * @client: a client
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: %TRUE when nothing of it runs any more
 */
gboolean us_client_withdraw_finish (UsClient *client, GAsyncResult *result, GError **error);

/**
 * us_client_leave:
 * @client: a client
 * @request: object path that us_client_submit() of this client returned
 * @cancellable: (nullable): a cancellable
 * @error: return location
 *
 * Says that the caller passed the path on to nobody and wants the request no more. The service takes
 * it back if everyone of this user that it was given to has said so, and else leaves it as it is.
 *
 * Returns: %TRUE when the service has taken note of it
 */
gboolean us_client_leave (UsClient *client,
                          const char *request,
                          GCancellable *cancellable,
                          GError **error);

/**
 * us_client_leave_async:
 * @client: a client
 * @request: object path that us_client_submit() of this client returned
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Starts what us_client_leave() does.
 */
void us_client_leave_async (UsClient *client,
                            const char *request,
                            GCancellable *cancellable,
                            GAsyncReadyCallback callback,
                            gpointer user_data);

/**
 * us_client_leave_finish:
 * @client: a client
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: %TRUE when the service has taken note of it
 */
gboolean us_client_leave_finish (UsClient *client, GAsyncResult *result, GError **error);

G_END_DECLS
