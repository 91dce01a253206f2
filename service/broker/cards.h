/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of Register(): a connection that shows cards is told which there are.
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

/* cards_register: answers @call with the cards of its caller, at once or when these are known. */
void cards_register (Broker *broker, Call *call);

/* cards_settled: a request may no longer keep Register() waiting. */
void cards_settled (Broker *broker);
/* cards_forget: a connection is gone, or with NULL the daemon is ending. */
void cards_forget (Broker *broker, const char *name);

G_END_DECLS
