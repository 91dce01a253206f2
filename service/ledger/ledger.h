/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ledger: one SQLite file that only the executor opens.  It holds passkeys, answers, consumed
 * and closed requests, and the audit chain; each change and its audit entry are one durable
 * transaction.  Beside it, in the runtime directory, live the boot's seal key and mark: a ledger
 * older than the mark is a restored one, and nothing runs on it.
 *
 * Every function fails with US_ERROR_UNAVAILABLE and reason ledger where the file cannot be read or
 * written; then nothing of the change was kept.
 */
#pragma once

#include "service/base/chain.h"
#include "service/base/signer.h"
#include "service/passkey/passkey.h"
#include "service/policy/policy.h"
#include "service/record/record.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct Ledger Ledger;

/*
 * What writes is one transaction, and TRUE says that it is on the disk.  An error says that it had
 * no effect, but for one case: where the sync of the commit fails, what was written may still turn up
 * when the file is opened next (a consumption as unknown, an enrolment as one).  So after an error of
 * the disk the ledger is asked, not assumed.  And two functions say what else they leave behind:
 * ledger_consume() and ledger_resume().
 */

/*
 * ledger_open:
 * @state_dir: holds ledger.db; created there on first use
 * @runtime_dir: holds seal.key, mark and the locks of requests that are executing
 *
 * Checks or, once a boot, makes seal key and mark.  A ledger that is behind opens all the same, so
 * that it can be looked at and resumed; ledger_check_running() then refuses.
 */
Ledger *ledger_open (const char *state_dir, const char *runtime_dir, GError **error);
/*
 * ledger_leave_log: ledger_close() then leaves what is committed in SQLite's log, where it is as durable,
 * unless that has grown long.  Else the last of all processes to close writes it back to the file, two
 * syncs and what they hold up.
 */
void ledger_leave_log (Ledger *ledger);
/*
 * ledger_warm: has SQLite compile what an answer or an execution will run.  It is for a process that
 * waits; nothing is learnt or decided by it.
 */
void ledger_warm (Ledger *ledger);
void ledger_close (Ledger *ledger);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Ledger, ledger_close)

/* ledger_check_running: FALSE with US_ERROR_HALTED: reason halted, ledger-behind or mark. */
gboolean ledger_check_running (Ledger *ledger, GError **error);

typedef struct
{
  char *stopped;  /* why nothing runs: "reason: text"; "" where it does */
  guint passkeys; /* active ones */
  guint64 requests;
  guint64 seq; /* of the last audit entry */
  guint8 head[PAE_DIGEST_SIZE];
} LedgerSummary;

void ledger_summary_clear (LedgerSummary *summary);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LedgerSummary, ledger_summary_clear)

gboolean ledger_summary (Ledger *ledger, LedgerSummary *out_summary, GError **error);

/* --- the seal --- */

/*
 * ledger_seal: HMAC (this boot's key, PAE (seal type, request id, record digest, deadline)).
 * Returns: FALSE with US_ERROR_HALTED, reason mark, where this boot's key is missing.
 */
gboolean ledger_seal (Ledger *ledger,
                      const char *request,
                      const guint8 digest[PAE_DIGEST_SIZE],
                      guint64 deadline,
                      guint8 out_seal[PAE_DIGEST_SIZE],
                      GError **error);

/* --- passkeys --- */

/* ledger_add_passkey: reason credential-exists where the id is known, to anyone, even if revoked;
 * ledger-behind or mark. */
gboolean ledger_add_passkey (Ledger *ledger, const Passkey *passkey, uid_t by, GError **error);
gboolean ledger_revoke_passkey (Ledger *ledger, GBytes *credential, uid_t by, GError **error);
/* ledger_passkey: NULL with reason credential-unknown; revoked ones are returned with active FALSE.
 */
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
  guint64 waited; /* seconds since it was asked for; for the audit log */
  /* (nullable): asked under the lock, before the counter is looked at, whether its sender waits still */
  gboolean (*is_awaited) (gconstpointer data, GError **error);
  gconstpointer data;
} Answer;

void answer_free (Answer *answer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Answer, answer_free)

/*
 * ledger_add_answer: stores an approval and the new counter in one transaction, in which it looks
 * again: nothing is halted, the request has no row yet, the passkey is active, the counter rule
 * holds.  A counter that does not grow marks the passkey suspect, which is kept although the answer
 * is refused.  The same statement once more changes nothing and succeeds.
 * Returns: FALSE with reason closed, already-consumed, credential-revoked, counter, halted or
 * ledger, or with what is_awaited says.
 */
