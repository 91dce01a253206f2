/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is held for a request as long as it has not ended: its deadline, its place and files, and the
 * calls that wait for it.
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

/* life_begin: a request that is now pending, or again: its deadline runs and cards show it. */
void life_begin (Broker *broker, Request *request);

/*
 * life_count_down: the same of one that was read back, and is not shown yet.  Its deadline may lie in
 * another boot, so that what is left of it is told, once, by the wall clock.
 *
 * Returns: FALSE where nothing is left; it expires then.
 */
gboolean life_count_down (Broker *broker, Request *request);

/* life_end: forgets a request that has ended, its files and its place. */
void life_end (Broker *broker, Request *request);

/* life_stop: its timers end with the daemon. */
void life_stop (Broker *broker, Request *request);

/*
 * life_again: @again comes in so many seconds, unless something is to come already; it finds
 *   request->retry_timer set, and has to clear it.
 * life_retry: the same, each time later, up to a minute.
 */
void life_again (Broker *broker, Request *request, guint seconds, ExpiryCallback again);
void life_retry (Broker *broker, Request *request, ExpiryCallback again);

/* life_move: request_move() by nobody who could be told of an error: where the move can't be kept,
 * @again finds out anew, later, where the request belongs. */
gboolean life_move (Broker *broker,
                    Request *request,
                    RequestState to,
                    const RequestChange *change,
                    ExpiryCallback again);

/* life_wait: answers @call, which is Approve() or Submit(), once it is known whether the request was
 * executed, or, of a refused one, what takes its place. */
void life_wait (Request *request, Call *call);
/* life_answer: answers those that wait, with the state or with @error. */
void life_answer (Request *request, const GError *error);

G_END_DECLS
