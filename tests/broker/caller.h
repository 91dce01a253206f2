/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Those who call the broker of a bed.h, agents and approvers, and what tests of several subjects do
 * with them.  Everything that takes its time is waited for, with BED_PATIENCE.
 */
#pragma once

#include "tests/broker/bed.h"

G_BEGIN_DECLS

/* A connection of somebody. */
typedef struct
{
  Bed *bed;
  GDBusConnection *connection;
  GString *heard; /* signals, as "CardAdded PATH\n" */
} Caller;

Caller *bed_caller (Bed *bed, uid_t uid);
void caller_free (Caller *caller);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Caller, caller_free)

/* caller_call: the reply, or NULL with an error of US_ERROR. */
GVariant *caller_call (Caller *caller,
                       const char *path,
                       const char *interface,
                       const char *member,
                       GVariant *parameters,
                       GError **error);
GVariant *caller_call_with_fds (Caller *caller,
                                const char *path,
                                const char *interface,
                                const char *member,
                                GVariant *parameters,
                                GUnixFDList *fds,
                                GUnixFDList **out_fds,
                                GError **error);

/* A call that is under way. */
typedef struct
{
  gboolean done;
  GVariant *reply;
  GError *error;
} Pending;

void pending_clear (Pending *pending);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pending, pending_clear)
void caller_begin (Caller *caller,
                   const char *path,
                   const char *interface,
                   const char *member,
                   GVariant *parameters,
                   Pending *pending);
/* caller_begin_submit: Submit(), with files. */
void
caller_begin_submit (Caller *caller, GVariant *parameters, GUnixFDList *fds, Pending *pending);
void pending_wait (Pending *pending);

/* caller_agent, caller_approver: a member of that interface of the broker's own object. */
GVariant *caller_agent (Caller *caller, const char *member, GVariant *parameters, GError **error);
GVariant *
caller_approver (Caller *caller, const char *member, GVariant *parameters, GError **error);

/* assert_fails: a call was refused so; clears @error. */
void assert_fails (GVariant *reply, GError **error, int code, const char *reason);

/* vardict: options in GVariant's text format; floating. */
GVariant *vardict (const char *text);

/* --- what most tests do --- */

char *caller_open_run (Caller *caller, const char *label);
/* caller_submit: mail.send to @to; the path.  @options may be NULL; aborts on error. */
char *caller_submit (Caller *caller, const char *run, const char *to, const char *options);
/* caller_submit_file: the same with one file, whose content is "content". */
char *caller_submit_file (Caller *caller, const char *run);
GVariant *mail_parameters (const char *run, const char *to, const char *options);
/* caller_state: the state; @out_details (nullable). */
char *caller_state (Caller *caller, const char *path, GVariant **out_details);
/* caller_approve: fetches a statement and approves with @signature. */
gboolean caller_approve (Caller *caller,
                         const char *path,
                         const char *credential,
                         const char *signature,
                         char **out_state,
                         GError **error);
/* caller_begin_approve: the same, as far as the call; FALSE where there is no statement. */
gboolean caller_begin_approve (Caller *caller,
                               const char *path,
                               const char *credential,
                               const char *signature,
                               Pending *pending,
                               GError **error);
/* caller_begin_deny: likewise a signed denial. */
gboolean caller_begin_deny (Caller *caller,
                            const char *path,
                            const char *credential,
                            const char *signature,
                            Pending *pending,
                            GError **error);
gboolean caller_deny (Caller *caller, const char *path, const char *reason, GError **error);
/* details_get: a string member of GetState()'s details. */
char *details_get (GVariant *details, const char *key);
/* caller_detail: that of the state now. */
char *caller_detail (Caller *caller, const char *path, const char *key);
void assert_details (Caller *caller,
                     const char *path,
                     const char *state,
                     const char *executed,
                     const char *reason);
/* caller_again: whether the card says that it was prepared anew. */
gboolean caller_again (Caller *caller, const char *path, GError **error);
/* caller_open_run_with, caller_open_run_for: with options as text. */
GVariant *caller_open_run_with (Caller *caller, const char *options, GError **error);
GVariant *
caller_open_run_for (Caller *caller, const char *agent, const char *options, GError **error);

/* --- waiting --- */

/* wait_state: until the request is in this state. */
void wait_state (Caller *caller, const char *path, const char *state);
/* wait_successor: until it has one. */
char *wait_successor (Caller *caller, const char *path);
/* wait_again: until the card was prepared anew. */
void wait_again (Caller *caller, const char *path);
/* wait_heard: until this, and nothing else, is what it has heard. */
void wait_heard (Caller *caller, const char *heard);

/* assert_row, wait_row: what the ledger has of the request. */
void assert_row (Bed *bed, const char *path, const char *row);
void wait_row (Bed *bed, const char *path, const char *row);

G_END_DECLS
