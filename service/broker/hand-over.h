/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From approved to an outcome, and from whatever is not known to what the ledger says.
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

/* hand_over: asks the executor to execute an approved request. */
void hand_over (Broker *broker, Request *request);

/*
 * hand_over_settle: asks the ledger what became of a request and moves it there.  Of one that the
 * ledger does not know the files are loaded; then an approved one is handed over, a pending one
 * prepared anew.  Each time without an answer it waits longer before it asks again.
 */
void hand_over_settle (Broker *broker, Request *request);
void hand_over_settle_later (Broker *broker, Request *request);

/*
 * hand_over_when_known: calls @known at once, or, where the request is doubtful, when the ledger was
 * asked what became of it.  If there was no answer the request is doubtful still: nobody waits longer
 * than for one question, which is put at once.
 */
typedef void (*HandOverKnown) (Request *request, gpointer data);
void hand_over_when_known (Broker *broker, Request *request, HandOverKnown known, gpointer data);

/* hand_over_refuse: a check failed after a person had approved: nothing ran. */
void hand_over_refuse (Broker *broker, Request *request, const GError *error);

G_END_DECLS
