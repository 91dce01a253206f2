/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of tools against a service that says what the test wants: what is sent, and what is told.
 */
#include "tests/mcp/child.h"

#include <glib/gstdio.h>
#include <string.h>

#define LIST REQUEST ("tools/list", "\"cache\":true," MODERN_META (""))

static const char *
disposition_of (const JsonTree *answer)
{
  return json_tree_get_string (at (answer, "result._meta"), META_OWN "disposition");
}

/* --- what does not run --- */

static void
test_bad_arguments (Child *child, gconstpointer data)
{
  static const char *const bad[] = {
    "[]",
    "\"x\"",
    "{\"no-such\":\"x\"}",
    "{\"subject\":1}",
    "{\"to\":\"a@example.com\"}",
    "{\"letter\":\"/no/such/file\"}",
    "{\"letter\":\"/dev/zero\"}",
    "{\"urgent\":\"yes\"}",
  };

  child_begin (child, "");
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (JsonTree) answer = child_tool (child, "mail_send", bad[i], "");

      g_assert_true (true_at (answer, "result.isError"));
      g_assert_cmpstr (text_at (answer, "result.structuredContent.executed"), ==, "no");
      g_assert_cmpstr (disposition_of (answer), ==, "denied-not-executed");
    }
  g_assert_cmpuint (mock_calls (child->mock, "Submit"), ==, 0);
}

static void
test_bad_identity (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) answer = NULL;

  child_begin (child, "");
  answer = child_tool (child, "mail_send", ARGUMENTS, ",\"_meta\":{\"org.undersign1/run\":7}");
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
    { "ListActions", "NotAgent", "no" },
    { "DescribeAction", "UnknownAction", "no" },
    { "OpenRun", "InvalidArgument", "no" },
    { "ListRequests", "LimitExceeded", "no" },
    { "Submit", "Refused", "no" },
    { "Submit", "InvalidArgument", "no" },
    { "Submit", "LimitExceeded", "no" },
    { "Submit", "NoApprover", "no" },
    { "Submit", "Halted", "no" },
    { "Submit", "PolicyInvalid", "no" },
    { "GetState", "Unavailable", "unknown" },
    { "Watch", "NotFound", "unknown" },
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
      child_begin (child, "");
      answer = child_tool (child, "mail_send", ARGUMENTS, "");
      g_assert_true (true_at (answer, "result.isError"));
      g_assert_cmpstr (text_at (answer, "result.structuredContent.executed"), ==, rows[i].executed);
      g_assert_cmpstr (disposition_of (answer), ==,
                       strcmp (rows[i].executed, "no") == 0 ? "denied-not-executed"
                                                            : "outcome-unknown");
      g_assert_cmpstr (text_at (answer, "result.structuredContent.reason"), ==, "limit");
      g_assert_cmpint (child_end (child), ==, 0);
    }
}

/* There is no bus: nothing was asked for, and the results say so. */
static void
test_unreachable (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) list = NULL;
  g_autoptr (JsonTree) call = NULL;
  g_autoptr (JsonTree) status = NULL;

  child_start_apart (child);
  child_hello (child, "2025-06-18");
  list = child_ask (child, REQUEST ("tools/list", ""));
  g_assert_cmpstr (text_at (list, "error.code"), ==, "-32603");
  call = child_tool (child, "mail_send", ARGUMENTS, "");
  g_assert_true (true_at (call, "result.isError"));
  g_assert_cmpstr (text_at (call, "result.structuredContent.state"), ==, "refused");
  g_assert_cmpstr (text_at (call, "result.structuredContent.executed"), ==, "no");
  g_assert_cmpstr (disposition_of (call), ==, "denied-not-executed");
  status = child_tool (child, "request_status", "{\"request_id\":\"" MOCK_ID "\"}", "");
  g_assert_cmpstr (text_at (status, "result.structuredContent.executed"), ==, "unknown");
  g_assert_cmpstr (disposition_of (status), ==, "outcome-unknown");
}

