/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The words that say why something was refused.  They are interface: agents, tests and the audit
 * log compare them, so a word never changes its meaning and is never reused.  Each stands before
 * the colon of an error message; the line beside it says what was found.
 */
#pragma once

/* The caller and the place. */
#define US_REASON_NOT_AGENT "not-agent"             /* no agent file names this uid */
#define US_REASON_NOT_APPROVER "not-approver"       /* this uid may not answer this request */
#define US_REASON_NOT_FOUND "not-found"             /* no such object, or not this caller's */
#define US_REASON_WRONG_STATE "wrong-state"         /* the request is not in a state for this call */
#define US_REASON_TOO_LATE "too-late"               /* after the hand-over, or after a later call */
#define US_REASON_UNREACHABLE "unreachable"         /* a part of the service did not answer */
#define US_REASON_BAD_PEER "bad-peer"               /* the peer's uid may not use this socket */
#define US_REASON_BAD_MESSAGE "bad-message"         /* a hand-over or a header is not of its form */
#define US_REASON_INTERNAL "internal"               /* an operation of the system failed */
#define US_REASON_UNTRUSTED_FILE "untrusted-file"   /* of another owner, or others may write it */
#define US_REASON_BAD_MODULE "bad-module"           /* no module, or of another version of the ABI */

/* Arguments and files. */
#define US_REASON_UNKNOWN_ACTION "unknown-action"   /* no such action for this agent */
#define US_REASON_UNKNOWN_ARGUMENT "unknown-argument"
#define US_REASON_DUPLICATE_ARGUMENT "duplicate-argument"
#define US_REASON_MISSING_ARGUMENT "missing-argument"
#define US_REASON_WRONG_TYPE "wrong-type"           /* the D-Bus type is not the argument's */
#define US_REASON_NOT_CANONICAL "not-canonical"     /* another spelling is the canonical one */
#define US_REASON_BAD_VALUE "bad-value"             /* outside the type or its constraints */
#define US_REASON_CONSTANT_ARGUMENT "constant-argument"
#define US_REASON_UNKNOWN_OPTION "unknown-option"
#define US_REASON_NOT_SEALED "not-sealed"           /* the file is not a fully sealed memfd */
#define US_REASON_BAD_HANDLE "bad-handle"           /* a handle index out of range or used twice */
#define US_REASON_TOO_LARGE "too-large"             /* a size limit, named in the text */

/* The record and the statement. */
#define US_REASON_BAD_JSON "bad-json"
#define US_REASON_BAD_RECORD "bad-record"
#define US_REASON_BAD_STATEMENT "bad-statement"
#define US_REASON_RECORD_CHANGED "record-changed"   /* rebuilt, it is not the approved record */
#define US_REASON_BAD_SEAL "bad-seal"               /* not sealed by this executor in this boot */
#define US_REASON_DEADLINE_PASSED "deadline-passed"
#define US_REASON_STATEMENT_CHANGED "statement-changed"

/* Policy. */
#define US_REASON_POLICY_INVALID "policy-invalid"
#define US_REASON_POLICY_REPLACED "policy-replaced" /* by a reload, while it was decided by it */
#define US_REASON_UNKNOWN_PART "unknown-part"       /* no such part in the agent's file */
#define US_REASON_NO_RULE "no-rule"                 /* nothing matches: a denial */
#define US_REASON_DENIED_BY_RULE "denied-by-rule"
#define US_REASON_LIMIT "limit"                     /* a limit of a rule or of the service */
#define US_REASON_NO_APPROVER "no-approver"         /* nobody enrolled could approve */
#define US_REASON_NO_INITIATOR "no-initiator"       /* separation from an initiator not known */
#define US_REASON_PAUSED "paused"
#define US_REASON_HALTED "halted"
#define US_REASON_INTENT_UNKNOWN "intent-unknown"   /* the same intent has an unknown outcome */
#define US_REASON_NO_CREDENTIAL "no-credential"     /* the module does not have it */
#define US_REASON_FACTS "facts"                     /* the module's facts are not the declared ones */
#define US_REASON_FACT_CHANGED "fact-changed"       /* a fact is no longer what was shown */
#define US_REASON_KEY_REUSED "key-reused"           /* a key of another intent, or of one forgotten */

