/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The actions of the caller as tools: their names, and what a client is told of each. */
#pragma once

#include "agentlib/mcp/era.h"

G_BEGIN_DECLS

/* Clients put a prefix before a name and drop what gets too long. */
#define TOOL_NAME_MAX 40
#define TOOL_STATUS "request_status"
#define TOOL_CANCEL "request_cancel"

typedef struct
{
  char *name;
  char *action; /* its id */
  char *summary, *effect, *approval;
} Tool;

void tool_free (Tool *tool);

/*
 * tools_read:
 * @actions: what ListActions() replied
 *
 * Returns: (transfer full) (element-type Tool): in the order of the actions' ids.  No two have one
 *   name, but for a chance of 1 in 2^32 in which tools_find() finds neither.
 */
GPtrArray *tools_read (GVariant *actions);

/* tools_find: (nullable): by name; borrowed */
const Tool *tools_find (GPtrArray *tools, const char *name);

/* tool_describe: what tools/list says of it.  @description: what DescribeAction() replied. */
JsonTree *tool_describe (const Tool *tool, GVariant *description, Revision revision);

/* tool_describe_status, tool_describe_cancel: the tools that are always there. */
JsonTree *tool_describe_status (Revision revision, int hold_ms);
JsonTree *tool_describe_cancel (Revision revision);

G_END_DECLS
