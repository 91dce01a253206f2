/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who the framework says is calling: claims, which the record shows as such. */
#pragma once

#include "agentlib/mcp/era.h"
#include "agentlib/mcp/options.h"

G_BEGIN_DECLS

/* Each (nullable), borrowed from where it was found. */
typedef struct
{
  const char *part, *run, *call;
} Identity;

/*
 * identity_read: each from the request's _meta, else from the command line, else the environment.
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT where _meta has one that is no text.
 */
gboolean identity_read (const JsonTree *meta,
                        const Options *options,
                        Identity *out_identity,
                        GError **error);

/*
 * identity_claim: what the record is to say of it: the call, and by what its client tells it apart.
 * @meta: (nullable): of the request
 *
 * Returns: (transfer full) (nullable): NULL for nothing
 */
char *identity_claim (const Identity *identity, const JsonTree *meta);

G_END_DECLS
