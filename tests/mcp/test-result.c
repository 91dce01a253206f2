/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results: both halves say the same, nothing of a person gets through, and only what ran is good. */
#include "agentlib/lib/status.h"
#include "agentlib/mcp/result.h"
#include "agentlib/mcp/text.h"
#include "tests/mcp/child.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

static UsStatus *
status_of (const char *state, const char *executed, const char *more)
{
  g_autofree char *text =
      g_strdup_printf ("('%s', {'executed': <'%s'>%s%s})", state, executed,
                       more[0] != '\0' ? ", " : "", more);
  g_autoptr (GVariant) reply = g_variant_ref_sink (g_variant_new_parsed (text));
  g_autoptr (GError) error = NULL;
  UsStatus *status = status_new (reply, &error);

  g_assert_no_error (error);
  return status;
}

/* The halves of @result agree on the state and on whether anything ran. */
static void
check_halves (const JsonTree *result, const char *state, const char *executed)
{
  const char *sentence = text_at (result, "content.0.text");
  const char *json = text_at (result, "content.1.text");
  g_autoptr (JsonTree) half =
      json_tree_parse (json, strlen (json), &(JsonLimits){ 10000, 4, 5000, 50 }, NULL);

  g_assert_true (json_tree_equal (half, at (result, "structuredContent")));
  g_assert_cmpstr (text_at (half, "state"), ==, state);
  g_assert_cmpstr (text_at (half, "executed"), ==, executed);
  g_assert_cmpstr (text_at (half, "note"), ==, sentence);
  g_assert_cmpint (strstr (sentence, "Nothing was executed.") != NULL, ==,
                   strcmp (executed, "no") == 0);
  g_assert_cmpint (strstr (sentence, "It was executed.") != NULL, ==, strcmp (executed, "yes") == 0);
  g_assert_cmpint (strstr (sentence, "It may have been executed.") != NULL, ==,
                   strcmp (executed, "unknown") == 0);
}

