/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Policy for who may call again and again: it is read at most once in a second for each uid.  One
 * of these is for the question to polkit, when whoever calls is nobody yet; another, which knows
 * nothing of the first, for what is done after it.
 */
#pragma once

#include "service/policy/policy.h"

G_BEGIN_DECLS

#define KNOWN_PERIOD G_USEC_PER_SEC

typedef struct Known Known;

/* known_new: @source must outlive it. */
Known *known_new (const PolicySource *source);
void known_free (Known *known);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Known, known_free)

/*
 * known_policy: for a call of @uid; read for it, unless an earlier one of this uid had it read in
 * the KNOWN_PERIOD before @now, in microseconds: then as it was last read for anybody. Returns:
 * borrowed, until the next call; NULL with US_ERROR_POLICY_INVALID.
 */
const Policy *known_policy (Known *known, uid_t uid, gint64 now, GError **error);

/* policy_read: from the disk, now.  (transfer full) */
Policy *policy_read (const PolicySource *source, GError **error);

G_END_DECLS
