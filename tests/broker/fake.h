/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An executor that does as it is told: it speaks the hand-overs of wire.h on a socket, prepares real
 * records from a policy set, and keeps a ledger in memory.  An assertion is right if its signature
 * is the word "good"; "late" is one for a record that the policy of now would make another, "void" one for
 * a record whose seal is no longer of the executor's key.
 */
#pragma once

#include "service/base/handover.h"
#include "tests/policy/set.h"

#include <glib.h>

G_BEGIN_DECLS

#define FAKE_AGENT ((uid_t) 2001)
#define FAKE_OTHER_AGENT ((uid_t) 2002)
#define FAKE_JONES ((uid_t) 3001) /* owner of FAKE_AGENT */
#define FAKE_KIM ((uid_t) 3002)   /* its initiator */
#define FAKE_LEAD ((uid_t) 3003)
#define FAKE_ALICE ((uid_t) 3004) /* owner of FAKE_OTHER_AGENT */

typedef struct Fake Fake;

Fake *fake_new (const char *path);
void fake_free (Fake *fake);

/* --- how it behaves; each may be changed at any time --- */

/* fake_decide: "ask" (at first) or "allow" */
void fake_decide (Fake *fake, const char *decision);
/* fake_refuse: every prepare is refused so; @reason NULL: no longer */
void fake_refuse (Fake *fake, int code, const char *reason);
/* fake_hold: no prepare is answered until fake_release() is called */
void fake_hold (Fake *fake);
/* fake_hold_kind: no call of this kind is handled until another kind is held, or none (0). */
void fake_hold_kind (Fake *fake, int kind);
/* fake_held: how many are. */
guint fake_held (Fake *fake);
/* fake_away: connections are closed unheard */
void fake_away (Fake *fake, gboolean away);
/* fake_fault: the policy is invalid; NULL: valid again */
void fake_fault (Fake *fake, const char *fault);
/* fake_policy: changes a file of the set, or takes it away */
void fake_policy (Fake *fake, const char *name, const char *text);
/* fake_lease: whether the image of its policy, now and after each change, is leased; at first not */
void fake_lease (Fake *fake, gboolean leased);
/* fake_lifetime: of what is prepared from now on, in milliseconds; at first a minute */
void fake_lifetime (Fake *fake, guint milliseconds);
/* fake_need: so many persons; at first 1 */
void fake_need (Fake *fake, guint count);
/* fake_passkey: whether this person's passkey is active; JONES, LEAD and ALICE have one */
void fake_passkey (Fake *fake, uid_t uid, gboolean active);

/*
 * fake_execute: what an execution comes to:
 *   "done", "failed", "unknown"
 *   "garbage"   an outcome that is no word
 *   "refuse"    a check fails: fact-changed
 *   "denied"    another person's signed denial came first: the ledger has it closed
 *   "silent"    the connection is closed and nothing was consumed
 *   "lost"      consumed and done, and the connection is closed without a word
 *   "cut"       consumed is said; then done, and the connection is closed
 *   "dies"      consumed is said, and the worker dies: unknown
 *   "hold"      consumed is said; done once fake_release() was called
 */
void fake_execute (Fake *fake, const char *how);
void fake_release (Fake *fake);

/* fake_row: what the ledger says of a request, put there or read; "none" for no row */
void fake_put (Fake *fake, const char *id, const char *state, const char *why);
/* fake_resolve: the outcome is what a person found out. */
void fake_resolve (Fake *fake, const char *id, const char *outcome);
char *fake_row (Fake *fake, const char *id);

/* --- what it saw --- */

guint fake_prepared (Fake *fake);
guint fake_answered (Fake *fake);
guint fake_ran (Fake *fake); /* how often a module would have run */
guint fake_asked (Fake *fake); /* for a person's passkeys */
guint fake_queried (Fake *fake); /* what the ledger says of a request */

G_END_DECLS
