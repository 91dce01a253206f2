/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The revisions of MCP that are spoken, and of which one a request is. */
#pragma once

#include "agentlib/mcp/message.h"

G_BEGIN_DECLS

/* Keys of the protocol's and of our own in _meta. */
#define META_MCP "io.modelcontextprotocol/"
#define META_OWN "org.undersign1/"
#define EXTENSION_TASKS META_MCP "tasks"

/* In their order.  All but the last begin with initialize; the last has no handshake. */
typedef enum
{
  REVISION_2024_11_05,
  REVISION_2025_03_26,
  REVISION_2025_06_18,
  REVISION_2025_11_25,
  REVISION_2026_07_28,
  REVISION_N
} Revision;

#define REVISION_LAST_LEGACY REVISION_2025_11_25

const char *revision_name (Revision revision);
/* revision_find: FALSE for a text that names none. */
gboolean revision_find (const char *text, Revision *out_revision);
/* revision_names: an array of all, newest first.  (transfer full) */
JsonTree *revision_names (void);

/* What initialize has settled for the process. */
typedef struct
{
  gboolean initialized;
  Revision revision;
} Era;

/* Why a request can't be answered. */
typedef struct
{
  RpcCode code;
  const char *text;
  JsonTree *data; /* (nullable), owned */
} Fault;

/*
 * era_decide: each message by itself: one with the _meta of 2026 is of that revision whatever came
 * before it, others are of what initialize has settled.
 * @out_tasks: whether the client declares the extension of tasks, in this request
 * @out_fault: set on failure only
 */
gboolean era_decide (const Era *era,
                     const Message *message,
                     Revision *out_revision,
                     gboolean *out_tasks,
                     Fault *out_fault);

/* meta_of: the _meta of a request, or NULL. */
const JsonTree *meta_of (const Message *message);

G_END_DECLS
