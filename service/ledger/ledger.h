/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ledger: one SQLite file that only the executor opens.  It holds passkeys, answers, consumed
 * and closed requests, and the audit chain; each change and its audit entry are one durable
 * transaction.  Beside it, in the runtime directory, live the boot's seal key and mark: a ledger
 * older than the mark is a restored one, and nothing runs on it.
 */
#pragma once

#include "service/passkey/passkey.h"
#include "service/policy/policy.h"
#include "service/record/record.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct Ledger Ledger;

/*
 * ledger_open:
 * @state_dir: holds ledger.db; created there on first use
 * @runtime_dir: holds seal.key, mark and the locks of requests that are executing
 *
 * Checks or, once a boot, makes seal key and mark.  A ledger that is behind opens all the same, so
 * that it can be looked at and resumed; ledger_check_running() then refuses.
 */
Ledger *ledger_open (const char *state_dir, const char *runtime_dir, GError **error);
void ledger_close (Ledger *ledger);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Ledger, ledger_close)

/* ledger_check_running: FALSE with US_ERROR_HALTED: reason halted, ledger-behind or mark. */
gboolean ledger_check_running (Ledger *ledger, GError **error);

/* --- the seal --- */

/* ledger_seal: HMAC (this boot's key, PAE (seal type, request id, record digest, deadline)). */
void ledger_seal (Ledger *ledger,
                  const char *request,
                  const guint8 digest[PAE_DIGEST_SIZE],
                  guint64 deadline,
                  guint8 out_seal[PAE_DIGEST_SIZE]);

/* --- passkeys --- */

gboolean ledger_add_passkey (Ledger *ledger, const Passkey *passkey, GError **error);
gboolean ledger_revoke_passkey (Ledger *ledger, GBytes *credential, uid_t by, GError **error);
/* ledger_passkey: NULL with reason credential-unknown; revoked ones are returned with active FALSE. */
Passkey *ledger_passkey (Ledger *ledger, GBytes *credential, GError **error);
/* ledger_passkeys: (element-type Passkey): all, oldest first; revoked ones too. */
GPtrArray *ledger_passkeys (Ledger *ledger, GError **error);

/* --- answers --- */

typedef struct
{
  char *request;
  guint8 digest[PAE_DIGEST_SIZE]; /* of the record */
  char *name;
  uid_t uid;
  GBytes *credential;
  GBytes *statement;
  char *nonce, *issued, *expires; /* of the statement, for rebuilding it */
  Assertion assertion;
  guint32 counter;
} Answer;

void answer_free (Answer *answer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Answer, answer_free)

/*
 * ledger_add_answer: stores an answer and the new counter in one transaction, in which it looks
 * again: the request has no row yet, the passkey is active, the counter rule holds.  A counter that
 * does not grow marks the passkey suspect, which is kept although the answer is refused.
 * Returns: FALSE with reason closed, already-consumed, credential-revoked, counter or ledger.
 */
gboolean ledger_add_answer (Ledger *ledger, const Answer *answer, GError **error);

/* ledger_answers: (element-type Answer): those of a request and record digest. */
GPtrArray *ledger_answers (Ledger *ledger,
                           const char *request,
                           const guint8 digest[PAE_DIGEST_SIZE],
                           GError **error);

/* --- the life of a request --- */

typedef enum
{
  LEDGER_NONE,      /* no row */
  LEDGER_CLOSED,    /* denied, withdrawn, expired, superseded or unreachable: see why */
  LEDGER_EXECUTING, /* consumed, no outcome, its worker lives */
  LEDGER_DONE,
  LEDGER_FAILED,
  LEDGER_UNKNOWN, /* consumed, no outcome and no worker, or the module said so */
} LedgerState;

typedef struct
{
  LedgerState state;
  char *why;    /* of a closed one: "denied", "withdrawn", …; else "" */
  char *by;     /* who closed it, "" if not known */
  char *reason; /* of a denial: "wrong-target", …; else "" */
  char *result; /* of the module, or of `resolve` */
} LedgerStatus;

void ledger_status_clear (LedgerStatus *status);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LedgerStatus, ledger_status_clear)

gboolean ledger_query (Ledger *ledger, const char *request, LedgerStatus *out_status, GError **error);

/* ledger_intent_unknown: whether a request of the same intent is unknown or executing: TRUE also
 * on any error. */
gboolean ledger_intent_blocked (Ledger *ledger, const guint8 intent[PAE_DIGEST_SIZE]);

/* ledger_limits_allow: counts done, failed, executing and unknown; FALSE with reason limit. */
gboolean ledger_limits_allow (Ledger *ledger, const Record *record, GPtrArray *limits, GError **error);

/*
 * ledger_consume: the one durable transaction that uses an approval up.  Under the ledger's write
 * lock it looks at everything that another worker may have changed (request row, halt, intent,
 * limits, passkeys of the answers), INSERTs the request id with record, answers and intent, adds
 * the audit entry and moves the mark; and takes the request's lock in the runtime directory, which
 * ends with this process.
 * @answers: (element-type Answer): verified by the caller; empty for allow
 *
 * Returns: TRUE only if the row is durable and the mark is written.
 */
gboolean ledger_consume (Ledger *ledger,
                         const char *request,
                         const Record *record,
                         GPtrArray *answers,
                         GPtrArray *limits,
                         GError **error);

/* ledger_finish: the outcome "done", "failed" or "unknown" of a consumed request, once. */
gboolean ledger_finish (Ledger *ledger,
                        const char *request,
                        const char *outcome,
                        const char *result,
                        GError **error);

/* ledger_close_request: INSERTs the same primary key: first row wins. */
gboolean ledger_close_request (Ledger *ledger,
                               const char *request,
                               GBytes *record, /* bytes, kept as evidence, not read */
                               const char *why,
                               const char *by,
                               const char *reason,
                               const Answer *signed_denial, /* (nullable) */
                               GError **error);

/* ledger_resolve: a person's word on an unknown outcome: "done" or "failed". */
gboolean ledger_resolve (Ledger *ledger,
                         const char *request,
                         const char *outcome,
                         const char *note,
                         uid_t by,
                         GError **error);

gboolean ledger_halt (Ledger *ledger, uid_t by, const char *why, GError **error);
/* ledger_resume: ends a halt; after ledger-behind or mark it also makes a new seal key, so that
 * every approval not yet used is void, and a new mark. */
gboolean ledger_resume (Ledger *ledger, uid_t by, const char *why, GError **error);

/* --- the audit chain --- */

typedef struct
{
  guint64 seq;
  GBytes *entry; /* canonical JSON; its member "previous" is the hash before */
  guint8 hash[PAE_DIGEST_SIZE];
} AuditEntry;

/* ledger_audit: (element-type AuditEntry): up to @count from @seq on. */
GPtrArray *ledger_audit (Ledger *ledger, guint64 seq, guint count, GError **error);
/* ledger_audit_add: an entry for what changes nothing else, e.g. a refusal worth keeping. */
gboolean ledger_audit_add (Ledger *ledger, JsonTree *event, GError **error);
/* ledger_audit_verify: walks the chain in constant memory; the error names the first bad entry. */
gboolean ledger_audit_verify (Ledger *ledger, guint64 *out_count, guint8 out_head[32], GError **error);

G_END_DECLS
