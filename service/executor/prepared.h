/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What prepare gave and the broker hands back, checked; and the answers to it. */
#pragma once

#include "service/executor/proposal.h"

#include <glib.h>

G_BEGIN_DECLS

/* What a statement says of a request that was prepared here.  All but what it supersedes is under the
 * seal; that is not believed, and a signature on the statement is one on it, too. */
typedef struct
{
  char *request;
  guint8 record[PAE_DIGEST_SIZE]; /* digest of the record as sealed */
  guint8 seal[PAE_DIGEST_SIZE];
  char *supersedes, *supersedes_digest; /* (nullable) */
} Sealed;

void sealed_clear (Sealed *sealed);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sealed, sealed_clear)

/*
 * sealed_open: that this was prepared here, in this boot, whatever else is wrong with it by now.
 * @body: of type WIRE_PREPARED
 *
 * Returns: FALSE with reason bad-seal, bad-message or those of ledger_seal().
 */
gboolean sealed_open (Session *session, GVariant *body, Sealed *out_sealed, GError **error);

typedef struct
{
  Proposal *proposal;
  Record *record; /* rebuilt here, its bytes are those that were sealed */
  guint64 deadline;
  Sealed sealed;
} Prepared;

/*
 * prepared_open: seal, deadline, and that the record rebuilt from the request is the sealed one.
 * @body: of type WIRE_PREPARED
 *
 * Returns: NULL with reason bad-seal, deadline-passed, record-changed or those of proposal_new().
 */
Prepared *prepared_open (Session *session, GVariant *body, GError **error);
void prepared_free (Prepared *prepared);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Prepared, prepared_free)

/*
 * answer_verify: every check of an answer but that of the counter.
 * @decision: "approve" or "deny", which the statement must say
 * @votes: (element-type Vote): gets what this answer may satisfy
 * @out_counter: the asserted counter
 */
gboolean answer_verify (Executor *executor,
                        const Prepared *prepared,
                        const char *decision,
                        const Answer *answer,
                        GPtrArray *requirements,
                        GArray *votes,
                        guint32 *out_counter,
                        GError **error);

/*
 * answer_verify_sealed: that an active passkey of a user of this machine has signed this on the
 * record as it was sealed.  Of a record that is no longer the one of now nobody can say who may
 * approve it, so this counts for nothing but a note that it was refused.
 */
gboolean answer_verify_sealed (Executor *executor,
                               const Sealed *sealed,
                               const char *decision,
                               const Answer *answer,
                               GError **error);

/*
 * approval_refused_note: that what a person has approved was then refused by a check, is in the audit
 * log once, and the first time in the journal.  Of what nobody has approved there is no trace: an
 * agent could make as many as it likes.  A ledger that can't be written changes nothing about the refusal.
 * @approval: (nullable): that came just now, and was not looked at yet
 */
void approval_refused_note (Session *session,
                            const Sealed *sealed,
                            const Answer *approval,
                            const GError *refusal);

/* An answer that this worker has verified, on the same record by the same requirements. */
typedef struct
{
  const Answer *answer;
  GArray *votes; /* (element-type Vote): what it may satisfy */
} Verified;

/*
 * answers_evaluate: reads the stored answers and verifies each anew.
 * @verified: (nullable): of which nothing is to be found out once more where it is stored as it is
 * here, byte for byte.  For ANSWER alone, whose word decides nothing: an execution verifies them
 * all.
 * @out_used: (out) (optional) (element-type Answer): those that satisfy the requirements
 *
 * Returns: FALSE where they do not suffice: the error is what is wrong with the first answer that
 *   no longer counts, else reason not-approved.  *@out_taken and *@out_needed are set unless the
 *   ledger could not be read.
 */
gboolean answers_evaluate (Executor *executor,
                           const Prepared *prepared,
                           GPtrArray *requirements,
                           const Verified *verified,
                           GPtrArray **out_used,
                           guint *out_taken,
                           guint *out_needed,
                           GError **error);

/* bytes_of: of an "ay", sharing its memory. */
GBytes *bytes_of (GVariant *array);
GVariant *variant_of_bytes (GBytes *bytes);
GVariant *variant_of_digest (const guint8 digest[PAE_DIGEST_SIZE]);

G_END_DECLS
