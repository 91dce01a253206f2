/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The small parts: whose words count for identity, which arguments are none, who withdraws. */
#include "agentlib/mcp/arguments.h"
#include "agentlib/mcp/hold.h"
#include "agentlib/mcp/identity.h"

#include "dbus/reason.h"

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
  g_autoptr (GHashTable) holds = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  /* It was there before. */
  hold_join (holds, "/foreign", FALSE);
  g_assert_false (hold_leave (holds, "/foreign", HOLD_GAVE_UP));
  /* Another still waits; then it is the last. */
  hold_join (holds, "/two", TRUE);
  hold_join (holds, "/two", FALSE);
  g_assert_false (hold_leave (holds, "/two", HOLD_GAVE_UP));
  g_assert_true (hold_leave (holds, "/two", HOLD_GAVE_UP));
  /* Its id is known to the client. */
  hold_join (holds, "/told", TRUE);
  g_assert_false (hold_leave (holds, "/told", HOLD_PENDING));
  hold_join (holds, "/told", TRUE);
  g_assert_false (hold_leave (holds, "/told", HOLD_GAVE_UP));
  hold_join (holds, "/named", TRUE);
  hold_deliver (holds, "/named");
  g_assert_false (hold_leave (holds, "/named", HOLD_GAVE_UP));
  /* It has ended. */
  hold_join (holds, "/ended", TRUE);
  g_assert_false (hold_leave (holds, "/ended", HOLD_ENDED));
  g_assert_null (g_hash_table_lookup (holds, "/ended"));
  /* The plain case. */
  hold_join (holds, "/plain", TRUE);
  g_assert_true (hold_leave (holds, "/plain", HOLD_GAVE_UP));
  g_assert_null (g_hash_table_lookup (holds, "/plain"));
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
  claim = identity_claim (&identity);
  g_assert_cmpstr (claim, ==, "call c0");
}

/* --- arguments --- */

static GVariant *
description (void)
{
  return g_variant_ref_sink (g_variant_new_parsed (
      "{'arguments': <[{'name': <'text'>, 'signature': <'s'>}, {'name': <'sure'>, 'signature': <'b'>},"
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
  g_test_add_func ("/mcp/parts/identity-refused", test_identity_refused);
  g_test_add_func ("/mcp/parts/identity", test_identity);
  g_test_add_func ("/mcp/parts/arguments-refused", test_arguments_refused);
  g_test_add_func ("/mcp/parts/arguments", test_arguments);
  return g_test_run ();
}
