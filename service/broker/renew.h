/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pending requests that are prepared anew.
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

/* renew_request: asks the executor anew about a pending request whose record nobody can approve any
 * more. */
void renew_request (Broker *broker, Request *request);

G_END_DECLS
