/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests as tasks, in both shapes, and the stream that tells of their end. */
#include "tests/mcp/child.h"

#include <string.h>

/* --- tasks --- */

static void
test_tasks_of_2025 (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) task = NULL;
  g_autoptr (JsonTree) got = NULL;
  g_autoptr (JsonTree) result = NULL;
  g_autoptr (JsonTree) none = NULL;
  g_autoptr (JsonTree) late = NULL;

  child_start (child, LONG, NULL);
  child_hello (child, "2025-11-25");
  task = child_tool (child, "mail_send", ARGUMENTS, ",\"task\":{\"ttl\":60000}");
  g_assert_cmpstr (text_at (task, "result.task.taskId"), ==, MOCK_ID);
  g_assert_cmpstr (text_at (task, "result.task.status"), ==, "working");
  g_assert_nonnull (at (task, "result.task.ttl"));
  g_assert_nonnull (at (task, "result.task.createdAt"));
  g_assert_null (at (task, "result.content"));
  mock_set_state (child->mock, "denied", "no", NULL);
  got = child_ask (child, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":"
                          "{\"taskId\":\"" MOCK_ID "\",\"task\":{}}}");
  g_assert_cmpstr (text_at (got, "result.status"), ==, "failed");
  result = child_ask (child, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/result\",\"params\":"
                             "{\"taskId\":\"" MOCK_ID "\"}}");
  g_assert_true (true_at (result, "result.isError"));
  g_assert_cmpstr (
      json_tree_get_string (json_tree_member (at (result, "result._meta"), META_MCP "related-task"),
                            "taskId"),
      ==, MOCK_ID);
  none = child_ask (child, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":"
                           "{\"taskId\":\"x\"}}");
  g_assert_cmpstr (text_at (none, "error.code"), ==, "-32602");
  mock_set_error (child->mock, "Withdraw", "org.undersign1.Error.WrongState", "too-late: ended");
  late = child_ask (child, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/cancel\",\"params\":"
                           "{\"taskId\":\"" MOCK_ID "\"}}");
  g_assert_cmpstr (text_at (late, "error.code"), ==, "-32602");
  g_assert_cmpint (child_end (child), ==, 0);
}

/* Who no longer waits for the result of a task has its id: the request stays as it is, also where a
 * call for the same is given up then. */
static void
test_cancelled_result (Child *child, gconstpointer data)
{
  static const char result[] = "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tasks/result\",\"params\":"
                               "{\"taskId\":\"" MOCK_ID "\"}}";
  g_autoptr (JsonTree) task = NULL;

  child_start (child, LONG, NULL);
  child_hello (child, "2025-11-25");
  child_send_mail (child, "4", "");
  child_wait_calls (child, "Watch", 1);
  child_send (child, result);
  child_wait_calls (child, "Watch", 2);
  child_send (child, CANCEL ("5"));
  child_send (child, CANCEL ("4"));
  child_wait_calls (child, "Unwatch", 1);
  task = child_ask (child, REQUEST ("tasks/get", "\"taskId\":\"" MOCK_ID "\""));
  g_assert_cmpstr (text_at (task, "result.status"), ==, "working");
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Leave"), ==, 0);
}

static void
test_tasks_of_2026 (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) plain = NULL;
  g_autoptr (JsonTree) task = NULL;
  g_autoptr (JsonTree) got = NULL;
  g_autoptr (JsonTree) cancel = NULL;

  child_start (child, "--hold=0", NULL);
  plain = child_tool (child, "mail_send", ARGUMENTS, "," MODERN_META (""));
  check_pending (plain);
  g_assert_cmpstr (text_at (plain, "result.resultType"), ==, "complete");
  task = child_tool (child, "mail_send", ARGUMENTS, "," WITH_TASKS);
  g_assert_cmpstr (text_at (task, "result.resultType"), ==, "task");
  g_assert_cmpstr (text_at (task, "result.taskId"), ==, MOCK_ID);
  g_assert_cmpstr (text_at (task, "result.status"), ==, "working");
  cancel = child_ask (child, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/cancel\",\"params\":"
                             "{\"taskId\":\"" MOCK_ID "\"," WITH_TASKS "}}");
  g_assert_cmpstr (text_at (cancel, "result.resultType"), ==, "complete");
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 1);
  mock_set_state (child->mock, "denied", "no", NULL);
  got = child_ask (child, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":"
                          "{\"taskId\":\"" MOCK_ID "\"," WITH_TASKS "}}");
  g_assert_cmpstr (text_at (got, "result.status"), ==, "completed");
  g_assert_true (true_at (got, "result.result.isError"));
}

