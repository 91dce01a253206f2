/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arguments of a tool's call as those of a submission. */
#pragma once

#include "agentlib/lib/undersign.h"
#include "service/base/json.h"

G_BEGIN_DECLS

/*
 * arguments_add:
 * @description: what DescribeAction() replied
 * @arguments: (nullable): the object that the model wrote
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT or US_ERROR_LIMIT_EXCEEDED, which names the
 * argument.
 */
gboolean arguments_add (UsSubmission *submission,
                        GVariant *description,
                        const JsonTree *arguments,
                        GError **error);

G_END_DECLS
