/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of tools against a service that says what the test wants: what is sent, what is told, what is
 * withdrawn when a caller leaves and what is left alone.
 */
#include "tests/mcp/child.h"

#include "agentlib/mcp/era.h"

#include <glib/gstdio.h>
#include <string.h>

#define ARGUMENTS "{\"to\":[\"a@example.com\"],\"subject\":\"Hello\"}"
#define LONG "--hold=3600"
#define CANCEL \
  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}"
#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define MODERN_META(more) \
  ",\"_meta\":{\"" META_MCP "protocolVersion\":\"2026-07-28\",\"" META_MCP \
  "clientCapabilities\":{" more "}}"
#define LIST \
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cache\":true" MODERN_META ("") "}}"
#define WITH_TASKS MODERN_META ("\"extensions\":{\"" EXTENSION_TASKS "\":{}}")

static JsonTree *
call (Child *child, const char *name, const char *arguments, const char *more)
{
  g_autofree char *line = child_call ("1", name, arguments, more);

  return child_ask (child, line);
}

static void
send_call (Child *child, const char *id, const char *arguments, const char *more)
{
  g_autofree char *line = child_call (id, "mail_send", arguments, more);

  child_send (child, line);
}

static void
hello (Child *child, const char *words)
{
  child_start (child, words, NULL);
  child_hello (child, "2025-06-18");
}

/* --- what does not run --- */

static void
test_bad_arguments (Child *child, gconstpointer data)
{
  static const char *const bad[] = {
    "[]", "\"x\"", "{\"no-such\":\"x\"}", "{\"subject\":1}", "{\"to\":\"a@example.com\"}",
    "{\"letter\":\"/no/such/file\"}", "{\"letter\":\"/dev/zero\"}", "{\"urgent\":\"yes\"}",
  };

  hello (child, "");
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (JsonTree) answer = call (child, "mail_send", bad[i], "");

      g_assert_true (true_at (answer, "result.isError"));
      g_assert_cmpstr (text_at (answer, "result.structuredContent.executed"), ==, "no");
    }
  g_assert_cmpuint (mock_calls (child->mock, "Submit"), ==, 0);
}

static void
test_bad_identity (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) answer = NULL;

  hello (child, "");
  answer = call (child, "mail_send", ARGUMENTS, ",\"_meta\":{\"org.undersign1/run\":7}");
  g_assert_true (true_at (answer, "result.isError"));
  g_assert_cmpuint (mock_calls (child->mock, NULL), ==, 0);
}

static void
test_refusals (Child *child, gconstpointer data)
{
  static const struct
  {
    const char *method, *name, *executed;
  } rows[] = {
    { "ListActions", "NotAgent", "no" },     { "DescribeAction", "UnknownAction", "no" },
    { "OpenRun", "InvalidArgument", "no" },  { "ListRequests", "LimitExceeded", "no" },
    { "Submit", "Refused", "no" },           { "Submit", "InvalidArgument", "no" },
    { "Submit", "LimitExceeded", "no" },     { "Submit", "NoApprover", "no" },
    { "Submit", "Halted", "no" },            { "Submit", "PolicyInvalid", "no" },
    { "GetState", "Unavailable", "unknown" }, { "Watch", "NotFound", "unknown" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *name = g_strconcat ("org.undersign1.Error.", rows[i].name, NULL);
      g_autoptr (JsonTree) answer = NULL;

      g_test_message ("%s %s", rows[i].method, rows[i].name);
      mock_free (child->mock);
      child->mock = mock_new (bus_address (child->bus));
      mock_set_reply (child->mock, "ListRequests", "(@a(oss) [],)");
      mock_set_error (child->mock, rows[i].method, name, "limit: as the test wants");
      hello (child, "");
      answer = call (child, "mail_send", ARGUMENTS, "");
      g_assert_true (true_at (answer, "result.isError"));
      g_assert_cmpstr (text_at (answer, "result.structuredContent.executed"), ==, rows[i].executed);
      g_assert_cmpstr (text_at (answer, "result.structuredContent.reason"), ==, "limit");
      g_assert_cmpint (child_end (child), ==, 0);
    }
}

/* Submit() ended without an answer: what the service has now decides what is said. */
static void
test_lost_submit (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) none = NULL;
  g_autoptr (JsonTree) unreadable = NULL;

  mock_set_error (child->mock, "Submit", "org.undersign1.Error.Unavailable", "unreachable: test");
  hello (child, "");
  none = call (child, "mail_send", ARGUMENTS, "");
  g_assert_cmpstr (text_at (none, "result.structuredContent.executed"), ==, "no");
  g_assert_cmpuint (mock_calls (child->mock, "ListRequests"), ==, 2);

  /* The service dies of it. */
  mock_set_silent (child->mock, "Submit");
  send_call (child, "1", ARGUMENTS, "");
  child_wait_calls (child, "Submit", 2);
  g_clear_pointer (&child->mock, mock_free);
  unreadable = child_receive (child);
  g_assert_cmpstr (text_at (unreadable, "result.structuredContent.executed"), ==, "unknown");
  g_assert_true (true_at (unreadable, "result.isError"));
}

