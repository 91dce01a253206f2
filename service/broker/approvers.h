/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whose uid has an active passkey, as the executor said a moment ago.  It decides who gets an answer
 * on the bus; what an approval is worth, the executor decides again.
 */
#pragma once

#include "service/broker/executor.h"

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct Approvers Approvers;

Approvers *approvers_new (Executor *executor);
/* approvers_free: after executor_free(), which ends what is under way. */
void approvers_free (Approvers *approvers);

/*
 * ApproversCallback:
 * @credentials: (nullable): an array of WIRE_CREDENTIAL, borrowed; NULL on error
 * @error: (nullable)
 */
typedef void (*ApproversCallback) (GVariant *credentials, const GError *error, gpointer data);

/* approvers_lookup: calls back at once where the answer is fresh. */
void approvers_lookup (Approvers *approvers,
                       uid_t uid,
                       ApproversCallback callback,
                       gpointer data);

/* approvers_ask: calls back with what the executor says to a question asked after this call, or with
 * the error where it says nothing: for what is not undone. */
void approvers_ask (Approvers *approvers, uid_t uid, ApproversCallback callback, gpointer data);

G_END_DECLS
