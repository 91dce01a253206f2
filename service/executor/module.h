/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calling the runner of a module: the one place from which an effect can come. */
#pragma once

#include "service/executor/proposal.h"

#include <glib.h>

G_BEGIN_DECLS

/*
 * module_describe: what the action declares as facts; nothing is called where it declares none.
 * Returns: (transfer full): of type WIRE_FACTS, or NULL: reason unreachable or facts.
 */
GVariant *module_describe (Executor *executor, const Proposal *proposal, GError **error);

/*
 * module_check: whether there is a runner of the action's module, and whether it has the action's
 * credential, so that nobody is asked in vain.  The runner's listener says so by itself, so that it makes
 * no difference how busy the module is; one that says nothing in time passes.
 * Returns: FALSE with US_ERROR_UNAVAILABLE, reason unreachable or no-credential, which names it.
 */
gboolean module_check (Executor *executor, const PolicyAction *action, GError **error);

/*
 * module_execute: hands the consumed request over.
 * @out_result: (out) (transfer full): a short text
 *
 * Returns: "done", "failed" or "unknown".  Failed where the call could not be handed over, or the
 *   module guarantees that there was no effect; unknown for anything but a well-formed reply.
 */
const char *module_execute (Executor *executor, const Proposal *proposal, char **out_result);

G_END_DECLS
