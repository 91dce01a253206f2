/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Telling the ledger of a request that was closed: denied, withdrawn, expired, superseded or
 * unreachable.
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

/* close_send: tells of one; where that fails it is told again later. */
void close_send (Broker *broker, Request *request);
/* close_due: tells of all of which it has not heard, because the executor was away. */
void close_due (Broker *broker);

G_END_DECLS