/* Approval. */
#define US_REASON_NOT_ELIGIBLE "not-eligible"       /* this person may not approve this record */
#define US_REASON_NOT_APPROVED "not-approved"       /* fewer valid answers than the rules ask */
#define US_REASON_CREDENTIAL_UNKNOWN "credential-unknown"
#define US_REASON_CREDENTIAL_REVOKED "credential-revoked"
#define US_REASON_CREDENTIAL_KIND "credential-kind" /* of a kind the rule does not accept */
#define US_REASON_CREDENTIAL_EXISTS "credential-exists"
#define US_REASON_IDENTITY "identity"               /* name and uid no longer are each other's */
#define US_REASON_AGENT_UID "agent-uid"             /* the approver's uid is an agent's or ours */
#define US_REASON_ALREADY_CONSUMED "already-consumed"
#define US_REASON_CLOSED "closed"                   /* denied, withdrawn, expired or superseded */
#define US_REASON_ATTEMPTS "attempts"               /* too many wrong assertions */

/* The assertion (WebAuthn Level 3, section 7.2; the order is that of the checks). */
#define US_REASON_ASSERTION_SIZE "assertion-size"
#define US_REASON_CLIENT_DATA "client-data"         /* not strict JSON, or a duplicate key */
#define US_REASON_CLIENT_TYPE "client-type"
#define US_REASON_CHALLENGE "challenge"
#define US_REASON_ORIGIN "origin"
#define US_REASON_CROSS_ORIGIN "cross-origin"
#define US_REASON_TOP_ORIGIN "top-origin"
#define US_REASON_AUTH_DATA_SIZE "auth-data-size"
#define US_REASON_RP_ID "rp-id"
#define US_REASON_USER_PRESENCE "user-presence"
#define US_REASON_USER_VERIFICATION "user-verification"
#define US_REASON_FLAGS "flags"                     /* AT, ED or a reserved bit is set */
#define US_REASON_BACKUP_FLAGS "backup-flags"       /* BS without BE, or BE not as enrolled */
#define US_REASON_ATTESTATION "attestation"         /* a registration is not of the strict form */
#define US_REASON_ATTESTATION_CHAIN "attestation-chain" /* no chain to a maker that root trusts */
#define US_REASON_ALGORITHM "algorithm"
#define US_REASON_PUBLIC_KEY "public-key"
#define US_REASON_SIGNATURE "signature"
#define US_REASON_COUNTER "counter"

/* The ledger. */
#define US_REASON_LEDGER "ledger"                   /* cannot be read or written */
#define US_REASON_LEDGER_BEHIND "ledger-behind"     /* older than this boot's mark */
#define US_REASON_MARK "mark"                       /* this boot's mark is absent or unwritable */

/* Evidence. */
#define US_REASON_CHAIN "chain"                     /* an audit log does not hold together */
#define US_REASON_CHECKPOINT "checkpoint"           /* the log is not the one of the checkpoint */
#define US_REASON_BAD_SIGNED "bad-signed"           /* a checkpoint or outcome of another form */
#define US_REASON_BAD_KEY "bad-key"                 /* a public key of another form */
#define US_REASON_OTHER_KEY "other-key"             /* signed, but not by a key that was given */
#define US_REASON_BAD_RECEIPT "bad-receipt"
#define US_REASON_BAD_OUTCOME "bad-outcome"         /* the entries do not tell of this outcome */
#define US_REASON_PRUNED "pruned"                   /* the evidence of it was pruned */

/* A command as an agent. */
#define US_REASON_BAD_SHARE "bad-share"             /* a folder that is not given to an agent */
#define US_REASON_NO_IDMAP "no-idmap"               /* its file system cannot map its owner */

/* A person's side. */
#define US_REASON_NO_TERMINAL "no-terminal"         /* a card needs one, and a person at it */
#define US_REASON_NO_ANSWER "no-answer"             /* the person gave none */
#define US_REASON_PASSPHRASE "passphrase"           /* too short, or it does not open the key */
#define US_REASON_KEY_STORE "key-store"             /* cannot be read or written, or is damaged */

/* A person's security key. */
#define US_REASON_KEY_ABSENT "key-absent"           /* none is plugged in that could be used here */
#define US_REASON_KEY_SEVERAL "key-several"         /* more than one, and none is named */
#define US_REASON_KEY_UNFIT "key-unfit"             /* it cannot verify its person, or no FIDO2 */
#define US_REASON_KEY_UNVERIFIED "key-unverified"   /* it was not its person */
#define US_REASON_KEY_BLOCKED "key-blocked"         /* after too many wrong PINs */
#define US_REASON_KEY_TIMEOUT "key-timeout"         /* nobody touched it in time */
#define US_REASON_KEY_FAILED "key-failed"           /* the device does not answer */
