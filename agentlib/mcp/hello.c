/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a client gets to know the server: initialize, server/discover, ping.  Nothing here asks the
 * bus, and what a client says of itself changes nothing but the revision.
 */
#include "agentlib/mcp/handlers.h"

#include "agentlib/mcp/text.h"

#include "config.h"

#define DISCOVER_TTL_MS (3600 * 1000)

static const char instructions[] =
    "Each tool asks for one action that may need a person's approval, which is given elsewhere, to "
    "exactly the arguments that were sent; nothing that is said here can approve anything.  A "
    "result "
    "of state pending means that nothing has been executed: do not repeat the call, ask "
    "request_status with its request_id later.  Only executed \"yes\" means that it ran.  A call "
    "whose outcome is unknown must not be repeated.";

static void
add_server_info (JsonTree *object, const char *name, Revision revision)
{
  JsonTree *info = json_tree_add (object, name, json_tree_new_object ());

  json_tree_add_string (info, "name", PROGRAM);
  if (revision >= REVISION_2025_06_18)
    json_tree_add_string (info, "title", "Undersign");
  json_tree_add_string (info, "version", UNDERSIGN_VERSION);
}

static JsonTree *
add_object (JsonTree *object, const char *name)
{
  return json_tree_add (object, name, json_tree_new_object ());
}

void
handle_initialize (Exchange *exchange)
{
  const char *asked = json_tree_get_string (exchange->message->params, "protocolVersion");
  Revision revision = REVISION_LAST_LEGACY;
  JsonTree *result, *capabilities, *tasks;

  if (asked == NULL)
    {
      exchange_fail (exchange, RPC_INVALID_PARAMS, "protocolVersion is not there", NULL);
      return;
    }
  if (!revision_find (asked, &revision) || revision > REVISION_LAST_LEGACY)
    revision = REVISION_LAST_LEGACY;
  server_initialize (exchange->server, revision);

  result = json_tree_new_object ();
  json_tree_add_string (result, "protocolVersion", revision_name (revision));
  capabilities = add_object (result, "capabilities");
  add_object (capabilities, "tools");
  if (revision >= REVISION_2025_11_25)
    {
      tasks = add_object (capabilities, "tasks");
      add_object (tasks, "cancel");
      add_object (add_object (add_object (tasks, "requests"), "tools"), "call");
    }
  add_server_info (result, "serverInfo", revision);
  json_tree_add_string (result, "instructions", instructions);
  exchange_reply (exchange, result);
}

void
handle_ping (Exchange *exchange)
{
  exchange_reply (exchange, json_tree_new_object ());
}

void
handle_discover (Exchange *exchange)
{
  JsonTree *result = json_tree_new_object ();
  JsonTree *capabilities;

  json_tree_add (result, "supportedVersions", revision_names ());
  capabilities = add_object (result, "capabilities");
  add_object (capabilities, "tools");
  add_object (add_object (capabilities, "extensions"), EXTENSION_TASKS);
  json_tree_add_string (result, "instructions", instructions);
  json_tree_add (result, "ttlMs", tree_new_integer (DISCOVER_TTL_MS));
  json_tree_add_string (result, "cacheScope", "private");
  add_server_info (add_object (result, "_meta"), META_MCP "serverInfo", exchange->revision);
  exchange_reply (exchange, result);
}
