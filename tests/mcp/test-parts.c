/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The small parts: whose words count for identity, which arguments are none, who leaves. */
#include "agentlib/mcp/arguments.h"
#include "agentlib/mcp/hold.h"
#include "agentlib/mcp/identity.h"
#include "agentlib/mcp/launched.h"

#include "dbus/reason.h"

#include <glib/gstdio.h>
#include <string.h>

static const JsonLimits limits = { 4096, 8, 4096, 64 };

static JsonTree *
json (const char *text)
{
  JsonTree *tree = json_tree_parse (text, strlen (text), &limits, NULL);

  g_assert_nonnull (tree);
  return tree;
}

/* --- who gives up what --- */

static void
test_hold (void)
{
  g_autoptr (Holds) holds = holds_new ();

  /* Another still waits; then it is the last. */
  hold_join (holds, "/two");
  hold_join (holds, "/two");
  g_assert_false (hold_leave (holds, "/two", HOLD_GAVE_UP));
  g_assert_true (hold_leave (holds, "/two", HOLD_GAVE_UP));
  /* Its id is known to the client. */
  hold_join (holds, "/told");
  g_assert_false (hold_leave (holds, "/told", HOLD_PENDING));
  hold_join (holds, "/told");
  g_assert_false (hold_leave (holds, "/told", HOLD_GAVE_UP));
  hold_join (holds, "/named");
  hold_deliver (holds, "/named");
  g_assert_false (hold_leave (holds, "/named", HOLD_GAVE_UP));
  g_assert_cmpuint (holds_size (holds), ==, 2);
  /* It has ended. */
  hold_join (holds, "/ended");
  g_assert_false (hold_leave (holds, "/ended", HOLD_ENDED));
  hold_join (holds, "/told");
  g_assert_false (hold_leave (holds, "/told", HOLD_ENDED));
  g_assert_cmpuint (holds_size (holds), ==, 1);
  /* The plain case. */
  hold_join (holds, "/plain");
  g_assert_true (hold_leave (holds, "/plain", HOLD_GAVE_UP));
  g_assert_cmpuint (holds_size (holds), ==, 1);
}

static void
test_hold_may_leave (void)
{
  g_autoptr (Holds) holds = holds_new ();

  g_assert_true (hold_may_leave (holds, "/it"));
  /* Somebody has come since. */
  hold_join (holds, "/it");
  g_assert_false (hold_may_leave (holds, "/it"));
  g_assert_false (hold_leave (holds, "/it", HOLD_PENDING));
  g_assert_false (hold_may_leave (holds, "/it"));
}

static void
count (gpointer data)
{
  (*(guint *) data)++;
}

static void
test_hold_submitted (void)
{
  g_autoptr (Holds) holds = holds_new ();
  guint a = 0, b = 0;

  hold_when_submitted (holds, "a", count, &a);
  g_assert_cmpuint (a, ==, 1);
  hold_submit_begin (holds, "a");
  hold_submit_begin (holds, "a");
  hold_submit_begin (holds, "b");
  hold_when_submitted (holds, "a", count, &a);
  hold_when_submitted (holds, "b", count, &b);
  hold_submit_end (holds, "a");
  g_assert_cmpuint (a, ==, 1);
  hold_submit_end (holds, "a");
  g_assert_cmpuint (a, ==, 2);
  g_assert_cmpuint (b, ==, 0);
  /* Nobody stays who could want it. */
  holds_close (holds);
  g_assert_cmpuint (b, ==, 1);
  hold_when_submitted (holds, "b", count, &b);
  g_assert_cmpuint (b, ==, 2);
}

/* --- who says who is calling --- */

