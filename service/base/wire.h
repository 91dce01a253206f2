/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bodies of the hand-overs, as GVariant types.  What the broker says here is believed only as
 * far as undersign-executor(8) says; the executor checks every field of it.
 */
#pragma once

/* ERROR: s last part of the D-Bus name, s message with its reason. */
#define WIRE_ERROR "(ss)"

/*
 * A request as the agent made it:
 *   s request id, 32 lower-case hex digits
 *   u agent uid
 *   s part
 *   (ssss) run: id, label, initiator name and uid in decimal ("" "" where the agent opened it)
 *   s action id
 *   a(sv) arguments as sent, in the order sent; handles index the files of the packet
 *   s claim, "" for none
 *   (ss) request id and record digest that this one supersedes, "" "" for none
 */
#define WIRE_REQUEST "(sus(ssss)sa(sv)s(ss))"

/* What the module said: name and value of each fact. */
#define WIRE_FACTS "a(ss)"

/* One credential: id, kind, relying party, origin, label. */
#define WIRE_CREDENTIAL "(ayssss)"

/* One person who could satisfy a requirement: name, uid, credentials. */
#define WIRE_APPROVER "(sua" WIRE_CREDENTIAL ")"

/* One requirement: rule, persons needed, who could. */
#define WIRE_REQUIREMENT "(sua" WIRE_APPROVER ")"

/*
 * What prepare gave, handed back whole:
 *   request, facts, ay record bytes, t deadline (CLOCK_BOOTTIME, microseconds), ay seal
 */
#define WIRE_PREPARED "(" WIRE_REQUEST WIRE_FACTS "aytay)"

/* PREPARE: a request, the files in the packet.  Reply: s "ask" or "allow", facts, record, deadline,
 * seal, s expires (RFC 3339, for display), requirements. */
#define WIRE_PREPARE WIRE_REQUEST
#define WIRE_PREPARE_REPLY "(s" WIRE_FACTS "aytaysa" WIRE_REQUIREMENT ")"

/* ANSWER: prepared, s decision, ay statement, ay credential id, s nonce, s issued, s expires, ay
 * clientDataJSON, ay authenticatorData, ay signature, s reason of a denial, else "" (the broker's word:
 * it is not signed).
 * Reply: s "pending", "approved" or "denied"; u answers that count, u answers needed. */
#define WIRE_ANSWER "(" WIRE_PREPARED "sayaysssayayays)"
#define WIRE_ANSWER_REPLY "(suu)"

/* EXECUTE: prepared.  First reply: s "consumed", when the approval is used up; second reply: s
 * "done", "failed" or "unknown", s result text. */
#define WIRE_EXECUTE "(" WIRE_PREPARED ")"
#define WIRE_EXECUTE_CONSUMED "(s)"
#define WIRE_EXECUTE_OUTCOME "(ss)"

/* CLOSE: s request id, ay record bytes, s why ("denied", "withdrawn", "expired", "superseded",
 * "unreachable"), s by (user name or ""), s reason. */
#define WIRE_CLOSE "(saysss)"
#define WIRE_EMPTY "()"

/* QUERY: request id.  Reply: s state ("none", "closed", "executing", "done", "failed", "unknown"),
 * s why, s by, s reason, s result. */
#define WIRE_QUERY "(s)"
#define WIRE_QUERY_REPLY "(sssss)"
/* Of an outcome in place of "by": it is what a person found out, and so is the result. */
#define WIRE_QUERY_RESOLVED "resolve"

/* POLICY: nothing.  Reply: s fault, and no file; or "", and the policy's image as the one file. */
#define WIRE_POLICY_REPLY "(s)"

/* APPROVER: uid.  Reply: the active credentials of that uid. */
#define WIRE_APPROVER_QUERY "(u)"
#define WIRE_APPROVER_REPLY "(a" WIRE_CREDENTIAL ")"

/* MAY_PAUSE: uid, s name of an agent.  Reply: whether that person may pause it. */
#define WIRE_MAY_PAUSE "(us)"
#define WIRE_MAY_PAUSE_REPLY "(b)"

/* RECEIPT: s request id, ay record bytes, for where the ledger kept the digest alone, or none.
 * Reply: ay undersign.receipt/1. */
#define WIRE_RECEIPT "(say)"
#define WIRE_RECEIPT_REPLY "(ay)"

/* --- from uid 0 --- */

/* ENROL: s name, u uid, s kind, s label, s rp, s origin, ay challenge, ay clientDataJSON, ay
 * attestationObject, u by.  Reply: ay credential id. */
#define WIRE_ENROL "(sussssayayayu)"
#define WIRE_ENROL_REPLY "(ay)"
/* REVOKE: ay credential id, u by. */
#define WIRE_REVOKE "(ayu)"
/* PASSKEYS: nothing.  Reply: ay credential id, s name, u uid, s kind, s label, s rp, x enrolled (wall
 * seconds), b active, s id of the public key. */
#define WIRE_PASSKEYS_REPLY "(a(aysusssxbs))"
/* HALT, RESUME: u by, s why. */
#define WIRE_HALT "(us)"
/* RESOLVE: s request id, s outcome ("done" or "failed"), s note, u by. */
#define WIRE_RESOLVE "(sssu)"
/* AUDIT: t first sequence number, u count.  Reply: t sequence number, ay entry, ay hash. */
#define WIRE_AUDIT "(tu)"
#define WIRE_AUDIT_REPLY "(a(tayay))"
/* CHECKPOINT: nothing.  Reply: ay undersign.signed/1 over a checkpoint. */
#define WIRE_CHECKPOINT_REPLY "(ay)"
/* PRUNE: x entries before this time (wall seconds), u by.  Reply: t entries removed, b whether
 * another call would remove more. */
#define WIRE_PRUNE "(xu)"
#define WIRE_PRUNE_REPLY "(tb)"
/* RELOAD: nothing.  Reply: as POLICY, without a file. */
/* STATUS: nothing.  Reply: "running" b, "halted" s reason, "policy" s fault, "actions" u, "agents" u,
 * "rules" u, "passkeys" u, "requests" t, "audit" t sequence number, "head" s hash. */
#define WIRE_STATUS_REPLY "(a{sv})"

/* --- to a runner --- */

/*
 * MODULE_DESCRIBE, MODULE_EXECUTE:
 *   s request id, s action id
 *   a(ssv) arguments: name, type, value as s, b, as or a(sh) (a `file` too); handles index the files
 *   a(sss) settings: name, type, value
 *   s name of the credential, "" for none
 *   a(ss) facts that the action declares: name, type
 * An error instead of the reply says that the module was not called.
 */
#define WIRE_MODULE_CALL "(ssa(ssv)a(sss)sa(ss))"
/* Reply: s "done", "failed" or "unknown", facts, s result text. */
#define WIRE_MODULE_REPLY "(s" WIRE_FACTS "s)"

/* What a runner says at once, unasked, on its second socket: as the names of the credentials that it
 * has.  An error where the module cannot be called. */
#define WIRE_MODULE_STATE "(as)"