/* What waited before may be what the lost Submit() came to: it may run. */
static void
test_lost_submit_beside_another (Child *child, gconstpointer data)
{
  static const struct
  {
    const char *state;
    const char *executed;
  } rows[] = { { "pending", "unknown" }, { "approved", "unknown" }, { "executing", "unknown" },
               { "of-tomorrow", "unknown" }, { "denied", "no" }, { "done", "no" } };

  mock_set_error (child->mock, "Submit", "org.undersign1.Error.Unavailable", "unreachable: test");
  hello (child, "");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *list = g_strdup_printf (
          "([(objectpath '" MOCK_REQUEST "', 'mail.send', '%s')],)", rows[i].state);
      g_autoptr (JsonTree) answer = NULL;

      mock_set_reply (child->mock, "ListRequests", list);
      answer = call (child, "mail_send", ARGUMENTS, "");
      g_assert_cmpstr (text_at (answer, "result.structuredContent.executed"), ==, rows[i].executed);
    }
}

/* --- the list --- */

static void
test_list (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) none = NULL;
  g_autoptr (JsonTree) list = NULL;
  g_autoptr (JsonTree) again = NULL;

  child_start (child, "", NULL);
  mock_set_error (child->mock, "ListActions", "org.undersign1.Error.NotAgent", "not-agent: test");
  none = child_ask (child, LIST);
  g_assert_cmpstr (text_at (none, "error.code"), ==, "-32603");
  mock_set_reply (child->mock, "ListActions",
                  "({'b.two': {'summary': <'B'>, 'effect': <'read'>, 'needs-approval': <'never'>},"
                  " 'a.one': {'summary': <'A'>, 'effect': <'read'>, 'needs-approval': <'never'>}},)");
  list = child_ask (child, LIST);
  again = child_ask (child, LIST);
  g_assert_true (json_tree_equal (list, again));
  g_assert_cmpuint (json_tree_length (at (list, "result.tools")), ==, 4);
  g_assert_cmpstr (text_at (list, "result.tools.0.name"), ==, "a_one");
  g_assert_cmpstr (text_at (list, "result.tools.1.name"), ==, "b_two");
  g_assert_cmpstr (text_at (list, "result.tools.2.name"), ==, "request_status");
  g_assert_cmpstr (text_at (list, "result.tools.3.name"), ==, "request_cancel");
  g_assert_cmpstr (text_at (list, "result.cacheScope"), ==, "private");
  g_assert_nonnull (at (list, "result.tools.0.inputSchema.properties.to"));
  g_assert_null (at (list, "result.tools.0.inputSchema.properties.list"));
  g_assert_cmpuint (mock_calls (child->mock, "OpenRun"), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Submit"), ==, 0);
}

/* --- pending --- */

static void
check_pending (const JsonTree *answer)
{
  g_assert_false (true_at (answer, "result.isError"));
  g_assert_cmpstr (text_at (answer, "result.structuredContent.state"), ==, "pending");
  g_assert_cmpstr (text_at (answer, "result.structuredContent.executed"), ==, "no");
  g_assert_cmpstr (text_at (answer, "result.structuredContent.request_id"), ==, MOCK_ID);
  g_assert_nonnull (strstr (text_at (answer, "result.content.0.text"), "Nothing was executed."));
}

