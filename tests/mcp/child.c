/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts the program, writes and reads lines, and waits for conditions, never for a time. */
#include "tests/mcp/child.h"

#include "agentlib/mcp/message.h"
#include "agentlib/mcp/text.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void
child_setup (Child *child, gconstpointer data)
{
  child->bus = bus_new ();
  child->mock = mock_new (bus_address (child->bus));
  child->rest = g_string_new (NULL);
  mock_set_reply (child->mock, "ListRequests", "(@a(oss) [],)");
}

void
child_teardown (Child *child, gconstpointer data)
{
  if (child->pid != 0)
    g_assert_cmpint (child_end (child), ==, 0);
  g_string_free (child->rest, TRUE);
  mock_free (child->mock);
  bus_free (child->bus);
}

/* In the child, before it executes. */
static void
die_with_parent (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

static void
start_at (Child *child, const char *address, const char *line, const char *variable)
{
  g_autofree char *uid = g_strdup_printf ("%u", getuid ());
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  g_auto (GStrv) environment = g_get_environ ();
  g_auto (GStrv) pair = variable != NULL ? g_strsplit (variable, "=", 2) : NULL;
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (argv, (gpointer) g_getenv ("TEST_MCP"));
  g_ptr_array_add (argv, (gpointer) address);
  g_ptr_array_add (argv, uid);
  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0')
      g_ptr_array_add (argv, words[i]);
  g_ptr_array_add (argv, NULL);
  if (pair != NULL)
    environment = g_environ_setenv (environment, pair[0], pair[1], TRUE);
  g_spawn_async_with_pipes (NULL, (char **) argv->pdata, environment, G_SPAWN_DO_NOT_REAP_CHILD,
                            die_with_parent, NULL, &child->pid, &child->in, &child->out, NULL,
                            &error);
  g_assert_no_error (error);
}

void
child_start (Child *child, const char *line, const char *variable)
{
  start_at (child, bus_address (child->bus), line, variable);
}

void
child_start_at (Child *child, const char *address)
{
  start_at (child, address, "", NULL);
}

void
child_start_apart (Child *child)
{
  child_start_at (child, "unix:path=/no/such/bus");
}

void
child_hello (Child *child, const char *version)
{
  g_autofree char *line = g_strdup_printf (
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"%s\","
      "\"capabilities\":{},\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}",
      version);
  g_autoptr (JsonTree) answer = child_ask (child, line);

  g_assert_cmpstr (text_at (answer, "result.protocolVersion"), ==, version);
  child_send (child, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

void
child_begin (Child *child, const char *line)
{
  child_start (child, line, NULL);
  child_hello (child, "2025-06-18");
}

void
child_send (Child *child, const char *line)
{
  g_autofree char *whole = g_strconcat (line, "\n", NULL);
  gsize len = strlen (whole);

  for (gsize done = 0; done < len;)
    {
      ssize_t put = TEMP_FAILURE_RETRY (write (child->in, whole + done, len - done));

      g_assert_cmpint (put, >, 0);
      done += (gsize) put;
    }
}

/* FALSE at the end. */
static gboolean
read_more (Child *child)
{
  struct pollfd wait = { .fd = child->out, .events = POLLIN };
  char piece[4096];
  ssize_t got;

  g_assert_cmpint (TEMP_FAILURE_RETRY (poll (&wait, 1, CHILD_PATIENCE_MS)), ==, 1);
  got = TEMP_FAILURE_RETRY (read (child->out, piece, sizeof piece));
  g_assert_cmpint (got, >=, 0);
  g_string_append_len (child->rest, piece, got);
  return got > 0;
}

JsonTree *
child_receive (Child *child)
{
  g_autoptr (GError) error = NULL;
  const char *end;
  JsonTree *tree;

  while ((end = strchr (child->rest->str, '\n')) == NULL)
    g_assert_true (read_more (child));
  g_test_message ("%.*s", (int) (end - child->rest->str), child->rest->str);
  tree = message_tree (child->rest->str, (gsize) (end - child->rest->str), &error);
  g_assert_no_error (error);
  g_string_erase (child->rest, 0, end - child->rest->str + 1);
  g_assert_cmpstr (text_at (tree, json_tree_kind (tree) == JSON_TREE_ARRAY ? "0.jsonrpc" : "jsonrpc"), ==,
                   "2.0");
  return tree;
}

JsonTree *
child_ask (Child *child, const char *line)
{
  JsonTree *answer;

  child_send (child, line);
  answer = child_receive (child);
  g_assert_cmpstr (text_at (answer, "id"), ==, "1");
  return answer;
}

JsonTree *
child_tool (Child *child, const char *name, const char *arguments, const char *more)
{
  g_autofree char *line = child_call ("1", name, arguments, more);

  return child_ask (child, line);
}

void
child_send_mail (Child *child, const char *id, const char *more)
{
  g_autofree char *line = child_call (id, "mail_send", ARGUMENTS, more);

  child_send (child, line);
}

void
child_close (Child *child)
{
  if (child->in >= 0)
    close (child->in);
  child->in = -1;
}

int
child_end (Child *child)
{
  int status = 0;

  child_close (child);
  while (read_more (child))
    ;
  g_assert_cmpstr (child->rest->str, ==, "");
  close (child->out);
  g_assert_cmpint (TEMP_FAILURE_RETRY (waitpid (child->pid, &status, 0)), ==, child->pid);
  g_assert_true (WIFEXITED (status));
  child->pid = 0;
  return WEXITSTATUS (status);
}

void
child_wait_calls (Child *child, const char *method, guint count)
{
  for (guint i = 0; mock_calls (child->mock, method) < count; i++)
    {
      g_assert_cmpuint (i, <, CHILD_PATIENCE_MS / 10);
      g_usleep (10 * 1000);
    }
}

char *
child_call (const char *id, const char *name, const char *arguments, const char *more)
{
  return g_strdup_printf ("{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":"
                          "{\"name\":\"%s\",\"arguments\":%s%s}}",
                          id, name, arguments, more);
}

void
check_pending (const JsonTree *answer)
{
  g_assert_false (true_at (answer, "result.isError"));
  g_assert_cmpstr (text_at (answer, "result.structuredContent.state"), ==, "pending");
  g_assert_cmpstr (text_at (answer, "result.structuredContent.executed"), ==, "no");
  g_assert_cmpstr (text_at (answer, "result.structuredContent.request_id"), ==, MOCK_ID);
  g_assert_nonnull (strstr (text_at (answer, "result.content.0.text"), "Nothing was executed."));
}

int
child_run_tests (int argc, char *argv[], const char *group, const ChildTest *tests, gsize count)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < count; i++)
    {
      g_autofree char *path = g_strdup_printf ("/mcp/%s/%s", group, tests[i].name);

      g_test_add (path, Child, NULL, child_setup, tests[i].test, child_teardown);
    }
  return g_test_run ();
}

const JsonTree *
at (const JsonTree *tree, const char *place)
{
  g_auto (GStrv) steps = g_strsplit (place, ".", -1);

  for (guint i = 0; steps[i] != NULL; i++)
    tree = json_tree_kind (tree) == JSON_TREE_ARRAY
               ? json_tree_item (tree, (guint) strtoul (steps[i], NULL, 10))
               : json_tree_member (tree, steps[i]);
  return tree;
}

const char *
text_at (const JsonTree *tree, const char *place)
{
  const JsonTree *found = at (tree, place);

  return json_tree_number (found) != NULL ? json_tree_number (found) : json_tree_string (found);
}

gboolean
true_at (const JsonTree *tree, const char *place)
{
  gboolean value = FALSE;

  return json_tree_boolean (at (tree, place), &value) && value;
}