/* What each end is called, and what comes with it. */
static void
test_ends (Child *child, gconstpointer data)
{
  static const struct
  {
    const char *state, *executed, *of_2025, *of_2026;
    gboolean is_error;
  } rows[] = {
    { "approved", "no", "working", "working", FALSE },
    { "executing", "unknown", "working", "working", FALSE },
    { "done", "yes", "completed", "completed", FALSE },
    { "failed", "no", "failed", "completed", TRUE },
    { "unknown", "unknown", "failed", "completed", TRUE },
    { "denied", "no", "failed", "completed", TRUE },
    { "expired", "no", "failed", "completed", TRUE },
    { "refused", "no", "failed", "completed", TRUE },
    { "withdrawn", "no", "cancelled", "cancelled", FALSE },
  };

  child_start (child, "", NULL);
  child_hello (child, "2025-11-25");
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (JsonTree) old = NULL;
      g_autoptr (JsonTree) new = NULL;
      gboolean has_result = strcmp (rows[i].of_2026, "completed") == 0;

      g_test_message ("%s", rows[i].state);
      mock_set_state (child->mock, rows[i].state, rows[i].executed, NULL);
      old = child_ask (child, REQUEST ("tasks/get", "\"taskId\":\"" MOCK_ID "\""));
      new = child_ask (child, REQUEST ("tasks/get", "\"taskId\":\"" MOCK_ID "\"," WITH_TASKS));
      g_assert_cmpstr (text_at (old, "result.status"), ==, rows[i].of_2025);
      g_assert_cmpstr (text_at (new, "result.status"), ==, rows[i].of_2026);
      g_assert_null (at (old, "result.result"));
      g_assert_true ((at (new, "result.result") != NULL) == has_result);
      if (!has_result)
        continue;
      g_assert_cmpint (true_at (new, "result.result.isError"), ==, rows[i].is_error);
      g_assert_cmpstr (text_at (new, "result.result.structuredContent.executed"), ==,
                       rows[i].executed);
    }
}

