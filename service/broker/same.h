/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When a call of Submit() stands for a request that is there already: by its key, or as one that
 * waits for the same.
 */
#pragma once

#include "service/broker/submission.h"

G_BEGIN_DECLS

/* same_seems_there: as far as words go, not files: whether same_find() may find one. */
gboolean same_seems_there (const Submission *submission);

/* same_find: once it is prepared, one that waits for the same run, part and intent.  Two keys are two
 * wishes.  (transfer none) (nullable) */
Request *same_find (const Submission *submission);

/* same_join: whether the submission may be answered with @same; its key is that one's from then on. */
gboolean same_join (const Submission *submission, Request *same, GError **error);

/* same_give_by_key: ends the submission with the request that its key already stands for, or because
 * that cannot be told; FALSE: there is none, and the submission goes on. */
gboolean same_give_by_key (Submission *submission);

G_END_DECLS