/* Submit() ended without an answer: what the service has now decides what is said. */
static void
test_lost_submit (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) none = NULL;
  g_autoptr (JsonTree) unreadable = NULL;

  mock_set_error (child->mock, "Submit", "org.undersign1.Error.Unavailable", "unreachable: test");
  child_begin (child, "");
  none = child_tool (child, "mail_send", ARGUMENTS, "");
  g_assert_cmpstr (text_at (none, "result.structuredContent.executed"), ==, "no");
  g_assert_cmpuint (mock_calls (child->mock, "ListRequests"), ==, 2);

  /* The service dies of it. */
  mock_set_silent (child->mock, "Submit");
  child_send_mail (child, "1", "");
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
  } rows[] = { { "pending", "unknown" },     { "approved", "unknown" }, { "executing", "unknown" },
               { "of-tomorrow", "unknown" }, { "denied", "no" },        { "done", "no" } };

  mock_set_error (child->mock, "Submit", "org.undersign1.Error.Unavailable", "unreachable: test");
  child_begin (child, "");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *list = g_strdup_printf (
          "([(objectpath '" MOCK_REQUEST "', 'mail.send', '%s')],)", rows[i].state);
      g_autoptr (JsonTree) answer = NULL;

      mock_set_reply (child->mock, "ListRequests", list);
      answer = child_tool (child, "mail_send", ARGUMENTS, "");
      g_assert_cmpstr (text_at (answer, "result.structuredContent.executed"), ==, rows[i].executed);
    }
}

/* The list is cut: what the lost Submit() came to may be beyond its end. */
static void
test_lost_submit_beside_many (Child *child, gconstpointer data)
{
  GString *list = g_string_new ("([");
  g_autofree char *text = NULL;
  g_autoptr (JsonTree) answer = NULL;

  for (guint i = 0; i < 200; i++)
    g_string_append_printf (list, "%s(objectpath '/org/undersign1/request/%032x', 'a.b', 'done')",
                            i > 0 ? ", " : "", i);
  text = g_string_free (g_string_append (list, "],)"), FALSE);
  mock_set_reply (child->mock, "ListRequests", text);
  mock_set_error (child->mock, "Submit", "org.undersign1.Error.Unavailable", "unreachable: test");
  child_begin (child, "");
  answer = child_tool (child, "mail_send", ARGUMENTS, "");
  g_assert_cmpstr (text_at (answer, "result.structuredContent.executed"), ==, "unknown");
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
  mock_set_reply (
      child->mock, "ListActions",
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
  /* How long a call is held that says nothing of it. */
  g_assert_cmpstr (text_at (list, "result.tools.2.inputSchema.properties.wait_ms.maximum"), ==,
                   "4000");
  g_assert_cmpuint (mock_calls (child->mock, "OpenRun"), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Submit"), ==, 0);
}

/* --- pending --- */

static void
test_pending (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) answer = NULL;
  g_autofree char *submit = NULL;

  child_begin (child, "--hold=0");
  answer = child_tool (child, "mail_send", ARGUMENTS, "");
  check_pending (answer);
  submit = mock_body (child->mock, "Submit");
  g_assert_nonnull (strstr (submit, "'subject': <'Hello'>"));
  g_assert_nonnull (strstr (submit, "'to': <['a@example.com']>"));
  /* The client has the id: that it leaves changes nothing. */
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 0);
}

/* The next answer.  Of both times the server itself keeps the clock: within a hold of a fifth of a
 * second it can't tell of progress so often, once a second. */
#define NOTES_MAX 20

static JsonTree *
receive_in_the_hold (Child *child)
{
  JsonTree *message = child_receive (child);

  for (guint notes = 0; at (message, "id") == NULL; notes++)
    {
      g_assert_cmpstr (text_at (message, "method"), ==, "notifications/progress");
      g_assert_cmpuint (notes, <, NOTES_MAX);
      json_tree_free (message);
      message = child_receive (child);
    }
  return message;
}

/* Nobody answers: when the hold is over the call is, and longer than that nothing waits. */
static void
test_hold_ends (Child *child, gconstpointer data)
{
  static const char token[] = ",\"_meta\":{\"progressToken\":\"t\"}";
  g_autofree char *line = child_call (
      "1", "request_status", "{\"request_id\":\"" MOCK_ID "\",\"wait_ms\":999999}", token);
  g_autoptr (JsonTree) answer = NULL;
  g_autoptr (JsonTree) status = NULL;

  child_begin (child, "--hold=0.2");
  child_send_mail (child, "1", token);
  answer = receive_in_the_hold (child);
  check_pending (answer);
  child_send (child, line);
  status = receive_in_the_hold (child);
  check_pending (status);
  /* The client has the id. */
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Leave"), ==, 0);
}