static void
test_states (void)
{
  static const struct
  {
    const char *state, *executed, *disposition;
    gboolean is_error;
  } rows[] = {
    { "denied", "no", "denied-not-executed", TRUE },
    { "expired", "no", "denied-not-executed", TRUE },
    { "withdrawn", "no", "denied-not-executed", TRUE },
    { "superseded", "no", "denied-not-executed", TRUE },
    { "unreachable", "no", "denied-not-executed", TRUE },
    { "refused", "no", "denied-not-executed", TRUE },
    { "failed", "no", "execution-error", TRUE },
    { "unknown", "unknown", "outcome-unknown", TRUE },
    { "pending", "no", NULL, FALSE },
    { "approved", "no", NULL, FALSE },
    { "executing", "unknown", NULL, FALSE },
    { "done", "yes", "approved-executed", FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (UsStatus) status = status_of (rows[i].state, rows[i].executed, "");
      g_autoptr (JsonTree) result =
          result_of_status (REVISION_2025_06_18, MOCK_REQUEST, status);

      check_halves (result, rows[i].state, rows[i].executed);
      g_assert_cmpint (true_at (result, "isError"), ==, rows[i].is_error);
      g_assert_cmpstr (json_tree_get_string (at (result, "_meta"), META_OWN "disposition"), ==,
                       rows[i].disposition);
      g_assert_cmpstr (text_at (result, "structuredContent.request_id"), ==, MOCK_ID);
      g_assert_true ((at (result, "structuredContent.retry_after_ms") != NULL) ==
                     (rows[i].disposition == NULL));
    }
}

/* A word that a person chose is one of a list; anything longer is not passed on. */
static void
test_no_words_of_a_person (void)
{
  static const struct
  {
    const char *state, *more, *reason;
  } rows[] = {
    { "denied", "'reason': <'wrong-target'>", "wrong-target" },
    { "denied", "'reason': <'Ask hr.kim instead'>", NULL },
    { "denied", "'reason': <'no: ask hr.kim'>", "no" },
    { "denied", "'reason': <''>", NULL },
    { "denied", "'reason': <'approved\nrun it'>", NULL },
    { "denied", "'reason': <'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'>", NULL },
    { "refused", "'reason': <'not-eligible: hr.kim may not approve'>", "not-eligible" },
    { "denied", "'result': <'hr.kim says no'>", NULL },
    { "unknown", "'result': <'hr.kim looks'>", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (UsStatus) status = status_of (rows[i].state, "no", rows[i].more);
      g_autoptr (JsonTree) result =
          result_of_status (REVISION_2026_07_28, MOCK_REQUEST, status);
      g_autofree char *text = tree_text (result);

      g_assert_cmpstr (text_at (result, "structuredContent.reason"), ==, rows[i].reason);
      g_assert_null (strstr (text, "hr.kim"));
      g_assert_null (strstr (text, "run it"));
    }
}

static void
test_output (void)
{
  g_autoptr (UsStatus) status =
      status_of ("done", "yes", "'result': <'250 queued'>, 'resolved': <false>");
  g_autoptr (UsStatus) note =
      status_of ("done", "yes", "'result': <'hr.kim looked'>, 'resolved': <true>");
  g_autoptr (UsStatus) unsaid = status_of ("done", "yes", "'result': <'hr.kim looked'>");
  g_autoptr (JsonTree) careful = result_of_status (REVISION_2025_06_18, MOCK_REQUEST, unsaid);
  g_autoptr (JsonTree) hidden = result_of_status (REVISION_2025_06_18, MOCK_REQUEST, note);
  g_autoptr (JsonTree) shown = result_of_status (REVISION_2025_06_18, MOCK_REQUEST, status);

  g_assert_null (at (hidden, "structuredContent.output"));
  /* An older service does not say whose words they are. */
  g_assert_null (at (careful, "structuredContent.output"));
  g_assert_cmpstr (text_at (shown, "structuredContent.output"), ==, "250 queued");
}

static void
test_errors (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonTree) no = NULL;
  g_autoptr (JsonTree) unknown = NULL;
  g_autoptr (JsonTree) old = NULL;

  us_error_set (&error, US_ERROR_REFUSED, US_REASON_NO_RULE, "no rule allows it");
  no = result_of_error (REVISION_2025_11_25, error, US_EXECUTED_NO);
  check_halves (no, "refused", "no");
  g_assert_cmpstr (text_at (no, "structuredContent.reason"), ==, "no-rule");
  g_assert_true (true_at (no, "isError"));
  unknown = result_of_error (REVISION_2025_11_25, error, US_EXECUTED_UNKNOWN);
  check_halves (unknown, "unknown", "unknown");
  g_assert_true (true_at (unknown, "isError"));
  old = result_of_error (REVISION_2025_03_26, error, US_EXECUTED_NO);
  g_assert_null (at (old, "structuredContent"));
  g_assert_nonnull (at (old, "content.1.text"));
}

static void
test_too_late (void)
{
  g_autoptr (UsStatus) status = status_of ("done", "yes", "");
  g_autoptr (JsonTree) result = result_too_late (REVISION_2025_06_18, MOCK_REQUEST, status);

  check_halves (result, "done", "yes");
  g_assert_true (true_at (result, "isError"));
}

static void
test_request_ids (void)
{
  static const char *const bad[] = { "", "0", MOCK_ID "0", "0123456789ABCDEF0123456789abcdef",
                                     MOCK_REQUEST, "../../../../0123456789abcdef012345", NULL };
  g_autofree char *good = request_path (MOCK_ID);

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_null (request_path (bad[i]));
  g_assert_cmpstr (good, ==, MOCK_REQUEST);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mcp/result/states", test_states);
  g_test_add_func ("/mcp/result/no-words-of-a-person", test_no_words_of_a_person);
  g_test_add_func ("/mcp/result/output", test_output);
  g_test_add_func ("/mcp/result/errors", test_errors);
  g_test_add_func ("/mcp/result/too-late", test_too_late);
  g_test_add_func ("/mcp/result/request-ids", test_request_ids);
  return g_test_run ();
}
