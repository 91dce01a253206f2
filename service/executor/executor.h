/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The executor, as one worker holds it: where it is decided, checked and consumed.  Everything that
 * differs between the installed service and a test (folders, peers, names, times) is a parameter.
 */
#pragma once

#include "service/base/handover.h"
#include "service/executor/journal.h"
#include "service/ledger/ledger.h"
#include "service/policy/policy.h"

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct
{
  const char *state_dir;   /* of the ledger */
  const char *runtime_dir; /* of seal key, mark and locks */
  const char *runner_dir;  /* holds NAME.sock of each module */
  PolicySource policy;
  const char *attestation_dir; /* of the makers of hardware keys; its owner is the policy's */
  const PolicyNames *names;
  const char *host;       /* of records, and of the relying party of desktop-held keys */
  uid_t broker_uid;       /* may send the kinds of the broker */
  uid_t admin_uid;        /* may send the kinds of the administrator */
  guint timeout;          /* seconds for one hand-over; 0 where the caller minds the time */
  guint check_timeout;    /* seconds that a runner has to answer a check; a busier one passes */
  guint describe_timeout; /* and a module that looks facts up, */
  guint module_timeout;   /* and for one that executes */
  gboolean (*reload) (GError **error); /* asks the listener for a new policy image */
} ExecutorConfig;

typedef struct
{
  const ExecutorConfig *config;
  Ledger *ledger;
  int image_fd;   /* the sealed policy image, borrowed */
  Policy *policy; /* NULL where the policy is invalid: then only denials work */
  char *fault;    /* why: every fault, one a line; "" where the policy is valid */
} Executor;

/*
 * executor_new: opens the ledger and reads the policy image.  An invalid policy is a state, not an
 * error.
 * @image_fd: (not owned): as snapshot_make() made it
 */
Executor *executor_new (const ExecutorConfig *config, int image_fd, GError **error);
void executor_free (Executor *executor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Executor, executor_free)

/* executor_policy: NULL with US_ERROR_POLICY_INVALID, which tells no more than how many faults. */
const Policy *executor_policy (Executor *executor, GError **error);

/*
 * executor_holds: (type of Consumption.still_holds) whether the policy of @executor is in force still.
 * Whoever makes a new one waits for a worker that has noted it in the ledger, so that under the ledger's
 * lock this is exact: nothing is consumed by a policy once a reload has said that it is replaced.
 * Returns: FALSE with US_ERROR_UNAVAILABLE, reason policy-replaced
 */
gboolean executor_holds (gconstpointer executor, GError **error);

/* executor_serve: one hand-over of one connection, to its last reply. */
void executor_serve (Executor *executor, int sock);

/* What a handler gets to see of the connection. */
typedef struct
{
  Executor *executor;
  gboolean admin; /* whether the peer may send the kinds of the administrator */
  int sock;
  const int *fds; /* sealed memfds that came along, checked */
  guint n_fds;
  int reply_fd;     /* (out): a file for the reply, not owned; -1 for none */
  /* (out): for the journal, in this order, after the reply, whether or not that arrives */
  JournalNote used_up, note;
} Session;

/* A handler: @body is of the type in the table.  Returns: (transfer floating): the (last) reply. */
typedef GVariant *(*Handler) (Session *session, GVariant *body, GError **error);

GVariant *handle_prepare (Session *session, GVariant *body, GError **error);
GVariant *handle_answer (Session *session, GVariant *body, GError **error);
GVariant *handle_execute (Session *session, GVariant *body, GError **error);
GVariant *handle_close (Session *session, GVariant *body, GError **error);
GVariant *handle_query (Session *session, GVariant *body, GError **error);
GVariant *handle_policy (Session *session, GVariant *body, GError **error);
GVariant *handle_approver (Session *session, GVariant *body, GError **error);
GVariant *handle_may_pause (Session *session, GVariant *body, GError **error);
GVariant *handle_receipt (Session *session, GVariant *body, GError **error);
GVariant *handle_enrol (Session *session, GVariant *body, GError **error);
GVariant *handle_revoke (Session *session, GVariant *body, GError **error);
GVariant *handle_passkeys (Session *session, GVariant *body, GError **error);
GVariant *handle_halt (Session *session, GVariant *body, GError **error);
GVariant *handle_resume (Session *session, GVariant *body, GError **error);
GVariant *handle_resolve (Session *session, GVariant *body, GError **error);
GVariant *handle_audit (Session *session, GVariant *body, GError **error);
GVariant *handle_checkpoint (Session *session, GVariant *body, GError **error);
GVariant *handle_prune (Session *session, GVariant *body, GError **error);
GVariant *handle_reload (Session *session, GVariant *body, GError **error);
GVariant *handle_status (Session *session, GVariant *body, GError **error);

/* refusal_is_final: a check has found that this may not run, and not only that something is away. */
gboolean refusal_is_final (const GError *refusal);

/* denial_reason_check: one of the five words, or "". */
gboolean denial_reason_check (const char *reason, GError **error);

/* ledger_state_name: the word of QUERY. */
const char *ledger_state_name (LedgerState state);

/* session_extend: gives the worker time for a module's call, or for much that is pruned. */
void session_extend (Session *session);

G_END_DECLS
