/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a line that a client wrote.  The text goes through the strict JSON reader, so that a name
 * given twice, a NUL or a lone surrogate ends here.  An id is kept as its text and goes back as it
 * came.  It never acts on a message, and never guesses what a malformed one was to be.
 */
#include "agentlib/mcp/message.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

static const JsonLimits limits = { MESSAGE_MAX_BYTES, MESSAGE_MAX_DEPTH, MESSAGE_MAX_BYTES,
                                   MESSAGE_MAX_ITEMS };

void
message_free (Message *message)
{
  if (message == NULL)
    return;
  json_tree_free (message->tree);
  g_free (message);
}

JsonTree *
message_tree (const char *line, gsize len, GError **error)
{
  return json_tree_parse (line, len, &limits, error);
}

/* The grammar of JSON holds already: what has neither fraction nor exponent is an integer. */
static gboolean
is_integer (const char *number)
{
  return strlen (number) <= MESSAGE_MAX_ID && strpbrk (number, ".eE") == NULL;
}

gboolean
message_id_is_valid (const JsonTree *id)
{
  const char *number = json_tree_number (id);
  const char *text = json_tree_string (id);

  if (number != NULL)
    return is_integer (number);
  return text != NULL && strlen (text) <= MESSAGE_MAX_ID;
}

char *
message_id_key (const JsonTree *id)
{
  const char *number = json_tree_number (id);

  return number != NULL ? g_strconcat ("#", number, NULL)
                        : g_strconcat ("\"", json_tree_string (id), NULL);
}

static gboolean
refuse (GError **error, const char *text)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE, "%s", text);
}

static gboolean
read_request (Message *message, GError **error)
{
  const JsonTree *params = json_tree_member (message->tree, "params");
  const JsonTree *id = json_tree_member (message->tree, "id");

  if (params != NULL && json_tree_kind (params) != JSON_TREE_OBJECT)
    return refuse (error, "params is not an object");
  message->params = params;
  message->kind = id == NULL ? MESSAGE_NOTIFICATION : MESSAGE_REQUEST;
  message->id = id;
  return TRUE;
}

static gboolean
read_members (Message *message, GError **error)
{
  const JsonTree *id = json_tree_member (message->tree, "id");
  const JsonTree *method = json_tree_member (message->tree, "method");
  gboolean has_result = json_tree_member (message->tree, "result") != NULL;
  gboolean has_error = json_tree_member (message->tree, "error") != NULL;

  if (json_tree_kind (message->tree) != JSON_TREE_OBJECT)
    return refuse (error, "a message is an object");
  if (id != NULL && !message_id_is_valid (id))
    return refuse (error, "id is neither a string nor an integer");
  if (g_strcmp0 (json_tree_get_string (message->tree, "jsonrpc"), "2.0") != 0)
    return refuse (error, "jsonrpc is not \"2.0\"");
  if (method != NULL && (has_result || has_error))
    return refuse (error, "a request has neither result nor error");
  if (method == NULL && has_result == has_error)
    return refuse (error, "neither a request nor a response");
  message->kind = MESSAGE_RESPONSE;
  if (method == NULL)
    return TRUE;
  message->method = json_tree_string (method);
  if (message->method == NULL)
    return refuse (error, "method is not a string");
  return read_request (message, error);
}

Message *
message_read (JsonTree *tree, JsonTree **out_id, GError **error)
{
  g_autoptr (Message) message = g_new0 (Message, 1);
  const JsonTree *id = json_tree_member (tree, "id");

  *out_id = NULL;
  message->tree = tree;
  if (read_members (message, error))
    return g_steal_pointer (&message);
  if (id != NULL && message_id_is_valid (id))
    *out_id = json_tree_copy (id);
  return NULL;
}