static void
test_identity_refused (void)
{
  static const char *const bad[] = { "{\"org.undersign1/run\":7}", "{\"org.undersign1/part\":null}",
                                     "{\"org.undersign1/call\":[\"a\"]}",
                                     "{\"org.undersign1/run\":{}}" };
  const Options options = { 0 };

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (JsonTree) meta = json (bad[i]);
      g_autoptr (GError) error = NULL;
      Identity identity = { 0 };

      g_assert_false (identity_read (meta, &options, &identity, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_WRONG_TYPE));
    }
}

static void
test_identity (void)
{
  const Options options = { .part = (char *) "main", .call = (char *) "c0" };
  g_autoptr (JsonTree) meta = json ("{\"org.undersign1/part\":\"licences\",\"run\":\"x\","
                                    "\"org.undersign1/run\":\"ticket\"}");
  g_autofree char *claim = NULL;
  Identity identity = { 0 };

  g_assert_true (identity_read (NULL, &options, &identity, NULL));
  g_assert_cmpstr (identity.part, ==, "main");
  g_assert_cmpstr (identity.run, ==, NULL);
  g_assert_cmpstr (identity.call, ==, "c0");
  g_assert_true (identity_read (meta, &options, &identity, NULL));
  g_assert_cmpstr (identity.part, ==, "licences");
  g_assert_cmpstr (identity.run, ==, "ticket");
  claim = identity_claim (&identity, NULL);
  g_assert_cmpstr (claim, ==, "call c0");
}

/* By what clients tell their calls apart is recorded; what is of another form is left out. */
static void
test_correlators (void)
{
  g_autofree char *long_value = g_strnfill (129, 'x');
  g_autofree char *long_text = g_strdup_printf ("{\"threadId\":\"%s\"}", long_value);
  const struct
  {
    const char *meta, *claim;
  } rows[] = {
    { "{}", NULL },
    { "{\"traceparent\":7,\"threadId\":null,\"claudecode/toolUseId\":[\"a\"]}", NULL },
    { "{\"threadId\":\"\",\"traceparent\":\"two\\nlines\",\"vscode.requestId\":\"a b\"}", NULL },
    { "{\"threadId\":\"\\u00e9\",\"x-codex-turn-metadata\":\"x\",\"run\":\"y\"}", NULL },
    { long_text, NULL },
    { "{\"traceparent\":\"00-ab-cd-01\",\"vscode.conversationId\":\"c\",\"vscode.requestId\":"
      "\"r\"}",
      "traceparent 00-ab-cd-01; vscode.conversationId c; vscode.requestId r" },
    { "{\"claudecode/toolUseId\":\"toolu_7\"}", "claudecode/toolUseId toolu_7" },
    { "{\"threadId\":\"t\",\"x-codex-turn-metadata\":{\"session_id\":\"s\",\"turn_id\":\"u\","
      "\"model\":\"m\"}}",
      "threadId t; session_id s; turn_id u" },
  };
  const Identity nobody = { 0 };
  const Identity one = { .call = "c0" };
  g_autoptr (JsonTree) meta = json ("{\"threadId\":\"t\"}");
  g_autofree char *both = identity_claim (&one, meta);

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (JsonTree) tree = json (rows[i].meta);
      g_autofree char *claim = identity_claim (&nobody, tree);

      g_test_message ("%s", rows[i].meta);
      g_assert_cmpstr (claim, ==, rows[i].claim);
    }
  g_assert_cmpstr (both, ==, "call c0; threadId t");
}

/* --- what a launch left --- */

#define UNIT "undersign-launch-0123456789abcdef.service"

static char *
write_text (const char *folder, const char *name, const char *text, gssize len)
{
  char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, text, len, NULL));
  return path;
}

