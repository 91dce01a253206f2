/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: its exit statuses, what it sends, and that what it prints is safe. */
#include "tests/agentlib/bus.h"
#include "tests/agentlib/mock.h"

#include "agentlib/lib/undersign.h"

#include <json-glib/json-glib.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  Bus *bus;
  Mock *mock;
  uid_t service_uid;
  char *out, *err; /* of the latest run */
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->bus = bus_new ();
  fixture->mock = mock_new (bus_address (fixture->bus));
  fixture->service_uid = getuid ();
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_free (fixture->out);
  g_free (fixture->err);
  mock_free (fixture->mock);
  bus_free (fixture->bus);
}

static char *
text_of (GBytes *bytes)
{
  gsize len;
  const char *data = g_bytes_get_data (bytes, &len);

  return len > 0 ? g_strndup (data, len) : g_strdup ("");
}

/* Runs the program with @line split at spaces, in the C locale. */
static int
run (Fixture *fixture, const char *line)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autofree char *uid = g_strdup_printf ("%u", fixture->service_uid);
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GBytes) out = NULL;
  g_autoptr (GBytes) err = NULL;
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (argv, (gpointer) g_getenv ("TEST_AGENT"));
  g_ptr_array_add (argv, (gpointer) bus_address (fixture->bus));
  g_ptr_array_add (argv, uid);
  for (guint i = 0; words[i] != NULL; i++)
    g_ptr_array_add (argv, words[i]);
  g_ptr_array_add (argv, NULL);
  g_subprocess_launcher_setenv (launcher, "LC_ALL", "C", TRUE);
  process = g_subprocess_launcher_spawnv (launcher, (const char *const *) argv->pdata, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate (process, NULL, NULL, &out, &err, &error));
  g_free (fixture->out);
  g_free (fixture->err);
  fixture->out = text_of (out);
  fixture->err = text_of (err);
  g_assert_true (g_subprocess_get_if_exited (process));
  return g_subprocess_get_exit_status (process);
}

/* The one object on the one line that the latest run printed. */
static JsonObject *
output_json (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) root = json_from_string (fixture->out, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (fixture->err, ==, "");
  g_assert_true (strchr (fixture->out, '\n') == fixture->out + strlen (fixture->out) - 1);
  g_assert_true (JSON_NODE_HOLDS_OBJECT (root));
  g_assert_cmpstr (json_object_get_string_member (json_node_get_object (root), "version"), ==, "1");
  return json_object_ref (json_node_get_object (root));
}

static void
test_exit_of_states (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *state, *executed;
    int status;
    gboolean ended;
  } rows[] = {
    { "done", "yes", 0, TRUE },      { "denied", "no", 1, TRUE },
    { "pending", "no", 2, FALSE },   { "approved", "no", 2, FALSE },
    { "executing", "no", 2, FALSE }, { "withdrawn", "no", 3, TRUE },
    { "superseded", "no", 3, TRUE }, { "expired", "no", 4, TRUE },
    { "unknown", "unknown", 5, TRUE }, { "refused", "no", 6, TRUE },
    { "unreachable", "no", 6, TRUE }, { "failed", "no", 125, TRUE },
    { "no-such-state", "no", 127, TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_test_message ("%s", rows[i].state);
      mock_set_state (fixture->mock, rows[i].state, rows[i].executed, NULL);
      g_assert_cmpint (run (fixture, "status " MOCK_ID), ==, rows[i].status);
      g_assert_cmpint (run (fixture, "status " MOCK_REQUEST " --json"), ==, rows[i].status);
      g_assert_cmpint (run (fixture, "request mail.send --wait=0"), ==, rows[i].status);
      if (rows[i].ended)
        g_assert_cmpint (run (fixture, "wait " MOCK_ID), ==, rows[i].status);
      else
        g_assert_cmpint (run (fixture, "wait " MOCK_ID " --timeout=0"), ==, rows[i].status);
    }
}

