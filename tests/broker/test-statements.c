/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The statements that a person is given to sign, and what else does not count. */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/record/statement.h"
#include "tests/broker/caller.h"
#include "tests/broker/disk.h"
#include "tests/broker/sample.h"

#include <string.h>

static GVariant *
statement_options (const char *decision, const char *credential)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&builder, "{sv}", "decision", g_variant_new_string (decision));
  g_variant_builder_add (
      &builder, "{sv}", "credential",
      g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, credential, strlen (credential), 1));
  return g_variant_builder_end (&builder);
}

static GBytes *
statement_of (Caller *caller, const char *path, const char *decision, const char *credential)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = caller_approver (
      caller, "GetStatement",
      g_variant_new ("(o@a{sv})", path, statement_options (decision, credential)), &error);
  g_autoptr (GVariant) bytes = NULL;

  g_assert_no_error (error);
  bytes = g_variant_get_child_value (reply, 0);
  return g_variant_get_data_as_bytes (bytes);
}

static void
test_statement (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GBytes) bytes = statement_of (jones, path, "approve", "hr.jones");
  g_autoptr (GBytes) second = statement_of (jones, path, "approve", "hr.jones");
  g_autoptr (Statement) statement = NULL;
  g_autoptr (Statement) other = NULL;
  g_autoptr (GVariant) details = NULL;
  g_autofree char *digest = NULL;
  g_autoptr (GError) error = NULL;

  statement = statement_decode (bytes, &error);
  g_assert_no_error (error);
  other = statement_decode (second, &error);
  g_assert_no_error (error);
  g_free (caller_state (agent, path, &details));
  digest = details_get (details, "digest");
  g_assert_cmpstr (statement->decision, ==, "approve");
  g_assert_cmpstr (statement->request, ==, request_id_of (path));
  g_assert_cmpstr (statement->record, ==, digest);
  g_assert_cmpstr (statement->approver_name, ==, "hr.jones");
  g_assert_cmpuint (statement->approver_uid, ==, FAKE_JONES);
  g_assert_cmpstr (statement->rp, ==, "approve.example");
  g_assert_null (statement->supersedes_request);
  g_assert_cmpstr (statement->nonce, !=, other->nonce);
}

static void
test_statement_refused (Bed *bed, gconstpointer config)
{
  static const struct
  {
    const char *options;
    int code;
    const char *reason;
  } cases[] = {
    { "{}", US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT },
    { "{'decision': <'approve'>}", US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT },
    { "{'decision': <'yes'>, 'credential': <b'x'>}", US_ERROR_INVALID_ARGUMENT,
      US_REASON_BAD_VALUE },
    { "{'decision': <true>, 'credential': <b'x'>}", US_ERROR_INVALID_ARGUMENT,
      US_REASON_WRONG_TYPE },
    { "{'decision': <'approve'>, 'credential': <'hr.jones'>}", US_ERROR_INVALID_ARGUMENT,
      US_REASON_WRONG_TYPE },
    { "{'decision': <'approve'>, 'credential': <[byte 1]>}", US_ERROR_NOT_APPROVER,
      US_REASON_CREDENTIAL_UNKNOWN },
    { "{'decision': <'approve'>, 'credential': <@ay []>}", US_ERROR_NOT_APPROVER,
      US_REASON_CREDENTIAL_UNKNOWN },
    { "{'decision': <'approve'>, 'credential': <[byte 1]>, 'rp': <'x'>}", US_ERROR_INVALID_ARGUMENT,
      US_REASON_UNKNOWN_OPTION },
  };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_fails (caller_approver (jones, "GetStatement",
                                   g_variant_new ("(o@a{sv})", path, vardict (cases[i].options)),
                                   &error),
                  &error, cases[i].code, cases[i].reason);
  /* Another person's credential is nobody's here. */
  assert_fails (
      caller_approver (jones, "GetStatement",
                       g_variant_new ("(o@a{sv})", path, statement_options ("approve", "it.lead")),
                       &error),
      &error, US_ERROR_NOT_APPROVER, US_REASON_CREDENTIAL_UNKNOWN);
}

