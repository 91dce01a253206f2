/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program on its pipes: what it refuses, how it greets, that it asks nobody before it must. */
#include "tests/mcp/child.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL_WITHOUT_ID                                                                            \
  "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"mail_send\","             \
  "\"arguments\":{\"subject\":\"x\"}}}"

/* Nothing that a client writes ends the program, and each is answered by its code. */
static void
test_bad_lines (Child *child, gconstpointer data)
{
  static const struct
  {
    const char *line, *code;
  } rows[] = {
    { "x", "-32700" },
    { "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"method\":\"ping\"}", "-32700" },
    { "[]", "-32600" },
    { "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "-32600" },
    { "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "-32600" },
    { REQUEST ("no/such", ""), "-32601" },
    { REQUEST ("logging/setLevel", "\"level\":\"debug\""), "-32601" },
    { REQUEST ("tasks/list", ""), "-32601" },
    { REQUEST ("tools/list", ""), "-32602" },
    { REQUEST ("server/discover", ""), "-32602" },
    { REQUEST ("initialize", ""), "-32602" },
    { REQUEST ("tools/call", MODERN_META ("")), "-32602" },
    { REQUEST ("tools/call", MODERN_META ("") ",\"name\":7"), "-32602" },
    { REQUEST ("tools/call", MODERN_META ("") ",\"name\":\"no_such\""), "-32602" },
    { REQUEST ("tools/call", MODERN_META ("") ",\"name\":\"mail.send\""), "-32602" },
    { REQUEST ("tools/list", MODERN_META ("") ",\"cursor\":\"x\""), "-32602" },
    { REQUEST ("tools/list", "\"_meta\":{\"" META_MCP "protocolVersion\":\"2026-07-28\"}"),
      "-32602" },
    { REQUEST ("tools/list", "\"_meta\":{\"" META_MCP "protocolVersion\":\"2099-01-01\",\"" META_MCP
                             "clientCapabilities\":{}}"),
      "-32022" },
    { REQUEST ("ping", MODERN_META ("")), "-32601" },
    { REQUEST ("tasks/result", MODERN_META ("")), "-32601" },
    { REQUEST ("tasks/get", MODERN_META ("") ",\"taskId\":\"" MOCK_ID "\""), "-32021" },
  };

  child_start (child, "", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (JsonTree) answer = NULL;

      g_test_message ("row %u", (guint) i);
      child_send (child, rows[i].line);
      answer = child_receive (child);
      g_assert_cmpstr (text_at (answer, "error.code"), ==, rows[i].code);
      g_assert_null (at (answer, "result"));
    }
  g_assert_cmpuint (mock_calls (child->mock, "Submit"), ==, 0);
}

static void
test_long_line (Child *child, gconstpointer data)
{
  g_autofree char *line = g_strnfill (3 * 1024 * 1024, ' ');
  g_autoptr (JsonTree) answer = NULL;
  g_autoptr (JsonTree) pong = NULL;

  child_start (child, "", NULL);
  child_send (child, line);
  answer = child_receive (child);
  g_assert_cmpstr (text_at (answer, "error.code"), ==, "-32700");
  pong = child_ask (child, REQUEST ("ping", ""));
  g_assert_nonnull (at (pong, "result"));
}

/* Of 1 MiB without its end, and no byte more. */
static void
test_longest_line (Child *child, gconstpointer data)
{
  child_start (child, "", NULL);
  for (gsize more = 0; more < 2; more++)
    {
      g_autoptr (GString) line = g_string_new (REQUEST ("ping", ""));
      g_autofree char *rest = g_strnfill (1024 * 1024 + more - line->len, ' ');
      g_autoptr (JsonTree) answer = NULL;

      g_string_append (line, rest);
      child_send (child, line->str);
      answer = child_receive (child);
      g_assert_cmpint (at (answer, "result") != NULL, ==, more == 0);
      g_assert_cmpint (at (answer, "error") != NULL, ==, more == 1);
    }
}

/* What is not answered: notifications, responses, a tool called without an id. */
static void
test_silence (Child *child, gconstpointer data)
{
  static const char *const lines[] = {
    "",
    "\r",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":77}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":{}}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}",
    CALL_WITHOUT_ID,
  };
  g_autoptr (JsonTree) pong = NULL;

  child_start (child, "", NULL);
  child_hello (child, "2025-06-18");
  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    child_send (child, lines[i]);
  pong = child_ask (child, REQUEST ("ping", ""));
  g_assert_nonnull (at (pong, "result"));
  g_assert_cmpuint (mock_calls (child->mock, NULL), ==, 0);
}