static void
test_exit_of_errors (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *name;
    int status;
  } rows[] = {
    { "NotAgent", 6 },      { "NotApprover", 6 },     { "NotFound", 126 },
    { "WrongState", 6 },    { "UnknownAction", 126 }, { "InvalidArgument", 126 },
    { "LimitExceeded", 6 }, { "Refused", 6 },         { "NoApprover", 6 },
    { "Paused", 6 },        { "Halted", 6 },          { "PolicyInvalid", 6 },
    { "WrongAssertion", 127 }, { "Unavailable", 127 }, { "NoSuchName", 127 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *name = g_strconcat ("org.undersign1.Error.", rows[i].name, NULL);
      g_autoptr (JsonObject) object = NULL;
      JsonObject *error;

      g_test_message ("%s", name);
      mock_set_error (fixture->mock, "Submit", name, "limit: 8 pending");
      g_assert_cmpint (run (fixture, "request mail.send"), ==, rows[i].status);
      g_assert_cmpstr (fixture->out, ==, "");
      g_assert_nonnull (strstr (fixture->err, "8 pending"));
      g_assert_cmpint (run (fixture, "request mail.send --json"), ==, rows[i].status);
      object = output_json (fixture);
      error = json_object_get_object_member (object, "error");
      if (i + 1 < G_N_ELEMENTS (rows))
        {
          g_assert_cmpstr (json_object_get_string_member (error, "name"), ==, rows[i].name);
          g_assert_cmpstr (json_object_get_string_member (error, "reason"), ==, "limit");
          g_assert_cmpstr (json_object_get_string_member (error, "message"), ==, "8 pending");
        }
      else
        g_assert_cmpstr (json_object_get_string_member (error, "name"), ==, "Unavailable");
    }
}

/* A wrong command line is found before anything is asked for. */
static void
test_usage (Fixture *fixture, gconstpointer data)
{
  static const char *const rows[] = {
    "nonsense",
    "Request mail.send",
    "request",
    "request mail.send --no-such-option",
    "request mail.send --timeout=1",
    "request mail.send --wait=soon",
    "request mail.send --wait=-1",
    "request mail.send --wait=99999999999",
    "request mail.send subject",
    "request mail.send =x",
    "request mail.send @=x",
    "request mail.send none=x",
    "request mail.send subject=a subject=b",
    "request mail.send urgent=true",
    "request mail.send urgent=",
    "request mail.send subject@=/etc/hostname",
    "request mail.send letter=/etc/hostname",
    "request mail.send letter@=/nonexistent/file",
    "request mail.send letter@=/dev/null",
    "request mail.send attachment@=/etc attachment@=/etc/hostname",
    "request mail.send subject=\xff",
    "request mail.send --claim=\xff",
    "request mail.send --supersedes=../1",
    "status",
    "status one",
    "status 0123456789ABCDEF0123456789abcdef",
    "status " MOCK_ID "0",
    "status /org/undersign1/request/",
    "status /org/example/" MOCK_ID,
    "status " MOCK_ID " " MOCK_ID,
    "wait " MOCK_ID " --timeout",
    "withdraw",
    "list all",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *json = g_strconcat (rows[i], " --json", NULL);
      g_autofree char *shown = g_strescape (rows[i], NULL);
      g_autoptr (JsonObject) object = NULL;

      g_test_message ("%s", shown);
      g_assert_cmpint (run (fixture, rows[i]), ==, 126);
      g_assert_cmpstr (fixture->out, ==, "");
      g_assert_true (g_str_has_prefix (fixture->err, "undersign-agent: "));
      if (g_str_has_suffix (rows[i], "--timeout"))
        continue; /* takes the next word as its value */
      g_assert_cmpint (run (fixture, json), ==, 126);
      object = output_json (fixture);
      g_assert_true (json_object_has_member (object, "error"));
    }
  g_assert_cmpuint (mock_calls (fixture->mock, "Submit"), ==, 0);
  g_assert_cmpuint (mock_calls (fixture->mock, "GetState"), ==, 0);
  g_assert_cmpuint (mock_calls (fixture->mock, "Withdraw"), ==, 0);
}