static void
test_done_in_the_hold (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) answer = NULL;

  child_begin (child, LONG);
  child_send_mail (child, "1", "");
  child_wait_calls (child, "GetState", 1);
  mock_set_state (child->mock, "done", "yes", "'result': <'250 queued'>, 'resolved': <false>");
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

  child_begin (child, LONG);
  child_send_mail (child, "\"slow\"", "");
  child_wait_calls (child, "GetState", 1);
  pong = child_ask (child, REQUEST ("ping", ""));
  g_assert_nonnull (at (pong, "result"));
  child_send_mail (child, "\"slow\"", "");
  twice = child_receive (child);
  g_assert_cmpstr (text_at (twice, "error.code"), ==, "-32600");
  status = child_tool (child, "request_status", "{\"request_id\":\"" MOCK_ID "\"}", "");
  check_pending (status);
  mock_set_state (child->mock, "denied", "no", "'reason': <'not-now'>");
  mock_emit_changed (child->mock, "denied");
  first = child_receive (child);
  g_assert_cmpstr (text_at (first, "id"), ==, "slow");
  g_assert_cmpstr (text_at (first, "result.structuredContent.reason"), ==, "not-now");
  g_assert_cmpuint (mock_calls (child->mock, "Submit"), ==, 1);
}

/* --- the tools that are always there --- */

static void
test_status_and_cancel (Child *child, gconstpointer data)
{
  static const char *const bad[] = {
    "{}",
    "[]",
    "{\"request_id\":\"\"}",
    "{\"request_id\":7}",
    "{\"request_id\":\"" MOCK_ID "\",\"run\":\"x\"}",
    "{\"request_id\":\"" MOCK_ID "\",\"wait_ms\":-1}",
    "{\"request_id\":\"" MOCK_ID "\",\"wait_ms\":\"1\"}",
  };
  g_autoptr (JsonTree) withdrawn = NULL;
  g_autoptr (JsonTree) late = NULL;

  child_begin (child, "--hold=0");
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (JsonTree) status = child_tool (child, "request_status", bad[i], "");
      g_autoptr (JsonTree) cancel = child_tool (child, "request_cancel", bad[i], "");

      g_assert_true (true_at (status, "result.isError"));
      g_assert_true (true_at (cancel, "result.isError"));
      g_assert_cmpstr (text_at (status, "result.structuredContent.executed"), ==, "unknown");
      g_assert_cmpstr (disposition_of (status), ==, "outcome-unknown");
    }
  g_assert_cmpuint (mock_calls (child->mock, NULL), ==, 0);

  mock_set_state (child->mock, "withdrawn", "no", NULL);
  withdrawn = child_tool (child, "request_cancel", "{\"request_id\":\"" MOCK_ID "\"}", "");
  g_assert_cmpstr (text_at (withdrawn, "result.structuredContent.state"), ==, "withdrawn");
  g_assert_false (true_at (withdrawn, "result.isError"));
  mock_set_state (child->mock, "done", "yes", NULL);
  mock_set_error (child->mock, "Withdraw", "org.undersign1.Error.WrongState", "too-late: it ran");
  late = child_tool (child, "request_cancel", "{\"request_id\":\"" MOCK_ID "\"}", "");
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

  child_begin (child, LONG);
  child_send_mail (child, "1", ",\"_meta\":{\"progressToken\":\"t\"}");
  for (; seen < 2; seen++)
    {
      g_autoptr (JsonTree) note = child_receive (child);
      gint64 progress = g_ascii_strtoll (text_at (note, "params.progress"), NULL, 10);

      g_assert_cmpstr (text_at (note, "method"), ==, "notifications/progress");
      g_assert_cmpstr (text_at (note, "params.progressToken"), ==, "t");
      g_assert_nonnull (json_tree_string (at (note, "params.message")));
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

/* A token may be a number; the first revision has no words; and after the answer there is no more. */
static void
test_progress_of_2024 (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) status = NULL;

  child_start (child, LONG, NULL);
  child_hello (child, "2024-11-05");
  child_send_mail (child, "\"held\"", ",\"_meta\":{\"progressToken\":7}");
  for (guint seen = 0; seen < 2; seen++)
    {
      g_autoptr (JsonTree) note = child_receive (child);

      g_assert_cmpstr (json_tree_number (at (note, "params.progressToken")), ==, "7");
      g_assert_null (at (note, "params.message"));
    }
  mock_set_state (child->mock, "denied", "no", NULL);
  mock_emit_changed (child->mock, "denied");
  do
    {
      g_clear_pointer (&status, json_tree_free);
      status = child_receive (child);
    }
  while (at (status, "id") == NULL);
  g_assert_cmpstr (text_at (status, "id"), ==, "held");

  /* In the time of these the first would have come again. */
  mock_set_state (child->mock, "pending", "no", NULL);
  child_send_mail (child, "\"next\"", ",\"_meta\":{\"progressToken\":0}");
  for (guint seen = 0; seen < 3; seen++)
    {
      g_autoptr (JsonTree) note = child_receive (child);

      g_assert_cmpstr (json_tree_number (at (note, "params.progressToken")), ==, "0");
    }
  mock_set_state (child->mock, "denied", "no", NULL);
  mock_emit_changed (child->mock, "denied");
  do
    {
      g_clear_pointer (&status, json_tree_free);
      status = child_receive (child);
    }
  while (at (status, "id") == NULL);
}