static void
test_pending (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) answer = NULL;
  g_autofree char *submit = NULL;

  hello (child, "--hold=0");
  answer = call (child, "mail_send", ARGUMENTS, "");
  check_pending (answer);
  submit = mock_body (child->mock, "Submit");
  g_assert_nonnull (strstr (submit, "'subject': <'Hello'>"));
  g_assert_nonnull (strstr (submit, "'to': <['a@example.com']>"));
  /* The client has the id: that it leaves changes nothing. */
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 0);
}

static void
test_done_in_the_hold (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) answer = NULL;

  hello (child, LONG);
  send_call (child, "1", ARGUMENTS, "");
  child_wait_calls (child, "GetState", 1);
  mock_set_state (child->mock, "done", "yes", "'result': <'250 queued'>");
  mock_emit_changed (child->mock, "done");
  answer = child_receive (child);
  g_assert_false (true_at (answer, "result.isError"));
  g_assert_cmpstr (text_at (answer, "result.structuredContent.state"), ==, "done");
  g_assert_cmpstr (text_at (answer, "result.structuredContent.output"), ==, "250 queued");
}

/* While one call waits others are answered, in whatever order they end. */
static void
test_concurrent (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) pong = NULL;
  g_autoptr (JsonTree) twice = NULL;
  g_autoptr (JsonTree) status = NULL;
  g_autoptr (JsonTree) first = NULL;

  hello (child, LONG);
  send_call (child, "\"slow\"", ARGUMENTS, "");
  child_wait_calls (child, "GetState", 1);
  pong = child_ask (child, PING);
  g_assert_nonnull (at (pong, "result"));
  send_call (child, "\"slow\"", ARGUMENTS, "");
  twice = child_receive (child);
  g_assert_cmpstr (text_at (twice, "error.code"), ==, "-32600");
  status = call (child, "request_status", "{\"request_id\":\"" MOCK_ID "\"}", "");
  check_pending (status);
  mock_set_state (child->mock, "denied", "no", "'reason': <'not-now'>");
  mock_emit_changed (child->mock, "denied");
  first = child_receive (child);
  g_assert_cmpstr (text_at (first, "id"), ==, "slow");
  g_assert_cmpstr (text_at (first, "result.structuredContent.reason"), ==, "not-now");
  g_assert_cmpuint (mock_calls (child->mock, "Submit"), ==, 1);
}

/* --- leaving --- */

static void
test_cancel (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) pong = NULL;

  hello (child, LONG);
  send_call (child, "1", ARGUMENTS, "");
  child_wait_calls (child, "GetState", 1);
  child_send (child, CANCEL);
  child_wait_calls (child, "Withdraw", 1);
  /* The id is free again, and nothing was sent for its first use. */
  pong = child_ask (child, PING);
  g_assert_nonnull (at (pong, "result"));
  g_assert_null (at (pong, "result.content"));
}

static void
test_cancel_while_another_waits (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) pong = NULL;

  hello (child, LONG);
  send_call (child, "1", ARGUMENTS, "");
  send_call (child, "2", ARGUMENTS, "");
  child_wait_calls (child, "GetState", 2);
  child_send (child, CANCEL);
  pong = child_ask (child, PING);
  g_assert_nonnull (at (pong, "result"));
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 0);
  /* The other leaves too. */
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 1);
}

/* Another process of the agent waits for the same request, says the service. */
static void
test_cancel_while_a_process_waits (Child *child, gconstpointer data)
{
  hello (child, LONG);
  mock_set_state (child->mock, "pending", "no", "'watchers': <uint32 2>");
  send_call (child, "1", ARGUMENTS, "");
  child_wait_calls (child, "GetState", 1);
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "GetState"), >=, 2);
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 0);
}

/* An identical call found the request of an earlier process: it is not its own to take back. */
static void
test_cancel_of_another_process (Child *child, gconstpointer data)
{
  mock_set_reply (child->mock, "ListRequests",
                  "([(objectpath '" MOCK_REQUEST "', 'mail.send', 'pending')],)");
  hello (child, LONG);
  send_call (child, "1", ARGUMENTS, "");
  child_wait_calls (child, "GetState", 1);
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 0);
}