static void
test_request (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = NULL;
  g_autofree char *line = NULL;
  g_autofree char *expected = NULL;
  g_autofree char *submit = NULL;
  g_autofree char *open = NULL;
  g_autofree char *content = NULL;
  int fd = g_file_open_tmp ("undersign-XXXXXX", &path, NULL);

  g_assert_cmpint (write (fd, "content", 7), ==, 7);
  close (fd);
  line = g_strdup_printf ("request mail.send to=b@example.com subject=\303\204=1 urgent=yes"
                          " to=a@example.com attachment@=%s --run=ticket --part=main"
                          " --claim=agreed --idempotency-key=k --supersedes=" MOCK_ID,
                          path);
  expected = g_strdup_printf (
      "('" MOCK_RUN "', 'mail.send', {'to': <['b@example.com', 'a@example.com']>,"
      " 'subject': <'\303\204=1'>, 'urgent': <true>, 'attachment': <[('%s', handle 0)]>},"
      " {'claim': <'agreed'>, 'idempotency-key': <'k'>,"
      " 'supersedes': <objectpath '" MOCK_REQUEST "'>})",
      strrchr (path, '/') + 1);
  g_assert_cmpint (run (fixture, line), ==, 2);
  g_assert_nonnull (strstr (fixture->out, MOCK_ID "\n"));
  submit = mock_body (fixture->mock, "Submit");
  g_assert_cmpstr (submit, ==, expected);
  open = mock_body (fixture->mock, "OpenRun");
  g_assert_cmpstr (open, ==, "({'label': <'ticket'>, 'part': <'main'>},)");
  content = mock_file (fixture->mock, 0);
  g_assert_cmpstr (content, ==, "content");
  unlink (path);
}

/* Whoever starts an agent says so what the run is about; an option says it better. */
static void
test_environment (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *run, *part, *line, *opened; /* opened: NULL where nobody is asked */
  } rows[] = {
    { "launch-1", "main", "request mail.send", "({'label': <'launch-1'>, 'part': <'main'>},)" },
    { "launch-1", "main", "request mail.send --run=ticket",
      "({'label': <'ticket'>, 'part': <'main'>},)" },
    { "launch-1", "", "request mail.send --part=other",
      "({'label': <'launch-1'>, 'part': <'other'>},)" },
    { "", "", "request mail.send", "(@a{sv} {},)" },
    { "\377", "main", "request mail.send", NULL },
    { "launch-1", "\377", "request mail.send", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      guint before = mock_calls (fixture->mock, NULL);
      g_autofree char *opened = NULL;

      g_setenv ("UNDERSIGN_RUN", rows[i].run, TRUE);
      g_setenv ("UNDERSIGN_PART", rows[i].part, TRUE);
      g_assert_cmpint (run (fixture, rows[i].line), ==, rows[i].opened != NULL ? 2 : 126);
      if (rows[i].opened == NULL)
        {
          g_assert_nonnull (strstr (fixture->err, "is not valid UTF-8"));
          g_assert_cmpuint (mock_calls (fixture->mock, NULL), ==, before);
          continue;
        }
      opened = mock_body (fixture->mock, "OpenRun");
      g_assert_cmpstr (opened, ==, rows[i].opened);
    }
  g_unsetenv ("UNDERSIGN_RUN");
  g_unsetenv ("UNDERSIGN_PART");
}

/* B-23 */
static void
test_time_out (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpint (run (fixture, "wait " MOCK_ID " --timeout=1"), ==, 2);
  g_assert_cmpint (run (fixture, "request mail.send --wait=0"), ==, 2);
  g_assert_cmpuint (mock_calls (fixture->mock, "Withdraw"), ==, 0);
}

/* The request was made: its id is printed, though what became of it is not known. */
static void
test_lost_after_submit (Fixture *fixture, gconstpointer data)
{
  g_autoptr (JsonObject) object = NULL;

  mock_set_error (fixture->mock, "GetState", "org.undersign1.Error.Unavailable", "unreachable: x");
  g_assert_cmpint (run (fixture, "request mail.send"), ==, 127);
  g_assert_nonnull (strstr (fixture->out, MOCK_ID));
  g_assert_cmpint (run (fixture, "request mail.send --json"), ==, 127);
  object = output_json (fixture);
  g_assert_cmpstr (json_object_get_string_member (object, "request"), ==, MOCK_ID);
}

