/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which connections Submit() gave a request to, that have not said since that they passed its path
 * on to nobody.  Once somebody else has watched it, or was given it and left the bus, this is not
 * known any more, for good.  Who only looks at a path that ListRequests() gave is not found out.
 */
#pragma once

#include "service/broker/request.h"

G_BEGIN_DECLS

#define HOLDERS_MAX 16 /* of one request; with more it is not known any more */

/* holders_begin: of a request that Submit() has just made for @name. */
void holders_begin (Request *request, const char *name);
/* holders_add: Submit() gives it to @name, too. */
void holders_add (Request *request, const char *name);
/* holders_expect: @name, of the agent's, has its path: from Submit(), or it may come from anybody. */
void holders_expect (Request *request, const char *name);
/* holders_leave: @name wants it no more.  Returns: whether it was the last that had its path. */
gboolean holders_leave (Request *request, const char *name);

G_END_DECLS