static void
test_versions (Child *child, gconstpointer data)
{
  static const struct
  {
    const char *asked, *given;
    gboolean tasks;
  } rows[] = {
    { "2024-11-05", "2024-11-05", FALSE }, { "2025-03-26", "2025-03-26", FALSE },
    { "2025-06-18", "2025-06-18", FALSE }, { "2025-11-25", "2025-11-25", TRUE },
    { "2026-07-28", "2025-11-25", TRUE },  { "1999-01-01", "2025-11-25", TRUE },
  };

  child_start (child, "", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *line =
          g_strdup_printf ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
                           "{\"protocolVersion\":\"%s\"}}",
                           rows[i].asked);
      g_autoptr (JsonTree) answer = child_ask (child, line);

      g_assert_cmpstr (text_at (answer, "result.protocolVersion"), ==, rows[i].given);
      g_assert_nonnull (at (answer, "result.capabilities.tools"));
      g_assert_true ((at (answer, "result.capabilities.tasks.requests.tools.call") != NULL) ==
                     rows[i].tasks);
      g_assert_null (at (answer, "result.resultType"));
      g_assert_cmpstr (text_at (answer, "result.serverInfo.name"), ==, "undersign-mcp");
    }
}

/* The era is that of each message, whatever came before it; and nobody was asked for any of it. */
static void
test_eras (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) first = NULL;
  g_autoptr (JsonTree) again = NULL;
  g_autoptr (JsonTree) pong = NULL;
  g_autoptr (JsonTree) gone = NULL;

  child_start (child, "", NULL);
  first = child_ask (child, REQUEST ("server/discover", MODERN_META ("")));
  g_assert_cmpstr (text_at (first, "result.supportedVersions.0"), ==, "2026-07-28");
  g_assert_cmpstr (text_at (first, "result.supportedVersions.4"), ==, "2024-11-05");
  g_assert_cmpstr (text_at (first, "result.resultType"), ==, "complete");
  g_assert_nonnull (
      json_tree_member (at (first, "result.capabilities.extensions"), EXTENSION_TASKS));
  child_hello (child, "2024-11-05");
  again = child_ask (child, REQUEST ("server/discover", MODERN_META ("")));
  g_assert_true (json_tree_equal (first, again));
  pong = child_ask (child, REQUEST ("ping", ""));
  g_assert_nonnull (at (pong, "result"));
  gone = child_ask (child, REQUEST ("server/discover", ""));
  g_assert_cmpstr (text_at (gone, "error.code"), ==, "-32601");
  g_assert_cmpuint (mock_calls (child->mock, NULL), ==, 0);
}

static void
test_ids (Child *child, gconstpointer data)
{
  static const char *const ids[] = { "0",
                                     "-1",
                                     "12345678901234567890123",
                                     "\"\"",
                                     "\"1\"",
                                     "\"server-discover-probe-1\"",
                                     "\"\\u00e9\\n\"" };

  child_start (child, "", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      g_autofree char *line =
          g_strdup_printf ("{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", ids[i]);
      g_autoptr (JsonTree) answer = NULL;
      g_autoptr (JsonTree) id =
          json_tree_parse (ids[i], strlen (ids[i]), &(JsonLimits){ 1000, 1, 1000, 1 }, NULL);

      child_send (child, line);
      answer = child_receive (child);
      g_assert_true (json_tree_equal (at (answer, "id"), id));
    }
}

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":\"" id "\",\"method\":\"ping\"}"
#define NOTE "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

/* What is told of a batch: one line, and nothing for what has no answer. */
static void
test_batches (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) answers = NULL;
  g_autoptr (JsonTree) empty = NULL;
  g_autoptr (JsonTree) pong = NULL;

  child_start (child, "", NULL);
  child_hello (child, "2025-03-26");
  child_send (child, "[" PING ("a") "," NOTE ",7," PING ("b") "," CALL_WITHOUT_ID "]");
  answers = child_receive (child);
  g_assert_cmpuint (json_tree_length (answers), ==, 3);
  g_assert_cmpstr (text_at (answers, "0.id"), ==, "a");
  g_assert_cmpstr (text_at (answers, "1.error.code"), ==, "-32600");
  g_assert_cmpstr (text_at (answers, "2.id"), ==, "b");
  child_send (child, "[" NOTE "," CALL_WITHOUT_ID "]");
  child_send (child, "[]");
  empty = child_receive (child);
  g_assert_cmpstr (text_at (empty, "error.code"), ==, "-32600");
  pong = child_ask (child, REQUEST ("ping", ""));
  g_assert_nonnull (at (pong, "result"));
  g_assert_cmpuint (mock_calls (child->mock, "Submit"), ==, 0);
}