/* O-10 */
static void
test_hostile_owner (Fixture *fixture, gconstpointer data)
{
  static const char *const lines[] = {
    "actions", "describe mail.send", "request mail.send subject=x", "status " MOCK_ID,
    "wait " MOCK_ID, "withdraw " MOCK_ID, "list", "info",
  };

  static const struct
  {
    const char *line, *reason;
  } wrong[] = {
    { "nonsense", "unknown-argument: " },
    { "list all", "unknown-argument: " },
    { "describe", "missing-argument: " },
    { "list --all", "unknown-option: " },
    { "--timeout=1", "unknown-option: --timeout=1: options follow a verb" },
    { "wait " MOCK_ID " --timeout=soon", "bad-value: " },
    { "wait " MOCK_ID " --timeout=-1", "bad-value: --timeout takes whole seconds, not \"-1\"" },
    { "request mail.send subject", "bad-value: " },
    { "request mail.send --supersedes=x", "bad-value: " },
    { "status one", "bad-value: " },
  };

  fixture->service_uid = getuid () + 1;
  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_assert_cmpint (run (fixture, lines[i]), ==, 127);
      g_assert_nonnull (strstr (fixture->err, "bad-peer: "));
    }
  /* Whoever mistypes is told so first. */
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_assert_cmpint (run (fixture, wrong[i].line), ==, 126);
      g_assert_nonnull (strstr (fixture->err, wrong[i].reason));
    }
  g_assert_cmpuint (mock_calls (fixture->mock, NULL), ==, 0);
}

static void
test_json_everywhere (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *line, *member;
    int status;
  } rows[] = {
    { "actions --json", "actions", 0 },
    { "describe mail.send -j", "action", 0 },
    { "request mail.send --json", "request", 2 },
    { "status " MOCK_ID " --json", "executed", 2 },
    { "wait " MOCK_ID " --timeout=0 --json", "state", 2 },
    { "withdraw " MOCK_ID " --json", "state", 0 },
    { "list --json", "requests", 0 },
    { "info --json", "info", 0 },
    { "nonsense --json", "error", 126 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (JsonObject) object = NULL;

      g_test_message ("%s", rows[i].line);
      g_assert_cmpint (run (fixture, rows[i].line), ==, rows[i].status);
      object = output_json (fixture);
      g_assert_true (json_object_has_member (object, rows[i].member));
    }
}

static void
test_help (Fixture *fixture, gconstpointer data)
{
  static const char *const lines[] = {
    "--help",        "-h",          "actions --help",  "describe --help", "request --help",
    "status --help", "wait --help", "withdraw --help", "list --help",     "info -h",
    "--version",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_assert_cmpint (run (fixture, lines[i]), ==, 0);
      g_assert_cmpstr (fixture->err, ==, "");
      g_assert_cmpuint (strlen (fixture->out), >, 10);
    }
  g_assert_cmpuint (mock_calls (fixture->mock, NULL), ==, 0);
}

/* Of which arguments one is needed, where the service says so. */
static void
test_one_of (Fixture *fixture, gconstpointer data)
{
  g_autoptr (JsonObject) object = NULL;
  g_autoptr (JsonObject) plain = NULL;
  JsonObject *action;
  JsonArray *groups, *names;

  g_assert_cmpint (run (fixture, "describe mail.send --json"), ==, 0);
  plain = output_json (fixture);
  action = json_object_get_object_member (plain, "action");
  g_assert_false (json_object_has_member (action, "one-of"));
  g_assert_cmpint (run (fixture, "describe mail.send"), ==, 0);
  g_assert_null (strstr (fixture->out, "one of "));

  mock_set_reply (fixture->mock, "DescribeAction",
                  "({'id': <'mail.send'>, 'arguments': <@aa{sv} []>,"
                  " 'one-of': <[['to', 'cc'], ['why\\u202e']]>},)");
  g_assert_cmpint (run (fixture, "describe mail.send --json"), ==, 0);
  object = output_json (fixture);
  action = json_object_get_object_member (object, "action");
  groups = json_object_get_array_member (action, "one-of");
  g_assert_cmpuint (json_array_get_length (groups), ==, 2);
  names = json_array_get_array_element (groups, 0);
  g_assert_cmpuint (json_array_get_length (names), ==, 2);
  g_assert_cmpstr (json_array_get_string_element (names, 1), ==, "cc");

  g_assert_cmpint (run (fixture, "describe mail.send"), ==, 0);
  g_assert_nonnull (strstr (fixture->out, "one of     to, cc\n"));
  g_assert_nonnull (strstr (fixture->out, "one of     why\\u{202E}\n"));
}

