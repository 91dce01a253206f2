/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls to the executor, as uid 0. */
#pragma once

#include "service/admin/call.h"
#include "service/base/handover.h"

G_BEGIN_DECLS

/* executor_call: one hand-over and its reply, of @reply_type.  @body is (transfer floating). */
gboolean executor_call (const AdminState *state,
                        HandoverKind kind,
                        GVariant *body,
                        const char *reply_type,
                        Handover *out_reply,
                        GError **error);

/* executor_passkeys: (transfer full): a(aysusssxbs), see WIRE_PASSKEYS_REPLY. */
GVariant *executor_passkeys (const AdminState *state, GError **error);

G_END_DECLS
