/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Policy as a person reads it: what is wrong with a set, or what it comes to.  It needs no daemon
 * and changes nothing; `undersignctl policy check` is this function.
 */
#pragma once

#include "service/policy/policy.h"

#include <glib.h>
#include <stdio.h>

G_BEGIN_DECLS

/*
 * policy_check_load: a set from its folders.
 * Returns: (transfer full): NULL with US_ERROR_POLICY_INVALID, whose message holds every fault, those
 *   of files that could not be read and those of the others, as that of policy_parse() does.
 */
Policy *policy_check_load (const PolicySource *source, const PolicyNames *names, GError **error);

/*
 * policy_check: reads a set as the executor would.
 * @out: gets every fault, one "FILE:LINE: text" a line; or, where there is none, who may do what,
 *   and notes on what is valid but hardly meant
 *
 * Returns: whether the set loads.
 */
gboolean policy_check (const PolicySource *source, const PolicyNames *names, FILE *out);

/* policy_reader_group: of the user who reads policy; -1 where the service is not installed: others must be
 * let in then. */
gid_t policy_reader_group (void);

/* policy_describe: the second half, for a set that is loaded. */
void policy_describe (const Policy *policy, FILE *out);

/* policy_notes: its end: what is valid but hardly meant, "note: ABOUT: text" a line. */
void policy_notes (const Policy *policy, FILE *out);

G_END_DECLS
