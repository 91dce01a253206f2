/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The runner as a process, called as the executor calls it.  The null module writes a marker where
 * an effect would be: every refusal must leave it unwritten, and every call writes it once.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "tests/lib/runner.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET "hunter2-and-more"

/* What is not to time out has more time than it takes on the slowest machine. */
#define PATIENCE 60 /* seconds */

static Runner *
start_with_limit (const char *object, const char *module, guint seconds)
{
  g_autofree char *path = g_build_filename (g_getenv ("MODULES"), object, NULL);
  Runner *runner = runner_new ();

  runner_install (runner, strcmp (object, "null.so") == 0 ? g_getenv ("NULL_MODULE") : path,
                  module);
  runner_credential (runner, "work-smtp", SECRET);
  runner_start (runner, module, getuid (), getuid (), seconds);
  return runner;
}

static Runner *
start_with (const char *object, const char *module)
{
  return start_with_limit (object, module, PATIENCE);
}

static Call *
null_call (Runner *runner, const char *outcome)
{
  Call *call = call_new ("null.rehearse");

  call_setting (call, "marker", "path", runner->marker);
  call_setting (call, "outcome", "line", outcome);
  call_setting (call, "describe", "line", "done");
  call_setting (call, "fact", "line", "");
  return call;
}

static void
check_not_called (Runner *runner, HandoverKind kind, Call *call, const char *reason)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *outcome = runner_call (runner, kind, call, NULL, NULL, &error);
  g_autofree char *marker = runner_marker (runner);

  g_assert_null (outcome);
  g_assert_true (us_error_has_reason (error, reason));
  g_assert_cmpstr (marker, ==, "");
}

static void
check_failed (Runner *runner, HandoverKind kind, Call *call, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *result = NULL;
  g_autofree char *outcome = runner_call (runner, kind, call, &result, NULL, &error);
  g_autofree char *marker = runner_marker (runner);

  g_assert_no_error (error);
  g_assert_cmpstr (outcome, ==, "failed");
  g_assert_cmpstr (result, ==, text);
  g_assert_cmpstr (marker, ==, "");
}

