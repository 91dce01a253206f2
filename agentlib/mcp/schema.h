/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON Schemas of tools, in the few words that every client understands: no $ref, no oneOf. */
#pragma once

#include "service/base/json.h"

G_BEGIN_DECLS

/* schema_input: of the arguments of an action, as DescribeAction() describes it. */
JsonTree *schema_input (GVariant *description);

/* schema_request: of a tool that takes a request id, and @more: (transfer full) (nullable): what
 * else. */
JsonTree *schema_request (const char *name, JsonTree *more);

/* schema_output: of what every tool gives. */
JsonTree *schema_output (void);

G_END_DECLS
