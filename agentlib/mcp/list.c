/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/list: the actions that the caller may ask for, asked of the service each time, in the order
 * of their ids, and the two tools that are always there.  What policy leaves to the caller is told;
 * whether a call runs is decided elsewhere.
 */
#include "agentlib/mcp/handlers.h"

#include "agentlib/mcp/text.h"
#include "agentlib/mcp/tool.h"

#define LIST_TTL_MS (10 * 1000)

typedef struct
{
  Exchange *exchange;
  GPtrArray *tools;
  guint next; /* the tool to describe */
  JsonTree *list;
} Listing;

static void listing_step (Listing *listing);

static void
listing_free (Listing *listing)
{
  g_clear_pointer (&listing->tools, g_ptr_array_unref);
  json_tree_free (listing->list);
  g_free (listing);
}

/* @error: (nullable): NULL for a caller that left */
static void
listing_fail (Listing *listing, const GError *error)
{
  if (exchange_is_cancelled (listing->exchange))
    exchange_drop (listing->exchange);
  else
    exchange_fail (listing->exchange, RPC_INTERNAL, error->message, NULL);
  listing_free (listing);
}

static void
listing_finish (Listing *listing)
{
  Exchange *exchange = listing->exchange;
  JsonTree *result = json_tree_new_object ();

  json_tree_append (
      listing->list,
      tool_describe_status (exchange->revision, server_options (exchange->server)->hold_ms));
  json_tree_append (listing->list, tool_describe_cancel (exchange->revision));
  json_tree_add (result, "tools", g_steal_pointer (&listing->list));
  if (exchange->revision >= REVISION_2026_07_28)
    {
      json_tree_add (result, "ttlMs", tree_new_integer (LIST_TTL_MS));
      json_tree_add_string (result, "cacheScope", "private");
    }
  exchange_reply (exchange, result);
  listing_free (listing);
}

static void
on_description (GObject *source, GAsyncResult *result, gpointer data)
{
  Listing *listing = data;
  const Tool *tool = g_ptr_array_index (listing->tools, listing->next);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) description =
      us_client_describe_action_finish (US_CLIENT (source), result, &error);

  /* One that is gone since is left out. */
  if (description == NULL && !g_error_matches (error, US_ERROR, US_ERROR_UNKNOWN_ACTION))
    {
      listing_fail (listing, error);
      return;
    }
  if (description != NULL && tools_find (listing->tools, tool->name) == tool)
    json_tree_append (listing->list,
                      tool_describe (tool, description, listing->exchange->revision));
  listing->next++;
  listing_step (listing);
}

static void
listing_step (Listing *listing)
{
  Exchange *exchange = listing->exchange;
  const Tool *tool;

  if (listing->next == listing->tools->len)
    {
      listing_finish (listing);
      return;
    }
  tool = g_ptr_array_index (listing->tools, listing->next);
  us_client_describe_action_async (server_client (exchange->server), tool->action,
                                   exchange->cancellable, on_description, listing);
}

static void
on_actions (GObject *source, GAsyncResult *result, gpointer data)
{
  Listing *listing = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) actions = us_client_list_actions_finish (US_CLIENT (source), result, &error);

  if (actions == NULL)
    {
      listing_fail (listing, error);
      return;
    }
  listing->tools = tools_read (actions);
  listing_step (listing);
}

void
handle_tools_list (Exchange *exchange)
{
  Listing *listing;

  if (json_tree_member (exchange->message->params, "cursor") != NULL)
    {
      exchange_fail (exchange, RPC_INVALID_PARAMS, "there is no such cursor: the list is one page",
                     NULL);
      return;
    }
  listing = g_new0 (Listing, 1);
  listing->exchange = exchange;
  listing->list = json_tree_new_array ();
  us_client_list_actions_async (server_client (exchange->server), exchange->cancellable, on_actions,
                                listing);
}
