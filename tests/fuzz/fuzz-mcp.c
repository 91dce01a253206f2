/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a client of undersign-mcp writes: lines, the messages in them, and the answer's text.  What was
 * read is written as one line that reads back as the same.
 */
#include "agentlib/mcp/line.h"
#include "agentlib/mcp/message.h"
#include "agentlib/mcp/text.h"
#include "tests/fuzz/refusal.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define LINE_MAX_BYTES 4096
#define PIECE 61

static void
check_text (const JsonTree *tree)
{
  g_autofree char *text = tree_text (tree);
  g_autoptr (JsonTree) back = message_tree (text, strlen (text), NULL);

  g_assert (strchr (text, '\n') == NULL);
  g_assert (back != NULL && json_tree_equal (tree, back));
}

static void
check_integer (const JsonTree *tree)
{
  g_autoptr (JsonTree) written = NULL;
  gint64 number = 0, again = 0;

  if (!tree_integer (tree, &number))
    return;
  written = tree_new_integer (number);
  g_assert (tree_integer (written, &again) && again == number);
}

static void
check_message (const Message *message)
{
  g_autofree char *key = NULL;

  g_assert (json_tree_kind (message->tree) == JSON_TREE_OBJECT);
  g_assert ((message->kind == MESSAGE_REQUEST) == (message->id != NULL));
  g_assert ((message->kind == MESSAGE_RESPONSE) == (message->method == NULL));
  if (message->id != NULL)
    {
      g_assert (message_id_is_valid (message->id));
      key = message_id_key (message->id);
    }
}

static void
check_line (const char *line, gsize len)
{
  g_autoptr (GError) error = NULL;
  JsonTree *tree = message_tree (line, len, &error);
  g_autoptr (JsonTree) id = NULL;
  g_autoptr (Message) message = NULL;

  g_assert ((tree == NULL) == (error != NULL));
  refusal_seen (error);
  if (tree == NULL)
    return;
  check_text (tree);
  check_integer (json_tree_member (tree, "id"));
  message = message_read (tree, &id, &error);
  g_assert ((message == NULL) == (error != NULL));
  refusal_seen (error);
  if (message != NULL)
    check_message (message);
  else if (id != NULL)
    g_assert (message_id_is_valid (id));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (LineReader) reader = line_reader_new (LINE_MAX_BYTES);

  for (size_t at = 0; at < size; at += PIECE)
    {
      const char *line = NULL;
      gsize len = 0;
      LineFound found;

      line_reader_feed (reader, (const char *) data + at, MIN (PIECE, size - at));
      while ((found = line_reader_next (reader, &line, &len)) != LINE_NONE)
        if (found == LINE_WHOLE)
          check_line (line, len);
    }
  return 0;
}
