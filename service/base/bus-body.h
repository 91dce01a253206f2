/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much a body becomes once GDBus has taken it apart: an object of some hundred bytes for each
 * value, so that what counts is not its bytes.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define BUS_VALUES_MAX 16384 /* of a call, those of its arrays included; an array of numbers is one */
#define BUS_DEPTH_MAX 16     /* of values within values */

/*
 * bus_body_check:
 * @message: a whole message, whose header was read
 * @body_at: where its body begins
 * @signature: of the body
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT: reason too-large over the limits, bad-message for
 *   what is not of the signature.
 */
gboolean bus_body_check (const guint8 *message,
                         gsize size,
                         gsize body_at,
                         const char *signature,
                         GError **error);

G_END_DECLS