/* No task can be given back: only what did nothing may read as a fault of the call. */
static void
test_no_task_of_2025 (Child *child, gconstpointer data)
{
  static const struct
  {
    const char *method, *name, *code, *state, *executed;
  } rows[] = {
    { "GetState", "Unavailable", "-32603", "unknown", "unknown" },
    { "Watch", "NotFound", "-32603", "unknown", "unknown" },
    { "Submit", "Unavailable", "-32603", "unknown", "unknown" },
    { "OpenRun", "Unavailable", "-32603", "refused", "no" },
    { "Submit", "InvalidArgument", "-32602", "refused", "no" },
    { "Submit", "Refused", "-32602", "refused", "no" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *name = g_strconcat ("org.undersign1.Error.", rows[i].name, NULL);
      g_autoptr (JsonTree) answer = NULL;

      g_test_message ("%s %s", rows[i].method, rows[i].name);
      mock_free (child->mock);
      child->mock = mock_new (bus_address (child->bus));
      mock_set_reply (child->mock, "ListRequests",
                      "([(objectpath '" MOCK_REQUEST "', 'mail.send', 'pending')],)");
      mock_set_error (child->mock, rows[i].method, name, "limit: as the test wants");
      child_start (child, LONG, NULL);
      child_hello (child, "2025-11-25");
      answer = child_tool (child, "mail_send", ARGUMENTS, ",\"task\":{}");
      g_assert_null (at (answer, "result"));
      g_assert_cmpstr (text_at (answer, "error.code"), ==, rows[i].code);
      g_assert_cmpstr (text_at (answer, "error.data.state"), ==, rows[i].state);
      g_assert_cmpstr (text_at (answer, "error.data.executed"), ==, rows[i].executed);
      g_assert_cmpstr (text_at (answer, "error.data.reason"), ==, "limit");
      g_assert_cmpstr (text_at (answer, "error.data.note"), ==, text_at (answer, "error.message"));
      g_assert_cmpint (child_end (child), ==, 0);
    }
}

/* --- subscriptions/listen --- */

#define LISTEN(id, wanted)                                                                         \
  "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"subscriptions/listen\",\"params\":{" wanted "}" \
  "}"
#define OTHER_ID "00000000000000000000000000000000"

static const char *
subscription_of (const JsonTree *params)
{
  return json_tree_get_string (json_tree_member (params, "_meta"), META_MCP "subscriptionId");
}

static void
test_listen_refused (Child *child, gconstpointer data)
{
  static const struct
  {
    const char *line, *code;
  } rows[] = {
    { LISTEN ("1", WITH_TASKS), "-32602" },
    { LISTEN ("1", WITH_TASKS ",\"notifications\":[]"), "-32602" },
    { LISTEN ("1", WITH_TASKS ",\"notifications\":{\"taskIds\":\"x\"}"), "-32602" },
    { LISTEN ("1", WITH_TASKS ",\"notifications\":{\"taskIds\":[7]}"), "-32602" },
    { LISTEN ("1", MODERN_META ("") ",\"notifications\":{\"taskIds\":[\"" MOCK_ID "\"]}"),
      "-32021" },
  };

  child_start (child, "", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (JsonTree) answer = child_ask (child, rows[i].line);

      g_test_message ("row %u", (guint) i);
      g_assert_cmpstr (text_at (answer, "error.code"), ==, rows[i].code);
    }
  g_assert_cmpuint (mock_calls (child->mock, NULL), ==, 0);
}

static void
check_told (const JsonTree *note, const char *status)
{
  const JsonTree *params = at (note, "params");

  g_assert_cmpstr (text_at (note, "method"), ==, "notifications/tasks");
  g_assert_null (at (note, "id"));
  g_assert_cmpstr (subscription_of (params), ==, "s");
  g_assert_cmpstr (text_at (params, "taskId"), ==, MOCK_ID);
  g_assert_cmpstr (text_at (params, "status"), ==, status);
  g_assert_nonnull (at (params, "result.content.0.text"));
}

/* What is no id or is there twice is left out; the end is told once, and ends the stream. */
static void
test_listen (Child *child, gconstpointer data)
{
  static const char line[] =
      LISTEN ("\"s\"", WITH_TASKS
              ",\"notifications\":{\"toolsListChanged\":true,\"taskIds\":[\"x\",\"" MOCK_ID
              "\",\"" MOCK_ID "\"]}");
  g_autoptr (JsonTree) acknowledged = NULL;
  g_autoptr (JsonTree) told = NULL;
  g_autoptr (JsonTree) end = NULL;
  g_autoptr (JsonTree) again = NULL;
  g_autoptr (JsonTree) at_once = NULL;
  g_autoptr (JsonTree) end_again = NULL;

  child_start (child, "", NULL);
  child_send (child, line);
  acknowledged = child_receive (child);
  g_assert_cmpstr (text_at (acknowledged, "method"), ==,
                   "notifications/subscriptions/acknowledged");
  g_assert_cmpstr (subscription_of (at (acknowledged, "params")), ==, "s");
  g_assert_cmpuint (json_tree_length (at (acknowledged, "params.notifications")), ==, 1);
  g_assert_cmpuint (json_tree_length (at (acknowledged, "params.notifications.taskIds")), ==, 1);
  child_wait_calls (child, "Watch", 1);
  mock_set_state (child->mock, "denied", "no", NULL);
  mock_emit_changed (child->mock, "denied");
  told = child_receive (child);
  check_told (told, "completed");
  end = child_receive (child);
  g_assert_cmpstr (text_at (end, "id"), ==, "s");
  g_assert_cmpstr (text_at (end, "result.resultType"), ==, "complete");
  g_assert_cmpstr (subscription_of (at (end, "result")), ==, "s");

  /* One that has ended is told of at once. */
  child_send (child, line);
  again = child_receive (child);
  at_once = child_receive (child);
  check_told (at_once, "completed");
  end_again = child_receive (child);
  g_assert_cmpstr (text_at (end_again, "id"), ==, "s");
}

/* Of another's tasks nothing is told; such a stream stays open until it is cancelled. */
static void
test_listen_to_nothing (Child *child, gconstpointer data)
{
  static const char *const wanted[] = {
    LISTEN ("\"s\"", WITH_TASKS ",\"notifications\":{\"taskIds\":[\"" OTHER_ID "\"]}"),
    LISTEN ("\"s\"", WITH_TASKS ",\"notifications\":{\"taskIds\":[]}"),
    LISTEN ("\"s\"", MODERN_META ("") ",\"notifications\":{\"toolsListChanged\":true}"),
  };

  mock_set_error (child->mock, "GetState", "org.undersign1.Error.NotFound", "not-found: test");
  child_start (child, "", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      g_autoptr (JsonTree) acknowledged = NULL;
      g_autoptr (JsonTree) list = NULL;

      child_send (child, wanted[i]);
      acknowledged = child_receive (child);
      g_assert_cmpstr (subscription_of (at (acknowledged, "params")), ==, "s");
      g_assert_cmpuint (json_tree_length (at (acknowledged, "params.notifications")), ==, 0);
      child_send (child, CANCEL ("\"s\""));
      /* The id is free again. */
      list = child_ask (child, REQUEST ("server/discover", MODERN_META ("")));
      g_assert_nonnull (at (list, "result"));
    }
}

/* Who listens has the id: that a call for the same is given up leaves nothing. */
static void
test_listen_is_delivery (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) acknowledged = NULL;

  mock_set_state (child->mock, "pending", "no", NULL);
  child_start (child, LONG, NULL);
  child_send_mail (child, "1", "," MODERN_META (""));
  child_wait_calls (child, "GetState", 1);
  child_send (child,
              LISTEN ("\"s\"", WITH_TASKS ",\"notifications\":{\"taskIds\":[\"" MOCK_ID "\"]}"));
  acknowledged = child_receive (child);
  g_assert_cmpstr (subscription_of (at (acknowledged, "params")), ==, "s");
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Leave"), ==, 0);
}

int
main (int argc, char *argv[])
{
  static const ChildTest tests[] = {
    { "listen-refused", test_listen_refused },
    { "listen-to-nothing", test_listen_to_nothing },
    { "listen-is-delivery", test_listen_is_delivery },
    { "listen", test_listen },
    { "ends", test_ends },
    { "no-task-of-2025", test_no_task_of_2025 },
    { "tasks-of-2025", test_tasks_of_2025 },
    { "cancelled-result", test_cancelled_result },
    { "tasks-of-2026", test_tasks_of_2026 },
  };

  return child_run_tests (argc, argv, "task", tests, G_N_ELEMENTS (tests));
}