/* O-33: control characters and bidi, wherever they come from. */
static void
test_hostile_text (Fixture *fixture, gconstpointer data)
{
  static const char hostile[] = "'\\u001b[2K\\u202e\\u200b\\u009b\\n'";
  static const char *const lines[] = {
    "status " MOCK_ID,       "status " MOCK_ID " --json", "actions",
    "actions --json",        "describe mail.send",        "describe mail.send --json",
    "list",                  "list --json",               "info",
    "info --json",           "withdraw " MOCK_ID,         "withdraw " MOCK_ID " --json",
    "status \033[2K\342\200\256", "\033[2K\342\200\256 --json", "request mail.send \033[2K=1",
  };
  g_autofree char *extra = g_strdup_printf ("'reason': <%s>, 'result': <%s>", hostile, hostile);
  g_autofree char *actions = g_strdup_printf ("({%s: {'summary': <%s>}},)", hostile, hostile);
  g_autofree char *action = g_strdup_printf (
      "({'id': <%s>, 'arguments': <[{'name': <%s>, 'signature': <'s'>, 'label': <%s>,"
      " 'choices': <[%s]>, 'default': <<%s>>}]>},)",
      hostile, hostile, hostile, hostile, hostile);
  g_autofree char *list = g_strdup_printf ("([(objectpath '" MOCK_REQUEST "', %s, %s)],)", hostile, hostile);
  g_autofree char *info = g_strdup_printf ("({'agent': <%s>, 'parts': <[%s]>, 'summary': <(%s,)>},)",
                                           hostile, hostile, hostile);

  mock_set_state (fixture->mock, "denied", "no", extra);
  mock_set_reply (fixture->mock, "ListActions", actions);
  mock_set_reply (fixture->mock, "DescribeAction", action);
  mock_set_reply (fixture->mock, "ListRequests", list);
  mock_set_reply (fixture->mock, "GetInfo", info);
  mock_set_error (fixture->mock, "Withdraw", "org.undersign1.Error.WrongState",
                  "too-late: \033[2K\342\200\256");
  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autofree char *all = NULL;

      run (fixture, lines[i]);
      all = g_strconcat (fixture->out, fixture->err, NULL);
      g_test_message ("%s", all);
      g_assert_nonnull (strstr (all, "2K"));
      g_assert_null (strchr (all, '\033'));
      g_assert_null (strstr (all, "\342\200\256"));
      g_assert_null (strstr (all, "\342\200\213"));
      g_assert_null (strstr (all, "\302\233"));
    }
}

int
main (int argc, char *argv[])
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } rows[] = {
    { "/cli/exit-of-states", test_exit_of_states },
    { "/cli/exit-of-errors", test_exit_of_errors },
    { "/cli/usage", test_usage },
    { "/cli/request", test_request },
    { "/cli/environment", test_environment },
    { "/cli/time-out", test_time_out },
    { "/cli/lost-after-submit", test_lost_after_submit },
    { "/cli/hostile-owner", test_hostile_owner },
    { "/cli/json-everywhere", test_json_everywhere },
    { "/cli/help", test_help },
    { "/cli/one-of", test_one_of },
    { "/cli/hostile-text", test_hostile_text },
  };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_test_add (rows[i].name, Fixture, NULL, set_up, rows[i].test, tear_down);
  return g_test_run ();
}