/* A call that is held holds the answer to its batch, and nothing else; one that is cancelled, no more. */
static void
test_batch_held (Child *child, gconstpointer data)
{
  g_autofree char *call = child_call ("\"held\"", "mail_send", ARGUMENTS, "");
  g_autofree char *other = child_call ("\"gone\"", "mail_send", ARGUMENTS, "");
  g_autofree char *batch = g_strdup_printf ("[%s," PING ("a") ",%s]", call, other);
  g_autoptr (JsonTree) pong = NULL;
  g_autoptr (JsonTree) answers = NULL;

  child_start (child, LONG, NULL);
  child_hello (child, "2025-03-26");
  child_send (child, batch);
  child_wait_calls (child, "Watch", 2);
  child_send (child, CANCEL ("\"gone\""));
  pong = child_ask (child, REQUEST ("ping", ""));
  g_assert_nonnull (at (pong, "result"));
  mock_set_state (child->mock, "done", "yes", NULL);
  mock_emit_changed (child->mock, "done");
  answers = child_receive (child);
  g_assert_cmpuint (json_tree_length (answers), ==, 2);
  g_assert_cmpstr (text_at (answers, "0.id"), ==, "a");
  g_assert_cmpstr (text_at (answers, "1.id"), ==, "held");
  g_assert_cmpint (child_end (child), ==, 0);
}

static void
test_words (Child *child, gconstpointer data)
{
  static const char *const bad[] = { "--hold=x",  "--hold=-1", "--hold=4000",       "--hold=nan",
                                     "--no-such", "word",      "--bus=unix:path=/x" };

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      child_start (child, bad[i], NULL);
      g_assert_cmpint (child_end (child), ==, 126);
    }
}

/* The service is away: greetings are answered all the same, and a call says that nothing ran. */
static void
test_no_service (Child *child, gconstpointer data)
{
  g_autofree char *call = child_call ("1", "mail_send", "{}", "");
  g_autoptr (JsonTree) list = NULL;
  g_autoptr (JsonTree) answer = NULL;

  g_clear_pointer (&child->mock, mock_free);
  child_start (child, "", NULL);
  child_hello (child, "2025-06-18");
  list = child_ask (child, REQUEST ("tools/list", ""));
  g_assert_cmpstr (text_at (list, "error.code"), ==, "-32603");
  answer = child_ask (child, call);
  g_assert_true (true_at (answer, "result.isError"));
  g_assert_cmpstr (text_at (answer, "result.structuredContent.executed"), ==, "no");
  g_assert_nonnull (strstr (text_at (answer, "result.content.0.text"), "Nothing was executed."));
}

/* A client that writes and never reads is left, with what it asked for left. */
static void
test_no_reader (Child *child, gconstpointer data)
{
  g_autofree char *id = g_strnfill (250, 'x');
  g_autofree char *line =
      g_strdup_printf ("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"no/such\"}\n", id);
  int status = 0;

  signal (SIGPIPE, SIG_IGN);
  mock_set_state (child->mock, "pending", "no", NULL);
  child_begin (child, LONG);
  child_send_mail (child, "1", "");
  child_wait_calls (child, "GetState", 1);
  while (TEMP_FAILURE_RETRY (write (child->in, line, strlen (line))) > 0)
    ;
  g_assert_cmpint (TEMP_FAILURE_RETRY (waitpid (child->pid, &status, 0)), ==, child->pid);
  child->pid = 0;
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Leave"), ==, 1);
  child_close (child);
  close (child->out);
}

/* No more than 64 at once; one that ends makes room. */
static void
test_too_many (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) refused = NULL;
  gboolean has_room = FALSE;

  mock_set_silent (child->mock, "ListActions");
  child_begin (child, LONG);
  for (guint i = 1; i <= 64; i++)
    {
      g_autofree char *id = g_strdup_printf ("%u", 1000 + i);

      child_send_mail (child, id, "");
    }
  child_send_mail (child, "\"more\"", "");
  child_send (child, REQUEST ("ping", ""));
  refused = child_receive (child);
  g_assert_cmpstr (text_at (refused, "id"), ==, "more");
  g_assert_cmpstr (text_at (refused, "error.code"), ==, "-32600");
  g_clear_pointer (&refused, json_tree_free);
  refused = child_receive (child);
  g_assert_cmpstr (text_at (refused, "error.code"), ==, "-32600");
  child_send (child, CANCEL ("1007"));
  while (!has_room)
    {
      g_autoptr (JsonTree) pong = child_ask (child, REQUEST ("ping", ""));

      has_room = at (pong, "result") != NULL;
    }
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Submit"), ==, 0);
}

/* What a client waits for is not much work, and none of it is the bus's.  The times of the process
 * itself, and the best of a few of them, say nothing of how busy the machine is. */
#define CPU_MAX_US (50 * 1000)
#define CPU_TRIES 5