gboolean ledger_add_answer (Ledger *ledger, const Answer *answer, GError **error);

/* ledger_answers: (element-type Answer): the approvals of a request and record digest, in the order
 * in which they came. */
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

gboolean
ledger_query (Ledger *ledger, const char *request, LedgerStatus *out_status, GError **error);

/* ledger_was_resolved: whether the outcome of @request, and its result, are a person's word. */
gboolean
ledger_was_resolved (Ledger *ledger, const char *request, gboolean *out_resolved, GError **error);

/* ledger_check_open: FALSE with US_ERROR_WRONG_STATE, reason closed or already-consumed, where the
 * request has a row. */
gboolean ledger_check_open (Ledger *ledger, const char *request, GError **error);

/*
 * ledger_check_superseded: whether @request, of which @digest is the record's digest, may still be
 * superseded: it has no row, or was closed with that record.
 */
gboolean ledger_check_superseded (Ledger *ledger,
                                  const char *request,
                                  const guint8 digest[PAE_DIGEST_SIZE],
                                  GError **error);

/* ledger_check_intent: FALSE with US_ERROR_REFUSED, reason intent-unknown, while another request of
 * the same intent is executing or unknown. */
gboolean ledger_check_intent (Ledger *ledger,
                              const guint8 intent[PAE_DIGEST_SIZE],
                              const char *request,
                              GError **error);

/*
 * ledger_check_limits: (element-type PolicyLimit): counts what was consumed, whatever became of it.
 * Returns: FALSE with US_ERROR_LIMIT_EXCEEDED, reason limit.
 */
gboolean
ledger_check_limits (Ledger *ledger, const Record *record, GPtrArray *limits, GError **error);

typedef struct
{
  const char *request;
  const Record *record;
  GPtrArray *answers;     /* (element-type Answer): verified by the caller; empty for allow */
  GPtrArray *limits;      /* (element-type PolicyLimit) */
  guint64 deadline;       /* CLOCK_BOOTTIME, as sealed */
  const char *supersedes; /* (nullable): a request id */
  const guint8 *supersedes_digest; /* of its record, together with the id */
  /* (nullable): asked under the lock whether what the caller decided by still holds */
  gboolean (*still_holds) (gconstpointer data, GError **error);
  gconstpointer data;
} Consumption;

/*
 * ledger_consume: the one durable transaction that uses an approval up.  Under the ledger's write
 * lock it looks at everything that another worker may have changed (halt, seal key, request row,
 * superseded request, intent, limits, answers and their passkeys, deadline), INSERTs the request id
 * with record (of what only reads and nobody was asked about, its digest) and intent, closes the
 * superseded one, adds the audit entry and moves the mark; and takes the request's lock in the
 * runtime directory, which ends with this process or with ledger_finish().
 *
 * Returns: TRUE only if the row is durable and the mark is written: only then may the module be
 *   called.  Where the row is durable and the mark is not, the outcome is recorded as failed.
 */
gboolean ledger_consume (Ledger *ledger, const Consumption *consumption, GError **error);

/* ledger_finish: the outcome "done", "failed" or "unknown" of a consumed request, once. */
gboolean ledger_finish (
    Ledger *ledger, const char *request, const char *outcome, const char *result, GError **error);

typedef struct
{
  const char *request;
  GBytes *record;       /* bytes, not read; of a denial they are kept, of other ends the digest */
  const char *why;      /* "denied", "withdrawn", "expired", "superseded" or "unreachable" */
  const char *by;       /* user name, "" if not known */
  const char *reason;   /* of a denial, else "" */
  const Answer *denial; /* (nullable): signed, and verified by the caller */
} Closing;

/*
 * ledger_close_request: INSERTs the same primary key: first row wins.  Works while halted.
 * Returns: FALSE with reason closed, already-consumed, counter (of a signed denial) or ledger.
 */
gboolean ledger_close_request (Ledger *ledger, const Closing *closing, GError **error);

/* ledger_resolve: a person's word on an unknown outcome: "done" or "failed".  FALSE with reason
 * not-found, wrong-state, ledger-behind or mark. */
gboolean ledger_resolve (Ledger *ledger,
                         const char *request,
                         const char *outcome,
                         const char *note,
                         uid_t by,
                         GError **error);