static void
test_end_of_input (Child *child, gconstpointer data)
{
  hello (child, LONG);
  send_call (child, "1", ARGUMENTS, "");
  child_wait_calls (child, "GetState", 1);
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 1);
}

/* --- the tools that are always there --- */

static void
test_status_and_cancel (Child *child, gconstpointer data)
{
  static const char *const bad[] = {
    "{}", "[]", "{\"request_id\":\"\"}", "{\"request_id\":7}",
    "{\"request_id\":\"" MOCK_ID "\",\"run\":\"x\"}",
    "{\"request_id\":\"" MOCK_ID "\",\"wait_ms\":-1}",
    "{\"request_id\":\"" MOCK_ID "\",\"wait_ms\":\"1\"}",
  };
  g_autoptr (JsonTree) withdrawn = NULL;
  g_autoptr (JsonTree) late = NULL;

  hello (child, "--hold=0");
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (JsonTree) status = call (child, "request_status", bad[i], "");
      g_autoptr (JsonTree) cancel = call (child, "request_cancel", bad[i], "");

      g_assert_true (true_at (status, "result.isError"));
      g_assert_true (true_at (cancel, "result.isError"));
      g_assert_cmpstr (text_at (status, "result.structuredContent.executed"), ==, "unknown");
    }
  g_assert_cmpuint (mock_calls (child->mock, NULL), ==, 0);

  mock_set_state (child->mock, "withdrawn", "no", NULL);
  withdrawn = call (child, "request_cancel", "{\"request_id\":\"" MOCK_ID "\"}", "");
  g_assert_cmpstr (text_at (withdrawn, "result.structuredContent.state"), ==, "withdrawn");
  g_assert_false (true_at (withdrawn, "result.isError"));
  mock_set_state (child->mock, "done", "yes", NULL);
  mock_set_error (child->mock, "Withdraw", "org.undersign1.Error.WrongState", "too-late: it ran");
  late = call (child, "request_cancel", "{\"request_id\":\"" MOCK_ID "\"}", "");
  g_assert_true (true_at (late, "result.isError"));
  g_assert_cmpstr (text_at (late, "result.structuredContent.executed"), ==, "yes");
}

/* --- progress --- */

static void
test_progress (Child *child, gconstpointer data)
{
  gint64 last = 0;
  g_autoptr (JsonTree) answer = NULL;
  guint seen = 0;

  hello (child, LONG);
  send_call (child, "1", ARGUMENTS, ",\"_meta\":{\"progressToken\":\"t\"}");
  for (; seen < 2; seen++)
    {
      g_autoptr (JsonTree) note = child_receive (child);
      gint64 progress = g_ascii_strtoll (text_at (note, "params.progress"), NULL, 10);

      g_assert_cmpstr (text_at (note, "method"), ==, "notifications/progress");
      g_assert_cmpstr (text_at (note, "params.progressToken"), ==, "t");
      g_assert_null (at (note, "id"));
      g_assert_cmpint (progress, >, last);
      last = progress;
    }
  mock_set_state (child->mock, "expired", "no", NULL);
  mock_emit_changed (child->mock, "expired");
  do
    {
      g_clear_pointer (&answer, json_tree_free);
      answer = child_receive (child);
    }
  while (at (answer, "id") == NULL);
  g_assert_cmpstr (text_at (answer, "result.structuredContent.state"), ==, "expired");
}

/* --- identity --- */

static void
check_run (Child *child, const char *more, const char *label, const char *claim)
{
  g_autoptr (JsonTree) answer = call (child, "mail_send", ARGUMENTS, more);
  g_autofree char *run = mock_body (child->mock, "OpenRun");
  g_autofree char *submit = mock_body (child->mock, "Submit");

  g_assert_nonnull (at (answer, "result"));
  g_assert_nonnull (strstr (run, label));
  g_assert_nonnull (strstr (submit, claim));
}

