/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One message of JSON-RPC 2.0, as MCP narrows it: read strictly, never repaired. */
#pragma once

#include "service/base/json.h"

G_BEGIN_DECLS

/* What a line may have. */
#define MESSAGE_MAX_BYTES (1024 * 1024)
#define MESSAGE_MAX_DEPTH 32
#define MESSAGE_MAX_ITEMS 4096
#define MESSAGE_MAX_ID 256

/* The error codes that are ever sent. */
typedef enum
{
  RPC_PARSE_ERROR = -32700,
  RPC_INVALID_REQUEST = -32600,
  RPC_UNKNOWN_METHOD = -32601,
  RPC_INVALID_PARAMS = -32602,
  RPC_INTERNAL = -32603,
  RPC_MISSING_CAPABILITY = -32021,
  RPC_UNSUPPORTED_VERSION = -32022,
} RpcCode;

typedef enum
{
  MESSAGE_REQUEST,
  MESSAGE_NOTIFICATION, /* what has no id; nothing is ever answered */
  MESSAGE_RESPONSE,     /* to a request that nobody sent */
} MessageKind;

typedef struct
{
  JsonTree *tree;
  MessageKind kind;
  const JsonTree *id;     /* of a request: a string, or a number that is an integer */
  const char *method;     /* (nullable): of a response */
  const JsonTree *params; /* (nullable): an object */
} Message;

void message_free (Message *message);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Message, message_free)

/*
 * message_tree: the JSON of a line: a message, or an array of them.
 *
 * Returns: (transfer full) (nullable): NULL with US_ERROR_INVALID_ARGUMENT, reason bad-json.
 */
JsonTree *message_tree (const char *line, gsize len, GError **error);

/*
 * message_read:
 * @tree: (transfer full)
 * @out_id: (out) (transfer full) (nullable): where it is no message: the id to answer with, if it
 * has one that can be echoed
 *
 * Returns: (transfer full) (nullable): NULL with US_ERROR_INVALID_ARGUMENT, reason bad-message.
 */
Message *message_read (JsonTree *tree, JsonTree **out_id, GError **error);

/* message_id_is_valid: a string of at most MESSAGE_MAX_ID bytes or an integer. */
gboolean message_id_is_valid (const JsonTree *id);

/* message_id_key: text that is the same for the same id only.  (transfer full) */
char *message_id_key (const JsonTree *id);

G_END_DECLS
