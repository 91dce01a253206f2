/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What prepare gave and the broker hands back, checked; and the answers to it. */
#pragma once

#include "service/executor/proposal.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  Proposal *proposal;
  Record *record; /* rebuilt here, its bytes are those that were sealed */
  guint64 deadline;
  guint8 seal[PAE_DIGEST_SIZE];
} Prepared;

/*
 * prepared_open: seal, deadline, and that the record rebuilt from the request is the sealed one.
 * @body: of type WIRE_PREPARED
 *
 * Returns: NULL with reason bad-seal, deadline-passed, record-changed or those of proposal_new().
 */
Prepared *prepared_open (Session *session, GVariant *body, GError **error);
/* prepared_seal_is_good: that this was prepared here, whatever else is wrong with it by now. */
gboolean prepared_seal_is_good (Session *session,
                                GVariant *body,
                                char **out_request,
                                GBytes **out_record);
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
