/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A request as the queue keeps it: one GVariant in normal form, written and read back strictly. */
#pragma once

#include "service/broker/request.h"

#include <glib.h>

G_BEGIN_DECLS

/* row_encode: the bytes of everything that request.h calls kept. */
GBytes *row_encode (const Request *request);

/*
 * row_decode:
 * @bytes: from the disk, not trusted
 *
 * Returns: (transfer full) (nullable): NULL with US_ERROR_UNAVAILABLE, reason internal, where
 *   anything in it is not what row_encode() writes.
 */
Request *row_decode (GBytes *bytes, const RequestHooks *hooks, GError **error);

G_END_DECLS
