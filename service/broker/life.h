/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What follows from each move of a request, and what moves it by itself: its deadline, the hand-over
 * to the executor, and whatever the ledger says afterwards.
 */
#pragma once

#include "service/broker/broker.h"

#include <glib.h>

G_BEGIN_DECLS

/* life_moved: the RequestHooks.moved of every request; @data is the Broker. */
void life_moved (Request *request, RequestState from, gpointer data);

/* life_begin: a request that is now pending, or again: its deadline runs and cards show it. */
void life_begin (Broker *broker, Request *request);

/* life_end: forgets a request that has ended, its files and its place. */
void life_end (Broker *broker, Request *request);

/* life_stop: its timers end with the daemon. */
void life_stop (Broker *broker, Request *request);

/* life_wait: answers @call, which is Approve() or Submit(), once it is known whether the request was
 * executed, or, of a refused one, what takes its place. */
void life_wait (Request *request, Call *call);
/* life_answer: answers those that wait, with the state or with @error. */
void life_answer (Request *request, const GError *error);

/* life_close_due: tells the ledger of what was closed while the executor was away. */
void life_close_due (Broker *broker);

/* --- hand-over.c --- */

/* hand_over: asks the executor to execute an approved request. */
void hand_over (Broker *broker, Request *request);

/*
 * hand_over_settle: asks the ledger what became of a request and moves it there.  An approved one
 * that the ledger does not know is handed over, a pending one is prepared anew.  Each time without
 * an answer it waits longer before it asks again.
 */
void hand_over_settle (Broker *broker, Request *request);
void hand_over_settle_later (Broker *broker, Request *request);

/* hand_over_refuse: a check failed after a person had approved: nothing ran. */
void hand_over_refuse (Broker *broker, Request *request, const GError *error);

/* --- successor.c --- */

/* successor_begin: asks anew for what was refused; ends the refused request when that is settled. */
void successor_begin (Broker *broker, Request *refused);

/* --- approver-face.c --- */

/* cards_settled: a request may no longer keep Register() waiting. */
void cards_settled (Broker *broker);
/* cards_forget: a connection is gone, or with NULL the daemon is ending. */
void cards_forget (Broker *broker, const char *name);

/* --- reach.c --- */

/* reach_start: now and then, looks whether those who could approve still can. */
void reach_start (Broker *broker);

/* --- restart.c --- */

/* restart_resume: takes up every request that had not ended and is not taken up yet; FALSE where it
 * cannot be told which these are. */
gboolean restart_resume (Broker *broker, GError **error);
/* restart_prepare: asks the executor anew about a pending request whose record nobody can approve
 * any more. */
void restart_prepare (Broker *broker, Request *request);

G_END_DECLS
