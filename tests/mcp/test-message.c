/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is no message, and with which id it is answered; then what is one. */
#include "agentlib/mcp/message.h"
#include "agentlib/mcp/text.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

static void
test_not_json (void)
{
  static const char *const lines[] = {
    "",
    " ",
    "x",
    "{",
    "{'jsonrpc':'2.0'}",
    "{\"jsonrpc\":\"2.0\",}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} {}",
    "{\"jsonrpc\":\"2.0\",\"id\":01,\"method\":\"ping\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":0x1,\"method\":\"ping\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":NaN,\"method\":\"ping\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\\u0000ng\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xff\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\tb\"}",
    "/* */ {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
    "\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autoptr (GError) error = NULL;

      g_test_message ("line %u", (guint) i);
      g_assert_null (message_tree (lines[i], strlen (lines[i]), &error));
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_JSON));
    }
}

static gboolean
depth_is_taken (guint depth)
{
  g_autoptr (GString) line = g_string_new ("{\"params\":");
  g_autoptr (JsonTree) tree = NULL;

  for (guint i = 1; i < depth; i++)
    g_string_append_c (line, '[');
  for (guint i = 1; i < depth; i++)
    g_string_append_c (line, ']');
  g_string_append_c (line, '}');
  tree = message_tree (line->str, line->len, NULL);
  return tree != NULL;
}

static void
test_depth (void)
{
  g_assert_false (depth_is_taken (MESSAGE_MAX_DEPTH + 1));
  g_assert_false (depth_is_taken (100000));
  g_assert_true (depth_is_taken (MESSAGE_MAX_DEPTH));
}

static void
test_no_message (void)
{
  static const struct
  {
    const char *line, *id; /* of the answer; NULL for none */
  } rows[] = {
    { "[]", NULL },
    { "1", NULL },
    { "\"ping\"", NULL },
    { "null", NULL },
    { "{}", NULL },
    { "{\"jsonrpc\":\"2.0\",\"id\":1}", "1" },
    { "{\"id\":1,\"method\":\"ping\"}", "1" },
    { "{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}", "\"a\"" },
    { "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", "1" },
    { "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", NULL },
    { "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", NULL },
    { "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", NULL },
    { "{\"jsonrpc\":\"2.0\",\"id\":1e3,\"method\":\"ping\"}", NULL },
    { "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", NULL },
    { "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", NULL },
    { "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":1}", "7" },
    { "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":null}", "7" },
    { "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":[]}", "7" },
    { "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":\"\"}", "7" },
    { "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":null}", "7" },
    { "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"result\":{}}", "7" },
    { "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{},\"error\":{}}", "7" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      JsonTree *tree = message_tree (rows[i].line, strlen (rows[i].line), NULL);
      g_autoptr (JsonTree) id = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree char *text = NULL;

      g_test_message ("%s", rows[i].line);
      g_assert_nonnull (tree);
      g_assert_null (message_read (tree, &id, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
      text = id != NULL ? tree_text (id) : NULL;
      g_assert_cmpstr (text, ==, rows[i].id);
    }
}

static gboolean
id_is_taken (gsize length)
{
  g_autofree char *text = g_strnfill (length, 'a');
  g_autoptr (JsonTree) id = json_tree_new_string (text);

  return message_id_is_valid (id);
}

static void
test_long_id (void)
{
  g_assert_false (id_is_taken (MESSAGE_MAX_ID + 1));
  g_assert_true (id_is_taken (MESSAGE_MAX_ID));
  g_assert_true (id_is_taken (0));
}

static void
test_messages (void)
{
  static const struct
  {
    const char *line;
    MessageKind kind;
    const char *id;
  } rows[] = {
    { "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}", MESSAGE_REQUEST, "0" },
    { "{\"jsonrpc\":\"2.0\",\"id\":-12,\"method\":\"ping\",\"params\":{}}", MESSAGE_REQUEST, "-12" },
    { "{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"ping\"}",
      MESSAGE_REQUEST, "123456789012345678901234567890" },
    { "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"ping\"}", MESSAGE_REQUEST, "\"\"" },
    { " {\"id\":\"\\u0041-\\n\",\"method\":\"ping\",\"jsonrpc\":\"2.0\",\"more\":1}\r",
      MESSAGE_REQUEST, "\"A-\\n\"" },
    { "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\"}", MESSAGE_NOTIFICATION, NULL },
    { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", MESSAGE_RESPONSE, NULL },
    { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", MESSAGE_RESPONSE, NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      JsonTree *tree = message_tree (rows[i].line, strlen (rows[i].line), NULL);
      g_autoptr (JsonTree) id = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (Message) message = message_read (tree, &id, &error);
      g_autofree char *text = NULL;

      g_assert_no_error (error);
      g_assert_null (id);
      g_assert_cmpint (message->kind, ==, rows[i].kind);
      g_assert_true ((message->method == NULL) == (rows[i].kind == MESSAGE_RESPONSE));
      g_assert_true ((message->id != NULL) == (rows[i].id != NULL));
      text = message->id != NULL ? tree_text (message->id) : NULL;
      g_assert_cmpstr (text, ==, rows[i].id);
    }
}

/* The text "1" and the number 1 are two ids. */
static void
test_keys (void)
{
  g_autoptr (JsonTree) number = json_tree_new_number ("1");
  g_autoptr (JsonTree) text = json_tree_new_string ("1");
  g_autoptr (JsonTree) hash = json_tree_new_string ("#1");
  g_autofree char *a = message_id_key (number);
  g_autofree char *b = message_id_key (text);
  g_autofree char *c = message_id_key (hash);

  g_assert_cmpstr (a, !=, b);
  g_assert_cmpstr (a, !=, c);
  g_assert_cmpstr (b, !=, c);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mcp/message/not-json", test_not_json);
  g_test_add_func ("/mcp/message/depth", test_depth);
  g_test_add_func ("/mcp/message/no-message", test_no_message);
  g_test_add_func ("/mcp/message/long-id", test_long_id);
  g_test_add_func ("/mcp/message/messages", test_messages);
  g_test_add_func ("/mcp/message/keys", test_keys);
  return g_test_run ();
}