static void
test_launched (void)
{
  static const struct
  {
    const char *cgroups, *run, *part;
  } rows[] = {
    { "", NULL, NULL },
    { "0::/\n", NULL, NULL },
    { "0::/user.slice/session-3.scope\n", NULL, NULL },
    { "0::/system.slice/undersign-launch-0123456789abcde.service\n", NULL, NULL },
    { "0::/system.slice/undersign-launch-0123456789abcdef0.service\n", NULL, NULL },
    { "0::/system.slice/undersign-launch-..%2f..%2f..%2fetc%2.service\n", NULL, NULL },
    { "0::/system.slice/undersign-launch-0123456789ABCDEF.service\n", NULL, NULL },
    { "0::/system.slice/x" UNIT "\n", NULL, NULL },
    { "0::/system.slice/undersign-launch-1111111111111111.service\n", NULL, NULL },
    { "0::/system.slice/" UNIT "\n", "ticket \u00e9", "licences" },
    { "0::/system.slice/" UNIT "/below\n", "ticket \u00e9", "licences" },
    { "4:memory:/x\n1:name=systemd:/system.slice/" UNIT "\n", "ticket \u00e9", "licences" },
  };
  g_autofree char *folder = g_dir_make_tmp ("undersign-launched-XXXXXX", NULL);
  g_autofree char *unit = g_build_filename (folder, UNIT, NULL);
  g_autofree char *run = NULL;
  g_autofree char *part = NULL;

  g_assert_cmpint (g_mkdir (unit, 0700), ==, 0);
  run = write_text (unit, "undersign.run", "ticket \u00e9", -1);
  part = write_text (unit, "undersign.part", "licences", -1);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *cgroups = write_text (folder, "cgroup", rows[i].cgroups, -1);
      g_auto (Options) options = { 0 };
      g_auto (Options) given = { .run = g_strdup ("given") };

      g_test_message ("%s", rows[i].cgroups);
      g_assert_true (launched_complete (&options, cgroups, folder, NULL));
      g_assert_cmpstr (options.run, ==, rows[i].run);
      g_assert_cmpstr (options.part, ==, rows[i].part);
      g_assert_null (options.call);
      g_assert_true (launched_complete (&given, cgroups, folder, NULL));
      g_assert_cmpstr (given.run, ==, "given");
      g_assert_cmpint (g_unlink (cgroups), ==, 0);
    }
  g_assert_cmpint (g_unlink (run) + g_unlink (part) + g_rmdir (unit) + g_rmdir (folder), ==, 0);
}

/* To serve without what it can't read would be to ask in another run. */
static void
test_launched_unreadable (void)
{
  static const struct
  {
    const char *text;
    gssize len;
    const char *reason;
  } rows[] = {
    { "", 0, US_REASON_BAD_VALUE },
    { "\xff", 1, US_REASON_BAD_VALUE },
    { "a\0b", 3, US_REASON_BAD_VALUE },
    { NULL, 0, US_REASON_INTERNAL },
  };
  g_autofree char *folder = g_dir_make_tmp ("undersign-launched-XXXXXX", NULL);
  g_autofree char *unit = g_build_filename (folder, UNIT, NULL);
  g_autofree char *cgroups = write_text (folder, "cgroup", "0::/" UNIT "\n", -1);
  g_autofree char *run = g_build_filename (unit, "undersign.run", NULL);

  g_assert_cmpint (g_mkdir (unit, 0700), ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (Options) options = { 0 };
      g_autoptr (GError) error = NULL;

      if (rows[i].text != NULL)
        g_assert_true (g_file_set_contents (run, rows[i].text, rows[i].len, NULL));
      else
        g_assert_cmpint (g_mkdir (run, 0700), ==, 0);
      g_assert_false (launched_complete (&options, cgroups, folder, &error));
      g_assert_true (us_error_has_reason (error, rows[i].reason));
      g_assert_cmpint (g_remove (run), ==, 0);
    }
  g_assert_cmpint (g_unlink (cgroups) + g_rmdir (unit) + g_rmdir (folder), ==, 0);
}

/* --- arguments --- */