static void
expect_result (Runner *runner, HandoverKind kind, Call *call, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *result = NULL;
  g_autofree char *outcome = runner_call (runner, kind, call, &result, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (outcome, ==, "done");
  g_assert_cmpstr (result, ==, text);
}

/* --- who may call, and what --- */

static void
test_wrong_peer (void)
{
  g_autoptr (Runner) runner = runner_new ();

  runner_install (runner, g_getenv ("NULL_MODULE"), "null");
  runner_start (runner, "null", getuid (), getuid () + 1, PATIENCE);
  check_not_called (runner, HANDOVER_MODULE_EXECUTE, null_call (runner, "done"),
                    US_REASON_BAD_PEER);
}

static void
test_wrong_kind (void)
{
  static const HandoverKind kinds[] = { HANDOVER_EXECUTE, HANDOVER_PREPARE, HANDOVER_REPLY,
                                        HANDOVER_ERROR, HANDOVER_STATUS };
  g_autoptr (Runner) runner = start_with ("null.so", "null");

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    check_not_called (runner, kinds[i], null_call (runner, "done"), US_REASON_BAD_MESSAGE);
}

static void
test_wrong_body (void)
{
  g_autoptr (Runner) runner = start_with ("null.so", "null");
  g_autoptr (GError) error = NULL;
  g_autofree char *marker = NULL;
  Handover reply = { 0 };

  g_assert_false (handover_call (runner->service->path, HANDOVER_MODULE_EXECUTE,
                                 g_variant_new ("(ss)", RUNNER_REQUEST, "null.rehearse"), NULL, 0,
                                 "(sa(ss)s)", &reply, NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
  marker = runner_marker (runner);
  g_assert_cmpstr (marker, ==, "");
}

/* What makes a call malformed; the rest of it is as it should be. */
typedef struct
{
  const char *request, *action;
  const char *arguments[2][3]; /* name, type, and value as GVariant's text */
  const char *setting[3];      /* name, type, value */
  const char *facts[2][2];     /* name, type */
  guint files;
} Spoiler;

static const Spoiler spoilers[] = {
  { .request = "0123456789ABCDEF0123456789ABCDEF" },
  { .request = "0123456789abcdef" },
  { .action = "null rehearse\nforged" },
  { .arguments = { { "To", "line", "'x'" } } },
  { .arguments = { { "", "line", "'x'" } } },
  { .arguments = { { "to", "no-such-type", "'x'" } } },
  { .arguments = { { "to", "line", "'two\\nlines'" } } },
  { .arguments = { { "count", "integer", "'007'" } } },
  { .arguments = { { "to", "line", "true" } } },
  { .arguments = { { "to", "line", "'x'" }, { "to", "line", "'y'" } } },
  { .arguments = { { "file", "file-list", "[('a', handle 0)]" } } },
  { .arguments = { { "file", "file-list", "[('a', handle -1)]" } }, .files = 1 },
  { .arguments = { { "file", "file-list", "[('a', handle 0), ('b', handle 0)]" } }, .files = 1 },
  { .files = 1 },
  { .arguments = { { "file", "file-list", "[('../a', handle 0)]" } }, .files = 1 },
  { .arguments = { { "file", "file", "[('a', handle 0), ('b', handle 1)]" } }, .files = 2 },
  { .arguments = { { "file", "file", "@a(sh) []" } } },
  { .setting = { "outcome", "line", "failed" } },
  { .setting = { "more", "email", "not an address" } },
  { .facts = { { "known", "line" }, { "known", "line" } } },
  { .facts = { { "known", "no-such-type" } } },
};

static void
spoil (Call *call, const Spoiler *spoiler)
{
  call->request = spoiler->request != NULL ? spoiler->request : call->request;
  call->action = spoiler->action != NULL ? spoiler->action : call->action;
  for (guint i = 0; i < spoiler->files; i++)
    call_file (call, "x", 1);
  for (guint i = 0; i < 2 && spoiler->arguments[i][0] != NULL; i++)
    {
      GVariant *value = g_variant_parse (NULL, spoiler->arguments[i][2], NULL, NULL, NULL);

      g_assert_nonnull (value);
      call_argument (call, spoiler->arguments[i][0], spoiler->arguments[i][1], value);
      g_variant_unref (value);
    }
  if (spoiler->setting[0] != NULL)
    call_setting (call, spoiler->setting[0], spoiler->setting[1], spoiler->setting[2]);
  for (guint i = 0; i < 2 && spoiler->facts[i][0] != NULL; i++)
    call_fact (call, spoiler->facts[i][0], spoiler->facts[i][1]);
}

static void
check_malformed (Runner *runner, Call *call)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *outcome = NULL;
  g_autofree char *marker = NULL;

  outcome = runner_call (runner, HANDOVER_MODULE_EXECUTE, call, NULL, NULL, &error);
  marker = runner_marker (runner);
  g_assert_null (outcome);
  g_assert_error (error, US_ERROR, US_ERROR_INVALID_ARGUMENT);
  g_assert_cmpstr (marker, ==, "");
}

static void
test_malformed_call (void)
{
  g_autoptr (Runner) runner = start_with ("null.so", "null");
  Call *many = null_call (runner, "done");

  for (guint i = 0; i < G_N_ELEMENTS (spoilers); i++)
    {
      Call *call = null_call (runner, "done");

      g_test_message ("%u", i);
      spoil (call, &spoilers[i]);
      check_malformed (runner, call);
    }

  for (guint i = 0; i < 300; i++)
    {
      g_autofree char *name = g_strdup_printf ("a%u", i);

      call_string (many, name, "line", "x");
    }
  check_malformed (runner, many);
}

/* Nobody would hear the answer: the executor has already called it unknown. */
static void
test_executor_gone (void)
{
  g_autoptr (Runner) runner = runner_new ();
  g_autoptr (Call) call = null_call (runner, "done");
  g_autofree char *marker = NULL;
  autofd sock = handover_connect (runner->service->path, 5, NULL);

  g_assert_true (handover_send (sock, HANDOVER_MODULE_EXECUTE, call_end (call), NULL, 0, NULL));
  fd_clear (&sock);
  runner_install (runner, g_getenv ("NULL_MODULE"), "null");
  runner_start (runner, "null", getuid (), getuid (), PATIENCE);

  /* The next call is served after it. */
  expect_result (runner, HANDOVER_MODULE_DESCRIBE, null_call (runner, "done"), "");
  g_assert_cmpint (activated_stop (runner->service), ==, 0);
  marker = runner_marker (runner);
  g_assert_cmpstr (marker, ==, "");
}

static void
test_executor_says_more (void)
{
  g_autoptr (Runner) runner = runner_new ();
  g_autoptr (Call) call = null_call (runner, "done");
  g_autofree char *marker = NULL;
  g_autoptr (GVariant) body = g_variant_ref_sink (call_end (call));
  g_auto (Handover) reply = { 0 };
  const char *outcome = NULL;
  autofd sock = handover_connect (runner->service->path, 20, NULL);

  for (guint i = 0; i < 2; i++)
    g_assert_true (handover_send (sock, HANDOVER_MODULE_EXECUTE, body, NULL, 0, NULL));
  runner_install (runner, g_getenv ("NULL_MODULE"), "null");
  runner_start (runner, "null", getuid (), getuid (), PATIENCE);

  /* Its end may overtake its answer, since it leaves the second message unread. */
  if (handover_receive_reply (sock, "(sa(ss)s)", &reply, NULL))
    {
      g_variant_get (reply.body, "(&sa(ss)s)", &outcome, NULL, NULL);
      g_assert_cmpstr (outcome, ==, "failed");
    }
  g_assert_cmpint (activated_stop (runner->service), ==, 0);
  marker = runner_marker (runner);
  g_assert_cmpstr (marker, ==, "");
}

/* --- the module --- */

static void
test_module_not_loaded (void)
{
  g_autoptr (Runner) runner = runner_new ();
  g_autofree char *path = g_build_filename (g_getenv ("MODULES"), "bad-2.so", NULL);
  g_autofree char *log = NULL;

  /* Not there, and one that would end the worker if it were loaded. */
  runner_start (runner, "null", getuid (), getuid (), PATIENCE);
  check_failed (runner, HANDOVER_MODULE_EXECUTE, null_call (runner, "done"),
                "the module is not available");
  runner_install (runner, path, "null");
  check_failed (runner, HANDOVER_MODULE_EXECUTE, null_call (runner, "done"),
                "the module is not available");
  check_failed (runner, HANDOVER_MODULE_DESCRIBE, null_call (runner, "done"),
                "the module is not available");
  log = activated_log (runner->service);
  g_assert_nonnull (strstr (log, "bad-module: the module is of version 0"));

  /* Mended while a worker waits. */
  runner_install (runner, g_getenv ("NULL_MODULE"), "null");
  expect_result (runner, HANDOVER_MODULE_EXECUTE, null_call (runner, "done"),
                 "nothing was done, as intended");
}

static void
test_module_of_another_owner (void)
{
  g_autoptr (Runner) runner = runner_new ();

  runner_install (runner, g_getenv ("NULL_MODULE"), "null");
  runner_start (runner, "null", getuid () + 1, getuid (), PATIENCE);
  check_failed (runner, HANDOVER_MODULE_EXECUTE, null_call (runner, "done"),
                "the module is not available");
}

static void
test_no_entry_point (void)
{
  g_autoptr (Runner) runner = start_with ("empty.so", "empty");

  check_failed (runner, HANDOVER_MODULE_EXECUTE, null_call (runner, "done"),
                "the module cannot do this");
  check_failed (runner, HANDOVER_MODULE_DESCRIBE, null_call (runner, "done"),
                "the module cannot do this");
}

/* --- credentials --- */

static void
check_credential_refused (Runner *runner, const char *name)
{
  Call *call = null_call (runner, "done");

  g_test_message ("%s", name);
  call->credential = name;
  check_failed (runner, HANDOVER_MODULE_EXECUTE, call, "the credential is not available");
}

static void
test_credential_refused (void)
{
  static const char *const names[] = { "absent", "../marker", "Work-Smtp", "work smtp", ".",
                                       "..",     "link",      "dir",       "open",      "fifo" };
  g_autoptr (Runner) runner = start_with ("null.so", "null");
  g_autofree char *link = g_build_filename (runner->credentials_dir, "link", NULL);
  g_autofree char *dir = g_build_filename (runner->credentials_dir, "dir", NULL);
  g_autofree char *fifo = g_build_filename (runner->credentials_dir, "fifo", NULL);
  g_autofree char *open_path = g_build_filename (runner->credentials_dir, "open", NULL);
  g_autofree char *large = g_strnfill (1024 * 1024 + 1, 'x');
  g_autofree char *log = NULL;

  g_assert_cmpint (symlink ("work-smtp", link), ==, 0);
  g_assert_cmpint (mkdir (dir, 0700), ==, 0);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  runner_credential (runner, "open", SECRET);
  g_assert_cmpint (chmod (open_path, 0444), ==, 0);
  runner_credential (runner, "large", large);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    check_credential_refused (runner, names[i]);
  check_credential_refused (runner, "large");
  log = activated_log (runner->service);
  g_assert_null (strstr (log, SECRET));
}

static void
check_credential (Runner *runner, HandoverKind kind, const char *name, const char *text)
{
  Call *call = call_new ("probe.credential");

  call->credential = name;
  expect_result (runner, kind, call, text);
}

static void
test_credential (void)
{
  g_autoptr (Runner) runner = start_with ("probe.so", "probe");
  g_autofree char *log = NULL;

  check_credential (runner, HANDOVER_MODULE_EXECUTE, "", "none|77|");
  check_credential (runner, HANDOVER_MODULE_EXECUTE, "work-smtp", SECRET "|16|");
  runner_credential (runner, "empty", "");
  check_credential (runner, HANDOVER_MODULE_EXECUTE, "empty", "|0|");
  log = activated_log (runner->service);
  g_assert_cmpstr (log, ==, "");
}

/* --- what a module is given, and what it may say --- */

static void
test_arguments (void)
{
  g_autoptr (Runner) runner = start_with ("probe.so", "probe");
  Call *call = call_new ("probe.arguments");

  call_string (call, "to", "email", "a@example.com");
  call_argument (call, "urgent", "boolean", g_variant_new_boolean (TRUE));
  call_argument (call, "quiet", "boolean", g_variant_new_boolean (FALSE));
  call_strings (call, "cc", "email-list", "b@example.com c@example.com");
  call_argument (call, "bcc", "email-list", g_variant_new_strv (NULL, 0));
  call_file (call, "hello", 5);
  call_file (call, "", 0);
  call_file (call, "third", 5);
  call_argument (call, "files", "file-list",
                 g_variant_new_parsed ("[('a.txt', handle 0), ('b.txt', handle 1)]"));
  call_argument (call, "none", "file-list", g_variant_new_array (G_VARIANT_TYPE ("(sh)"), NULL, 0));
  call_argument (call, "one", "file", g_variant_new_parsed ("[('c.txt', handle 2)]"));
  call_setting (call, "server", "hostport", "mail.example.com:587");
  call_setting (call, "empty", "line", "");
  expect_result (runner, HANDOVER_MODULE_EXECUTE, call,
                 "to|a@example.com|-1|77|urgent|-|1|77|quiet|-|0|77|"
                 "cc|-|-1|2|b@example.com|c@example.com|bcc|-|-1|0|"
                 "files|-|-1|2|a.txt|5|hello|b.txt|0||none|-|-1|0|one|-|-1|1|c.txt|5|third|"
                 "server|mail.example.com:587|empty||no setting|no argument|-1|" RUNNER_REQUEST
                 "|probe.arguments|");
}

static void
test_environment (void)
{
  g_autoptr (Runner) runner = start_with ("probe.so", "probe");

  expect_result (runner, HANDOVER_MODULE_EXECUTE, call_new ("probe.environment"),
                 "CREDENTIALS_DIRECTORY|/|exported|not exported|not exported|");
}

static void
test_result_limits (void)
{
  g_autoptr (Runner) runner = start_with ("probe.so", "probe");
  static const char *const actions[] = { "probe.long", "probe.invalid" };

  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    {
      g_autofree char *result = NULL;
      g_autofree char *outcome =
          runner_call (runner, HANDOVER_MODULE_EXECUTE, call_new (actions[i]), &result, NULL, NULL);

      g_assert_cmpstr (outcome, ==, "done");
      g_assert_true (g_utf8_validate (result, -1, NULL));
      g_assert_cmpuint (strlen (result), <=, 1000);
      g_assert_cmpuint (strlen (result), >, 900);
    }
  expect_result (runner, HANDOVER_MODULE_EXECUTE, call_new ("probe.nothing"), "");
}

static void
test_facts (void)
{
  g_autoptr (Runner) runner = start_with ("probe.so", "probe");
  g_auto (GStrv) facts = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *result = NULL;
  g_autofree char *outcome = NULL;
  Call *call = call_new ("probe.facts");

  call_fact (call, "line", "line");
  call_fact (call, "number", "integer");
  outcome = runner_call (runner, HANDOVER_MODULE_DESCRIBE, call, &result, &facts, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (outcome, ==, "done");
  g_assert_cmpstr (result, ==, "-1|-1|0|-1|-1|-1|0|none|");
  g_assert_cmpuint (g_strv_length (facts), ==, 2);
  g_assert_cmpstr (facts[0], ==, "line=one line");
  g_assert_cmpstr (facts[1], ==, "number=7");
}

static void
test_fact_missing (void)
{
  g_autoptr (Runner) runner = start_with ("probe.so", "probe");
  g_auto (GStrv) facts = NULL;
  g_autofree char *result = NULL;
  g_autofree char *outcome = NULL;
  Call *call = call_new ("probe.facts");

  call_fact (call, "line", "line");
  call_fact (call, "number", "integer");
  call_fact (call, "third", "line");
  outcome = runner_call (runner, HANDOVER_MODULE_DESCRIBE, call, &result, &facts, NULL);
  g_assert_cmpstr (outcome, ==, "failed");
  g_assert_cmpstr (result, ==, "the module did not give every fact");
  g_assert_cmpuint (g_strv_length (facts), ==, 0);
}

/* --- outcomes --- */

static void
check_outcome (Runner *runner, const char *setting, const char *expected, gboolean marked)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *outcome = NULL;
  g_autofree char *marker = NULL;

  g_test_message ("%s", setting);
  outcome = runner_call (runner, HANDOVER_MODULE_EXECUTE, null_call (runner, setting), NULL, NULL,
                         &error);
  g_assert_cmpstr (outcome, ==, expected);
  if (expected == NULL)
    g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
  marker = runner_marker (runner);
  if (marked)
    g_assert_true (g_str_has_prefix (marker, RUNNER_REQUEST " null.rehearse "));
  else
    g_assert_cmpstr (marker, ==, "");
  (void) unlink (runner->marker);
}

static void
test_outcomes (void)
{
  g_autoptr (Runner) runner = start_with ("null.so", "null");

  check_outcome (runner, "failed", "failed", FALSE);
  check_outcome (runner, "no-such-outcome", "failed", FALSE);
  check_outcome (runner, "done", "done", TRUE);
  check_outcome (runner, "", "done", TRUE);
  check_outcome (runner, "unknown", "unknown", TRUE);
  check_outcome (runner, "garbage", "unknown", TRUE);
  check_outcome (runner, "crash", NULL, TRUE);
  check_outcome (runner, "done", "done", TRUE);
}

static void
check_described (Runner *runner, const char *setting, const char *expected)
{
  g_autofree char *outcome = NULL;
  g_autofree char *marker = NULL;
  Call *call = call_new ("null.rehearse");

  call_setting (call, "marker", "path", runner->marker);
  call_setting (call, "outcome", "line", "done");
  call_setting (call, "describe", "line", setting);
  call_setting (call, "fact", "line", "known=first time");
  call_fact (call, "known", "line");
  outcome = runner_call (runner, HANDOVER_MODULE_DESCRIBE, call, NULL, NULL, NULL);
  g_assert_cmpstr (outcome, ==, expected);
  marker = runner_marker (runner);
  g_assert_cmpstr (marker, ==, "");
}

static void
test_describe_outcomes (void)
{
  g_autoptr (Runner) runner = start_with ("null.so", "null");

  check_described (runner, "done", "done");
  check_described (runner, "failed", "failed");
  check_described (runner, "unknown", "unknown");
  check_described (runner, "garbage", "unknown");
  check_described (runner, "crash", NULL);
}

/* A call that goes well, where the machine is not too slow for the limit. */
static gboolean
serves (Runner *runner)
{
  g_autofree char *outcome = runner_call (runner, HANDOVER_MODULE_EXECUTE,
                                          null_call (runner, "done"), NULL, NULL, NULL);

  (void) unlink (runner->marker);
  return g_strcmp0 (outcome, "done") == 0;
}

static void
test_hangs (void)
{
  static const guint limits[] = { 2, 10, PATIENCE }; /* one within which the module begins */
  g_autofree char *marker = g_strdup ("");

  for (guint i = 0; i < G_N_ELEMENTS (limits) && marker[0] == '\0'; i++)
    {
      g_autoptr (Runner) runner = start_with_limit ("null.so", "null", limits[i]);
      g_autoptr (GError) error = NULL;

      g_assert_null (runner_call (runner, HANDOVER_MODULE_EXECUTE, null_call (runner, "hang"), NULL,
                                  NULL, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
      g_free (marker);
      marker = runner_marker (runner);
      (void) unlink (runner->marker);
      check_described (runner, "hang", NULL);
      for (guint n = 0; !serves (runner); n++)
        g_assert_cmpuint (n, <, 30);
    }
  g_assert_true (g_str_has_prefix (marker, RUNNER_REQUEST " null.rehearse "));
}

static char *
marker_of (Runner *runner, const char *value)
{
  g_autofree char *outcome = NULL;
  Call *call = null_call (runner, "done");
  char *marker = NULL;

  call_string (call, "subject", "line", value);
  call_strings (call, "to", "email-list", "a@example.com b@example.com");
  call_file (call, value, strlen (value));
  call_argument (call, "file", "file-list", g_variant_new_parsed ("[('a', handle 0)]"));
  outcome = runner_call (runner, HANDOVER_MODULE_EXECUTE, call, NULL, NULL, NULL);
  g_assert_cmpstr (outcome, ==, "done");
  marker = runner_marker (runner);
  g_assert_cmpint (unlink (runner->marker), ==, 0);
  return marker;
}

static void
test_marker_tells_arguments_apart (void)
{
  g_autoptr (Runner) runner = start_with ("null.so", "null");
  g_autofree char *first = marker_of (runner, "one");
  g_autofree char *again = marker_of (runner, "one");
  g_autofree char *other = marker_of (runner, "two");

  g_assert_cmpstr (first, ==, again);
  g_assert_cmpstr (first, !=, other);
}

/* One call, one effect: as many lines as calls, whatever runs beside. */
static void
test_parallel (void)
{
  g_autoptr (Runner) runner = start_with ("null.so", "null");
  g_autofree char *marker = NULL;
  g_auto (GStrv) lines = NULL;
  int socks[12];

  for (guint i = 0; i < G_N_ELEMENTS (socks); i++)
    {
      g_autoptr (Call) call = null_call (runner, "done");

      socks[i] = handover_connect (runner->service->path, 60, NULL);
      g_assert_true (
          handover_send (socks[i], HANDOVER_MODULE_EXECUTE, call_end (call), NULL, 0, NULL));
    }
  for (guint i = 0; i < G_N_ELEMENTS (socks); i++)
    {
      g_auto (Handover) reply = { 0 };
      g_autoptr (GError) error = NULL;

      g_assert_true (handover_receive_reply (socks[i], "(sa(ss)s)", &reply, &error));
      g_assert_no_error (error);
      close (socks[i]);
    }
  marker = runner_marker (runner);
  lines = g_strsplit (marker, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, G_N_ELEMENTS (socks) + 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runner/wrong-peer", test_wrong_peer);
  g_test_add_func ("/runner/wrong-kind", test_wrong_kind);
  g_test_add_func ("/runner/wrong-body", test_wrong_body);
  g_test_add_func ("/runner/malformed-call", test_malformed_call);
  g_test_add_func ("/runner/executor-gone", test_executor_gone);
  g_test_add_func ("/runner/executor-says-more", test_executor_says_more);
  g_test_add_func ("/runner/module-not-loaded", test_module_not_loaded);
  g_test_add_func ("/runner/module-of-another-owner", test_module_of_another_owner);
  g_test_add_func ("/runner/no-entry-point", test_no_entry_point);
  g_test_add_func ("/runner/credential-refused", test_credential_refused);
  g_test_add_func ("/runner/credential", test_credential);
  g_test_add_func ("/runner/arguments", test_arguments);
  g_test_add_func ("/runner/environment", test_environment);
  g_test_add_func ("/runner/result-limits", test_result_limits);
  g_test_add_func ("/runner/facts", test_facts);
  g_test_add_func ("/runner/fact-missing", test_fact_missing);
  g_test_add_func ("/runner/outcomes", test_outcomes);
  g_test_add_func ("/runner/hangs", test_hangs);
  g_test_add_func ("/runner/describe-outcomes", test_describe_outcomes);
  g_test_add_func ("/runner/marker-tells-arguments-apart", test_marker_tells_arguments_apart);
  g_test_add_func ("/runner/parallel", test_parallel);
  return g_test_run ();
}