static gint64
time_of (const struct timeval *time)
{
  return time->tv_sec * (gint64) G_USEC_PER_SEC + time->tv_usec;
}

static gint64
cpu_to_first_answer (Child *child)
{
  struct rusage used;
  int status = 0;

  child_start (child, "", NULL);
  child_hello (child, "2025-11-25");
  child_close (child);
  g_assert_cmpint (TEMP_FAILURE_RETRY (wait4 (child->pid, &status, 0, &used)), ==, child->pid);
  g_assert_true (WIFEXITED (status));
  child->pid = 0;
  close (child->out);
  return time_of (&used.ru_utime) + time_of (&used.ru_stime);
}

static void
test_first_answer (Child *child, gconstpointer data)
{
  /* Sanitizers begin slowly. */
  const gint64 most = g_getenv ("TEST_MCP_SANITIZED") != NULL ? 4 * CPU_MAX_US : CPU_MAX_US;
  gint64 best = G_MAXINT64;

  for (guint i = 0; i < CPU_TRIES && best >= most; i++)
    best = MIN (best, cpu_to_first_answer (child));
  g_test_message ("%" G_GINT64_FORMAT " us", best);
  g_assert_cmpint (best, <, most);
}

/* A bus that hangs up on everyone, and how many came. */
typedef struct
{
  int fd;
  guint came; /* (atomic) */
} Door;

static gpointer
door_keep (gpointer data)
{
  Door *door = data;
  int fd;

  while ((fd = TEMP_FAILURE_RETRY (accept (door->fd, NULL, NULL))) >= 0)
    {
      g_atomic_int_inc (&door->came);
      close (fd);
    }
  return NULL;
}

/* Until there is a request for tools it does not come to the bus. */
static void
test_no_bus_before_tools (Child *child, gconstpointer data)
{
  struct sockaddr_un name = { .sun_family = AF_UNIX };
  g_autofree char *folder = g_dir_make_tmp ("undersign-mcp-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "bus", NULL);
  g_autofree char *address = g_strconcat ("unix:path=", path, NULL);
  Door door = { socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), 0 };
  g_autoptr (JsonTree) found = NULL;
  g_autoptr (JsonTree) tools = NULL;
  GThread *keeper;

  g_assert_cmpuint (g_strlcpy (name.sun_path, path, sizeof name.sun_path), <, sizeof name.sun_path);
  g_assert_cmpint (bind (door.fd, (struct sockaddr *) &name, sizeof name), ==, 0);
  g_assert_cmpint (listen (door.fd, 8), ==, 0);
  keeper = g_thread_new ("door", door_keep, &door);

  child_start_at (child, address);
  found = child_ask (child, REQUEST ("server/discover", MODERN_META ("")));
  g_assert_nonnull (at (found, "result.supportedVersions"));
  child_hello (child, "2025-11-25");
  g_assert_cmpuint (g_atomic_int_get (&door.came), ==, 0);
  tools = child_ask (child, REQUEST ("tools/list", ""));
  g_assert_cmpstr (text_at (tools, "error.code"), ==, "-32603");
  g_assert_cmpuint (g_atomic_int_get (&door.came), >, 0);

  g_assert_cmpint (child_end (child), ==, 0);
  shutdown (door.fd, SHUT_RDWR);
  g_thread_join (keeper);
  close (door.fd);
  g_unlink (path);
  g_rmdir (folder);
}

/* Until there is a request for tools it needs no bus. */
static void
test_greets_without_a_bus (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) found = NULL;
  g_autoptr (JsonTree) pong = NULL;

  child_start_apart (child);
  child_hello (child, "2025-11-25");
  pong = child_ask (child, REQUEST ("ping", ""));
  g_assert_nonnull (at (pong, "result"));
  found = child_ask (child, REQUEST ("server/discover", MODERN_META ("")));
  g_assert_nonnull (at (found, "result.supportedVersions"));
  g_assert_cmpint (child_end (child), ==, 0);
}

int
main (int argc, char *argv[])
{
  static const ChildTest tests[] = {
    { "greets-without-a-bus", test_greets_without_a_bus },
    { "bad-lines", test_bad_lines },
    { "long-line", test_long_line },
    { "longest-line", test_longest_line },
    { "silence", test_silence },
    { "versions", test_versions },
    { "eras", test_eras },
    { "ids", test_ids },
    { "batches", test_batches },
    { "batch-held", test_batch_held },
    { "words", test_words },
    { "no-service", test_no_service },
    { "no-reader", test_no_reader },
    { "too-many", test_too_many },
    { "first-answer", test_first_answer },
    { "no-bus-before-tools", test_no_bus_before_tools },
  };

  return child_run_tests (argc, argv, "server", tests, G_N_ELEMENTS (tests));
}