/* --- identity --- */

static void
check_run (Child *child, const char *more, const char *label, const char *claim)
{
  g_autoptr (JsonTree) answer = child_tool (child, "mail_send", ARGUMENTS, more);
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
  check_run (child,
             ",\"_meta\":{\"org.undersign1/run\":\"from-meta\",\"org.undersign1/call\":\"c7\"}",
             "'from-meta'", "'claim': <'call c7'>");
  check_run (child, ",\"_meta\":{\"threadId\":\"t1\"}", "'from-argv'", "'claim': <'threadId t1'>");
  g_assert_cmpint (child_end (child), ==, 0);
  child_start (child, "--hold=0", "UNDERSIGN_PART=licences");
  child_hello (child, "2025-06-18");
  check_run (child, "", "'part': <'licences'>", "{}");
}

/* A client's name is no claim, whatever it calls itself and wherever. */
static void
test_identity_of_a_client (Child *child, gconstpointer data)
{
  static const char hello[] =
      REQUEST ("initialize",
               "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{"
               "\"name\":\"from-client\",\"version\":\"from-client\",\"title\":\"from-client\","
               "\"org.undersign1/run\":\"from-client\",\"run\":\"from-client\"}");
  static const char named[] =
      ",\"_meta\":{\"" META_MCP "clientInfo\":{\"name\":\"from-client\",\"version\":\"1\","
      "\"org.undersign1/call\":\"from-client\"}}";
  g_autoptr (JsonTree) greeted = NULL;

  child_start (child, "--hold=0", "UNDERSIGN_CALL=c9");
  greeted = child_ask (child, hello);
  g_assert_nonnull (at (greeted, "result"));
  for (gsize i = 0; i < 2; i++)
    {
      g_autofree char *run = NULL;
      g_autofree char *submit = NULL;

      check_run (child, i == 0 ? "" : named, "(@a{sv} {},)", "'claim': <'call c9'>");
      run = mock_body (child->mock, "OpenRun");
      submit = mock_body (child->mock, "Submit");
      g_assert_null (strstr (run, "from-client"));
      g_assert_null (strstr (submit, "from-client"));
    }
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
  child_begin (child, "--hold=0");
  answer = child_tool (child, "mail_send", arguments, "");
  g_unlink (path);
  check_pending (answer);
  content = mock_file (child->mock, 1);
  g_assert_cmpstr (content, ==, "a letter");
}

int
main (int argc, char *argv[])
{
  static const ChildTest tests[] = {
    { "bad-arguments", test_bad_arguments },
    { "bad-identity", test_bad_identity },
    { "refusals", test_refusals },
    { "lost-submit", test_lost_submit },
    { "lost-submit-beside-another", test_lost_submit_beside_another },
    { "lost-submit-beside-many", test_lost_submit_beside_many },
    { "list", test_list },
    { "pending", test_pending },
    { "hold-ends", test_hold_ends },
    { "done-in-the-hold", test_done_in_the_hold },
    { "concurrent", test_concurrent },
    { "status-and-cancel", test_status_and_cancel },
    { "progress", test_progress },
    { "progress-of-2024", test_progress_of_2024 },
    { "identity", test_identity },
    { "identity-of-a-client", test_identity_of_a_client },
    { "unreachable", test_unreachable },
    { "files", test_files },
  };

  return child_run_tests (argc, argv, "call", tests, G_N_ELEMENTS (tests));
}