static GVariant *
assertion_of (const char *credential, const char *signature)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (
      &builder, "{sv}", "credential",
      g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, credential, strlen (credential), 1));
  g_variant_builder_add (&builder, "{sv}", "client-data", g_variant_new_bytestring ("x"));
  g_variant_builder_add (&builder, "{sv}", "auth-data", g_variant_new_bytestring ("x"));
  g_variant_builder_add (
      &builder, "{sv}", "signature",
      g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, signature, strlen (signature), 1));
  return g_variant_builder_end (&builder);
}

static GVariant *
approve_with (
    Caller *caller, const char *path, GBytes *statement, const char *credential, GError **error)
{
  return caller_approver (
      caller, "Approve",
      g_variant_new ("(o@ay@a{sv})", path,
                     g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, statement, TRUE),
                     assertion_of (credential, "good")),
      error);
}

/* A statement counts for the person, the request, the decision and the credential that it was made
 * for; whatever else is sent does not even reach the executor. */
static void
test_statement_is_bound (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *other = caller_submit (agent, run, "b@example.com", NULL);
  g_autoptr (GBytes) approve = statement_of (jones, path, "approve", "hr.jones");
  g_autoptr (GBytes) deny = statement_of (jones, path, "deny", "hr.jones");
  g_autoptr (GBytes) made_up = g_bytes_new_static ("{}", 2);
  g_autoptr (GError) error = NULL;

  assert_fails (approve_with (lead, path, approve, "it.lead", &error), &error,
                US_ERROR_INVALID_ARGUMENT, US_REASON_STATEMENT_CHANGED);
  assert_fails (approve_with (jones, other, approve, "hr.jones", &error), &error,
                US_ERROR_INVALID_ARGUMENT, US_REASON_STATEMENT_CHANGED);
  assert_fails (approve_with (jones, path, deny, "hr.jones", &error), &error,
                US_ERROR_INVALID_ARGUMENT, US_REASON_STATEMENT_CHANGED);
  assert_fails (approve_with (jones, path, made_up, "hr.jones", &error), &error,
                US_ERROR_INVALID_ARGUMENT, US_REASON_STATEMENT_CHANGED);
  assert_fails (approve_with (jones, path, approve, "it.lead", &error), &error,
                US_ERROR_INVALID_ARGUMENT, US_REASON_STATEMENT_CHANGED);
  g_assert_cmpuint (fake_answered (bed->fake), ==, 0);

  /* The fifth statement takes the place of the first. */
  for (guint i = 0; i < REQUEST_STATEMENTS; i++)
    g_bytes_unref (statement_of (jones, path, "approve", "hr.jones"));
  assert_fails (approve_with (jones, path, approve, "hr.jones", &error), &error,
                US_ERROR_INVALID_ARGUMENT, US_REASON_STATEMENT_CHANGED);
  g_assert_cmpuint (fake_answered (bed->fake), ==, 0);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static void
test_two_answered_in_reverse (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *second = caller_submit (agent, run, "b@example.com", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (caller_approve (jones, second, "hr.jones", "good", NULL, &error));
  g_assert_true (caller_deny (jones, first, "not-now", &error));
  wait_state (agent, second, "done");
  wait_state (agent, first, "denied");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

static GVariant *
denial_of (const char *path, GBytes *statement, const char *signature)
{
  g_autoptr (GVariant) assertion = g_variant_ref_sink (assertion_of ("hr.jones", signature));
  GVariantDict dict;

  g_variant_dict_init (&dict, assertion);
  g_variant_dict_insert_value (
      &dict, "statement", g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, statement, TRUE));
  return g_variant_new ("(os@a{sv})", path, "other", g_variant_dict_end (&dict));
}

static GVariant *
deny_with (
    Caller *caller, const char *path, GBytes *statement, const char *signature, GError **error)
{
  return caller_approver (caller, "Deny", denial_of (path, statement, signature), error);
}

static void
test_signed_denial (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GBytes) bytes = statement_of (jones, path, "deny", "hr.jones");
  g_autoptr (GVariant) reply = NULL;
  g_autofree char *row = NULL;
  g_autoptr (GError) error = NULL;
  const char *const signatures[] = { "bad!", "good" };

  assert_fails (caller_approver (
                    jones, "Deny",
                    g_variant_new ("(os@a{sv})", path, "other", assertion_of ("hr.jones", "good")),
                    &error),
                &error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT);
  for (guint i = 0; i < G_N_ELEMENTS (signatures); i++)
    {
      reply = deny_with (jones, path, bytes, signatures[i], &error);
      if (i == 0)
        {
          /* One that is wrong denies nothing. */
          assert_fails (reply, &error, US_ERROR_WRONG_ASSERTION, US_REASON_SIGNATURE);
          wait_state (agent, path, "pending");
        }
    }
  g_assert_no_error (error);
  wait_state (agent, path, "denied");
  row = fake_row (bed->fake, request_id_of (path));
  g_assert_cmpstr (row, ==, "closed denied hr.jones other");
}

static gboolean
is_held (gpointer data)
{
  return fake_held (((const Bed *) data)->fake) > 0;
}

/* What was approved while a signed denial was under way is denied, where the ledger had that first:
 * who denied hears so, and so does the agent. */
static void
test_signed_denial_overtakes (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GBytes) bytes = statement_of (jones, path, "deny", "hr.jones");
  g_autoptr (GError) error = NULL;
  g_auto (Pending) denial = { 0 };
  Request *request = g_hash_table_lookup (bed->broker->requests, request_id_of (path));

  fake_execute (bed->fake, "silent");
  fake_hold_kind (bed->fake, HANDOVER_ANSWER);
  caller_begin (jones, US_OBJECT_PATH, US_INTERFACE_APPROVER, "Deny",
                denial_of (path, bytes, "good"), &denial);
  bed_wait (is_held, bed);
  g_assert_true (request_move (request, REQUEST_APPROVED, NULL, &error));
  /* Without a signature it is too late. */
  g_assert_false (caller_deny (jones, path, "not-now", &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LATE));
  assert_details (agent, path, "approved", "unknown", "");

  fake_hold_kind (bed->fake, 0);
  pending_wait (&denial);
  g_assert_no_error (denial.error);
  assert_details (agent, path, "denied", "no", "other");
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

/* The ledger has it, and the queue is full: it is denied once the disk gives again. */
static void
test_signed_denial_and_full (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GBytes) bytes = statement_of (jones, path, "deny", "hr.jones");
  g_autoptr (GError) error = NULL;

  disk_fail (DISK_FULL, 0, FALSE);
  assert_fails (deny_with (jones, path, bytes, "good", &error), &error, US_ERROR_UNAVAILABLE,
                US_REASON_INTERNAL);
  assert_row (bed, path, "closed denied hr.jones other");
  assert_details (agent, path, "pending", "no", "");
  g_assert_true (disk_heal ());
  wait_state (agent, path, "denied");
  assert_details (agent, path, "denied", "no", "other");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  disk_install ();
  bed_test ("/statements/statement", NULL, test_statement);
  bed_test ("/statements/statement-refused", NULL, test_statement_refused);
  bed_test ("/statements/statement-is-bound", NULL, test_statement_is_bound);
  bed_test ("/statements/two-answered-in-reverse", NULL, test_two_answered_in_reverse);
  bed_test ("/statements/signed-denial", NULL, test_signed_denial);
  bed_test ("/statements/signed-denial-overtakes", NULL, test_signed_denial_overtakes);
  bed_test ("/statements/signed-denial-and-full", NULL, test_signed_denial_and_full);
  return g_test_run ();
}
