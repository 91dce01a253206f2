/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a call leaves whose caller gave up. */
#pragma once

#include "agentlib/mcp/server.h"

G_BEGIN_DECLS

/*
 * exchange_leave: ends the exchange, which was cancelled and no longer waits for the request at
 * @path; leaves that, too, where nobody else of the process wants it.
 * @action: the request's
 */
void exchange_leave (Exchange *exchange, const char *path, const char *action);

G_END_DECLS
