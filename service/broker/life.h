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

/* life_end: forgets a request that has ended, its files and its place. */
void life_end (Broker *broker, Request *request);

/* life_stop: its timers end with the daemon. */
void life_stop (Broker *broker, Request *request);

/* life_wait: answers @call, which is Approve() or Submit(), once it is known whether the request was
 * executed, or, of a refused one, what takes its place. */
void life_wait (Request *request, Call *call);
/* life_answer: answers those that wait, with the state or with @error. */
void life_answer (Request *request, const GError *error);

G_END_DECLS
