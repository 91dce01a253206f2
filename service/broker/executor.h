/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hand-overs to the executor without waiting: each call is one connection on the main loop with a
 * deadline of its own.  Slow kinds can't use up the places of the others, so that a denial gets
 * through while modules are slow; nor can one module use up those of another, one agent those of a
 * module, or one person who looks at receipts all the time those that answers need.
 */
#pragma once

#include "service/base/handover.h"

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct Executor Executor;

/*
 * ExecutorCallback: never called from within executor_call().
 * @reply: borrowed; NULL on error
 * @error: what the executor said, or US_ERROR_UNAVAILABLE where it did not
 */
typedef void (*ExecutorCallback) (const Handover *reply, const GError *error, gpointer data);

/* executor_new: @path of the socket */
Executor *executor_new (const char *path);
/* executor_free: what is under way, and what its callbacks begin, ends with US_ERROR_UNAVAILABLE. */
void executor_free (Executor *executor);

/*
 * Places of the slow kinds for one module, and how many of them one agent may hold.  The latter are
 * together fewer than the eight workers of a module's runner (RUNNER_MAX_WORKERS), which the places of
 * all agents are not: one agent alone leaves a worker to others.  It does not for as long as a module
 * is still busy with calls that are no longer waited for: they have given their places back.
 */
#define EXECUTOR_PREPARES 8
#define EXECUTOR_PREPARES_EACH 3
#define EXECUTOR_EXECUTES 8
#define EXECUTOR_EXECUTES_EACH 4

/* Of each slow kind, for all modules: as many as there are requests by default (PendingAll=). */
#define EXECUTOR_SLOW_ALL 64
/* Of them, for the first call of a module. */
#define EXECUTOR_SLOW_FIRST 16

/*
 * Places of what a person may ask for without end, a receipt or whether they may pause an agent, and
 * how many of them one person may hold.
 */
#define EXECUTOR_LOOKS 4
#define EXECUTOR_LOOKS_EACH 1

/* For kinds that are quick, whoever caused them. */
#define EXECUTOR_NO_AGENT ((uid_t) -1)

/*
 * executor_call: of a kind that waits for no module.
 * @uid: on whose account it is: the person who looks or has signed an answer, or EXECUTOR_NO_AGENT.
 *   A place that becomes free goes to who holds the fewest, to the oldest call; of answers each
 *   person has one place, so that they arrive in the order in which they were sent.
 * @body: (transfer floating)
 * @fds: (array length=n_fds): kept open as long as needed
 * @reply_type: of the reply's body
 * @second_type: (nullable): of the body of a second reply, for which @callback is called again: not
 *   after an error, and with an error where it does not come
 */
void executor_call (Executor *executor,
                    HandoverKind kind,
                    uid_t uid,
                    GVariant *body,
                    const int *fds,
                    guint n_fds,
                    const char *reply_type,
                    const char *second_type,
                    ExecutorCallback callback,
                    gpointer data);

/*
 * executor_call_module: HANDOVER_PREPARE or HANDOVER_EXECUTE; the rest is as above.
 * @agent: whose request it is
 * @module: the one that it may wait for, "" where that is not known
 */
void executor_call_module (Executor *executor,
                           HandoverKind kind,
                           uid_t agent,
                           const char *module,
                           GVariant *body,
                           const int *fds,
                           guint n_fds,
                           const char *reply_type,
                           const char *second_type,
                           ExecutorCallback callback,
                           gpointer data);

/* executor_error_is_silence: the executor did not answer, so that nobody knows what it did. */
gboolean executor_error_is_silence (const GError *error);

G_END_DECLS
