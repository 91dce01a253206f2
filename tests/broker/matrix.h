/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every member from one uid, held against matrix.json, which is written by hand: what each role is
 * answered before the body of a call is looked at ("roles", called with a wrong signature), and what
 * of one agent's request ("requests", called rightly but to no effect).
 *
 * The words: "pass" is no refusal of the role; "NotAgent", "NotApprover" and "NotFound" are the
 * service's errors; "refused" is that error or the bus's own.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define MATRIX_ROLES "agent", "other-agent", "initiator", "approver", "nobody", "root"

/*
 * matrix_check:
 * @connection: of the role; its main context is iterated
 * @request: (nullable): path of a pending request of the agent, which the approver may answer; the
 *   agent's own calls leave it withdrawn
 *
 * Returns: (element-type utf8): what is not as the matrix says, and members that it lacks.
 */
GPtrArray *matrix_check (GDBusConnection *connection,
                         const char *file,
                         const char *role,
                         const char *request);

G_END_DECLS