static void
test_identity (Child *child, gconstpointer data)
{
  child_start (child, "--hold=0 --run=from-argv", "UNDERSIGN_RUN=from-env");
  child_hello (child, "2025-06-18");
  check_run (child, "", "'from-argv'", "{}");
  check_run (child, ",\"_meta\":{\"org.undersign1/run\":\"from-meta\",\"org.undersign1/call\":\"c7\"}",
             "'from-meta'", "'claim': <'call c7'>");
  g_assert_cmpint (child_end (child), ==, 0);
  child_start (child, "--hold=0", "UNDERSIGN_PART=licences");
  child_hello (child, "2025-06-18");
  check_run (child, "", "'part': <'licences'>", "{}");
}

/* --- files --- */

static void
test_files (Child *child, gconstpointer data)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "undersign-mcp-XXXXXX", NULL);
  int fd = g_mkstemp (path);
  g_autofree char *arguments = NULL;
  g_autofree char *content = NULL;
  g_autoptr (JsonTree) answer = NULL;

  g_assert_cmpint (fd, >=, 0);
  close (fd);
  g_assert_true (g_file_set_contents (path, "a letter", -1, NULL));
  arguments = g_strdup_printf ("{\"letter\":\"%s\",\"attachment\":[\"%s\"]}", path, path);
  hello (child, "--hold=0");
  answer = call (child, "mail_send", arguments, "");
  g_unlink (path);
  check_pending (answer);
  content = mock_file (child->mock, 1);
  g_assert_cmpstr (content, ==, "a letter");
}

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
  task = call (child, "mail_send", ARGUMENTS, ",\"task\":{\"ttl\":60000}");
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
  g_assert_cmpstr (json_tree_get_string (json_tree_member (at (result, "result._meta"),
                                                           META_MCP "related-task"),
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

static void
test_tasks_of_2026 (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) plain = NULL;
  g_autoptr (JsonTree) task = NULL;
  g_autoptr (JsonTree) got = NULL;
  g_autoptr (JsonTree) cancel = NULL;

  child_start (child, "--hold=0", NULL);
  plain = call (child, "mail_send", ARGUMENTS, MODERN_META (""));
  check_pending (plain);
  g_assert_cmpstr (text_at (plain, "result.resultType"), ==, "complete");
  task = call (child, "mail_send", ARGUMENTS, WITH_TASKS);
  g_assert_cmpstr (text_at (task, "result.resultType"), ==, "task");
  g_assert_cmpstr (text_at (task, "result.taskId"), ==, MOCK_ID);
  g_assert_cmpstr (text_at (task, "result.status"), ==, "working");
  cancel = child_ask (child, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/cancel\",\"params\":"
                             "{\"taskId\":\"" MOCK_ID "\"" WITH_TASKS "}}");
  g_assert_cmpstr (text_at (cancel, "result.resultType"), ==, "complete");
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 1);
  mock_set_state (child->mock, "denied", "no", NULL);
  got = child_ask (child, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":"
                          "{\"taskId\":\"" MOCK_ID "\"" WITH_TASKS "}}");
  g_assert_cmpstr (text_at (got, "result.status"), ==, "completed");
  g_assert_true (true_at (got, "result.result.isError"));
}

int
main (int argc, char *argv[])
{
  static const struct
  {
    const char *name;
    void (*test) (Child *child, gconstpointer data);
  } tests[] = {
    { "bad-arguments", test_bad_arguments },
    { "bad-identity", test_bad_identity },
    { "refusals", test_refusals },
    { "lost-submit", test_lost_submit },
    { "lost-submit-beside-another", test_lost_submit_beside_another },
    { "list", test_list },
    { "pending", test_pending },
    { "done-in-the-hold", test_done_in_the_hold },
    { "concurrent", test_concurrent },
    { "cancel", test_cancel },
    { "cancel-while-another-waits", test_cancel_while_another_waits },
    { "cancel-while-a-process-waits", test_cancel_while_a_process_waits },
    { "cancel-of-another-process", test_cancel_of_another_process },
    { "end-of-input", test_end_of_input },
    { "status-and-cancel", test_status_and_cancel },
    { "progress", test_progress },
    { "identity", test_identity },
    { "files", test_files },
    { "tasks-of-2025", test_tasks_of_2025 },
    { "tasks-of-2026", test_tasks_of_2026 },
  };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path = g_strconcat ("/mcp/call/", tests[i].name, NULL);

      g_test_add (path, Child, NULL, child_setup, tests[i].test, child_teardown);
    }
  return g_test_run ();
}
