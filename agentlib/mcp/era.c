/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides of which revision a request is.  Nothing of a client's name, of the connection or of an
 * earlier request of 2026 plays a part in it.
 */
#include "agentlib/mcp/era.h"

#include <string.h>

static const char *const names[] = {
  [REVISION_2024_11_05] = "2024-11-05", [REVISION_2025_03_26] = "2025-03-26",
  [REVISION_2025_06_18] = "2025-06-18", [REVISION_2025_11_25] = "2025-11-25",
  [REVISION_2026_07_28] = "2026-07-28",
};

G_STATIC_ASSERT (G_N_ELEMENTS (names) == REVISION_N);

const char *
revision_name (Revision revision)
{
  g_return_val_if_fail ((guint) revision < REVISION_N, NULL);
  return names[revision];
}

gboolean
revision_find (const char *text, Revision *out_revision)
{
  for (guint i = 0; i < REVISION_N; i++)
    if (g_strcmp0 (names[i], text) == 0)
      {
        *out_revision = (Revision) i;
        return TRUE;
      }
  return FALSE;
}

JsonTree *
revision_names (void)
{
  JsonTree *array = json_tree_new_array ();

  for (guint i = REVISION_N; i-- > 0;)
    json_tree_append_string (array, names[i]);
  return array;
}

const JsonTree *
meta_of (const Message *message)
{
  return json_tree_member (message->params, "_meta");
}

static gboolean
fault (Fault *out_fault, RpcCode code, const char *text, JsonTree *data)
{
  *out_fault = (Fault){ code, text, data };
  return FALSE;
}

static gboolean
decide_modern (const JsonTree *meta, Revision *out_revision, gboolean *out_tasks, Fault *out_fault)
{
  const char *version = json_tree_get_string (meta, META_MCP "protocolVersion");
  const JsonTree *capabilities = json_tree_member (meta, META_MCP "clientCapabilities");
  const JsonTree *extensions = json_tree_member (capabilities, "extensions");
  Revision revision = REVISION_N;
  JsonTree *data;

  if (version == NULL)
    return fault (out_fault, RPC_INVALID_PARAMS,
                  "_meta has no " META_MCP "protocolVersion, and nothing was initialized", NULL);
  if (!revision_find (version, &revision) || revision <= REVISION_LAST_LEGACY)
    {
      data = json_tree_new_object ();
      json_tree_add (data, "supported", revision_names ());
      json_tree_add_string (data, "requested", version);
      return fault (out_fault, RPC_UNSUPPORTED_VERSION, "unsupported protocol version", data);
    }
  if (json_tree_kind (capabilities) != JSON_TREE_OBJECT)
    return fault (out_fault, RPC_INVALID_PARAMS, "_meta has no " META_MCP "clientCapabilities",
                  NULL);
  *out_revision = revision;
  *out_tasks = json_tree_kind (json_tree_member (extensions, EXTENSION_TASKS)) == JSON_TREE_OBJECT;
  return TRUE;
}

gboolean
era_decide (const Era *era,
            const Message *message,
            Revision *out_revision,
            gboolean *out_tasks,
            Fault *out_fault)
{
  const JsonTree *meta = meta_of (message);
  gboolean modern = json_tree_member (meta, META_MCP "protocolVersion") != NULL;

  *out_tasks = FALSE;
  if (!modern &&
      (strcmp (message->method, "initialize") == 0 || strcmp (message->method, "ping") == 0))
    *out_revision = era->initialized ? era->revision : REVISION_LAST_LEGACY;
  else if (!modern && era->initialized)
    *out_revision = era->revision;
  else
    return decide_modern (meta, out_revision, out_tasks, out_fault);
  return TRUE;
}