/* --- evidence --- */

/*
 * ledger_note_refusal: an audit entry that a check at the execution, or at an approval, has failed of
 * a request that a person had approved; one a request.  It ends nothing: that is the broker's to do,
 * and a broker that says something else later is refused or not by what is then.
 * @out_new: FALSE where it was noted before
 */
gboolean ledger_note_refusal (Ledger *ledger,
                              const char *request,
                              const guint8 digest[PAE_DIGEST_SIZE],
                              const char *reason,
                              gboolean *out_new,
                              GError **error);

typedef struct
{
  Answer *answer;
  Passkey *passkey; /* as it is enrolled now */
  gboolean approves, used;
} EvidenceAnswer;

/* What there is of a request, all read at one moment. */
typedef struct
{
  LedgerStatus status;
  GBytes *record;     /* empty where it was not kept */
  gboolean has_digest;
  guint8 digest[PAE_DIGEST_SIZE];
  char *successor;    /* "" for none */
  GPtrArray *answers; /* (element-type EvidenceAnswer): those on this digest */
  GPtrArray *entries; /* (element-type AuditEntry): those of this request */
  char *refused;      /* (nullable): without a row: the reason of a refusal at the execution */
  guint64 seq;        /* of the last entry of the log */
  guint8 head[PAE_DIGEST_SIZE];
} Evidence;

void evidence_free (Evidence *evidence);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Evidence, evidence_free)

/*
 * ledger_evidence:
 * @digest: (nullable): of the record, for a request without a row
 * Returns: NULL with US_ERROR_NOT_FOUND, reason pruned, where some of it is gone.
 */
Evidence *ledger_evidence (Ledger *ledger,
                           const char *request,
                           const guint8 *digest,
                           GError **error);

gboolean ledger_halt (Ledger *ledger, uid_t by, const char *why, GError **error);
/* ledger_resume: ends a halt; after ledger-behind or mark it also makes a new seal key, so that
 * every approval not yet used is void, and a new mark.  Where that mark cannot be written a person's
 * halt is over all the same, and the missing mark still stops everything. */
gboolean ledger_resume (Ledger *ledger, uid_t by, const char *why, GError **error);

/* ledger_note_policy: an audit entry where this is not the image that was noted last. */
gboolean ledger_note_policy (Ledger *ledger,
                             const guint8 image[PAE_DIGEST_SIZE],
                             gboolean valid,
                             GError **error);

/* ledger_note_key: an audit entry where this is not the host key that was noted last. */
gboolean ledger_note_key (Ledger *ledger, const Signer *signer, GError **error);

/* --- the audit chain --- */

typedef struct
{
  guint64 seq;
  GBytes *entry; /* canonical JSON; its member "previous" is the hash before */
  guint8 hash[PAE_DIGEST_SIZE];
} AuditEntry;

void audit_entry_free (AuditEntry *entry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AuditEntry, audit_entry_free)

/* ledger_audit: (element-type AuditEntry): up to @count from @seq on. */
GPtrArray *ledger_audit (Ledger *ledger, guint64 seq, guint count, GError **error);
/* ledger_audit_verify: walks the chain in constant memory; the error, reason chain, names the first
 * bad entry. */
gboolean
ledger_audit_verify (Ledger *ledger, guint64 *out_count, guint8 out_head[32], GError **error);

/* ledger_id: borrowed: random, made with the ledger. */
const char *ledger_id (const Ledger *ledger);
/* ledger_head: number and hash of the last entry. */
gboolean
ledger_head (Ledger *ledger, guint64 *out_seq, guint8 out_head[PAE_DIGEST_SIZE], GError **error);

#define LEDGER_PRUNE_MAX 2000 /* entries of one call, which others wait for */

/*
 * ledger_prune: takes away the oldest audit entries that are older than @before (wall seconds), and
 * of each request that ended before, record, result and answers.  The last entry stays, as does
 * whatever is younger than an entry that stays; and the row of each request, which is what makes it
 * impossible to use its id again.  An entry tells up to where it was pruned.
 * @out_more: another call would take more away
 * Returns: FALSE with reason ledger-behind, mark or ledger.
 */
gboolean ledger_prune (Ledger *ledger,
                       gint64 before,
                       uid_t by,
                       guint64 *out_removed,
                       gboolean *out_more,
                       GError **error);

G_END_DECLS