static GVariant *
description (void)
{
  return g_variant_ref_sink (g_variant_new_parsed (
      "{'arguments': <[{'name': <'text'>, 'signature': <'s'>}, {'name': <'sure'>, 'signature': "
      "<'b'>},"
      "{'name': <'list'>, 'signature': <'as'>}, {'name': <'paper'>, 'signature': <'(sh)'>},"
      "{'name': <'papers'>, 'signature': <'a(sh)'>}, {'name': <'odd'>, 'signature': <'i'>}]>}"));
}

static void
test_arguments_refused (void)
{
  static const struct
  {
    const char *arguments, *reason;
  } rows[] = {
    { "[]", US_REASON_WRONG_TYPE },
    { "\"text\"", US_REASON_WRONG_TYPE },
    { "{\"other\":\"x\"}", US_REASON_UNKNOWN_ARGUMENT },
    { "{\"_meta\":{}}", US_REASON_UNKNOWN_ARGUMENT },
    { "{\"Text\":\"x\"}", US_REASON_UNKNOWN_ARGUMENT },
    { "{\"text\":1}", US_REASON_WRONG_TYPE },
    { "{\"text\":null}", US_REASON_WRONG_TYPE },
    { "{\"text\":[\"a\"]}", US_REASON_WRONG_TYPE },
    { "{\"sure\":\"true\"}", US_REASON_WRONG_TYPE },
    { "{\"sure\":1}", US_REASON_WRONG_TYPE },
    { "{\"list\":\"a\"}", US_REASON_WRONG_TYPE },
    { "{\"list\":[\"a\",1]}", US_REASON_WRONG_TYPE },
    { "{\"list\":{}}", US_REASON_WRONG_TYPE },
    { "{\"paper\":[\"/etc/hostname\"]}", US_REASON_WRONG_TYPE },
    { "{\"paper\":\"/dev/null\"}", US_REASON_BAD_VALUE },
    { "{\"paper\":\"/\"}", US_REASON_BAD_VALUE },
    { "{\"paper\":\"/no/such/file\"}", US_REASON_BAD_VALUE },
    { "{\"papers\":\"/etc/passwd\"}", US_REASON_WRONG_TYPE },
    { "{\"papers\":[\"/etc/passwd\",7]}", US_REASON_WRONG_TYPE },
    { "{\"odd\":\"x\"}", US_REASON_BAD_MESSAGE },
  };
  g_autoptr (GVariant) about = description ();

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (UsSubmission) submission = us_submission_new ("test.it");
      g_autoptr (JsonTree) arguments = json (rows[i].arguments);
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", rows[i].arguments);
      g_assert_false (arguments_add (submission, about, arguments, &error));
      g_assert_true (us_error_has_reason (error, rows[i].reason));
    }
}

static void
test_arguments (void)
{
  g_autoptr (GVariant) about = description ();
  g_autoptr (UsSubmission) submission = us_submission_new ("test.it");
  g_autoptr (JsonTree) arguments =
      json ("{\"text\":\"\",\"sure\":true,\"list\":[],\"papers\":[\"/etc/passwd\"]}");
  g_autoptr (GError) error = NULL;

  g_assert_true (arguments_add (submission, about, NULL, &error));
  g_assert_true (arguments_add (submission, about, arguments, &error));
  g_assert_no_error (error);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mcp/parts/hold", test_hold);
  g_test_add_func ("/mcp/parts/hold-may-leave", test_hold_may_leave);
  g_test_add_func ("/mcp/parts/hold-submitted", test_hold_submitted);
  g_test_add_func ("/mcp/parts/identity-refused", test_identity_refused);
  g_test_add_func ("/mcp/parts/identity", test_identity);
  g_test_add_func ("/mcp/parts/correlators", test_correlators);
  g_test_add_func ("/mcp/parts/launched", test_launched);
  g_test_add_func ("/mcp/parts/launched-unreadable", test_launched_unreadable);
  g_test_add_func ("/mcp/parts/arguments-refused", test_arguments_refused);
  g_test_add_func ("/mcp/parts/arguments", test_arguments);
  return g_test_run ();
}
