/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a person with a passkey is shown and told, and what nobody else is. */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/record/statement.h"
#include "tests/broker/bed.h"
#include "tests/broker/sample.h"

#include <string.h>
#include <sys/stat.h>

static GVariant *
approver_call (Caller *caller, const char *member, GVariant *parameters, GError **error)
{
  return caller_call (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, member, parameters, error);
}

static void
assert_fails (GVariant *reply, GError **error, int code, const char *reason)
{
  g_assert_null (reply);
  g_assert_error (*error, US_ERROR, code);
  g_assert_true (us_error_has_reason (*error, reason));
  g_clear_error (error);
}

static GVariant *
vardict (const char *text)
{
  g_autoptr (GError) error = NULL;
  GVariant *value = g_variant_parse (G_VARIANT_TYPE_VARDICT, text, NULL, NULL, &error);

  g_assert_no_error (error);
  return value;
}

static char *
register_card (Caller *caller)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      approver_call (caller, "Register", g_variant_new ("(a{sv})", NULL), &error);

  g_assert_no_error (error);
  return g_variant_print (reply, FALSE);
}

static gboolean
card_is_open (Caller *agent, const char *path)
{
  g_autoptr (GVariant) details = NULL;
  gboolean open = FALSE;

  g_free (caller_state (agent, path, &details));
  g_assert_true (g_variant_lookup (details, "card", "b", &open));
  return open;
}

static void
test_signals (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autoptr (Caller) alice = bed_caller (bed, FAKE_ALICE);
  g_autofree char *none = register_card (jones);
  g_autofree char *also_none = register_card (alice);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *later = NULL;
  g_autofree char *wanted = NULL;
  g_autofree char *cards = NULL;
  g_autofree char *removed = NULL;
  g_autofree char *changed = NULL;
  g_autoptr (GVariant) watch = caller_call (agent, path, US_INTERFACE_REQUEST, "Watch", NULL, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (none, ==, "([],)");
  later = register_card (lead);
  wanted = g_strdup_printf ("([('%s', 'pending')],)", path);
  g_assert_cmpstr (later, ==, wanted);
  bed_spin (50);
  cards = g_strdup_printf ("CardAdded %s\n", path);
  g_assert_cmpstr (jones->heard->str, ==, cards);
  g_assert_cmpstr (lead->heard->str, ==, "");
  g_assert_true (card_is_open (agent, path));

  g_assert_true (caller_approve (lead, path, "it.lead", "good", NULL, &error));
  wait_state (agent, path, "done");
  bed_spin (50);
  removed = g_strdup_printf ("CardAdded %s\nCardRemoved %s approved\n", path, path);
  g_assert_cmpstr (jones->heard->str, ==, removed);
  changed = g_strdup_printf ("Changed %s approved\nChanged %s executing\nChanged %s done\n", path,
                             path, path);
  g_assert_cmpstr (agent->heard->str, ==, changed);
  /* Who is not concerned hears nothing. */
  g_assert_cmpstr (alice->heard->str, ==, "");
  g_assert_cmpstr (other->heard->str, ==, "");
  g_assert_false (card_is_open (agent, path));
}

static GVariant *
watch (Caller *caller, const char *path, GError **error)
{
  return caller_call (caller, path, US_INTERFACE_REQUEST, "Watch", NULL, error);
}

/* However many connections an agent has, those who answer hear what became of their answer. */
static void
test_watchers (Bed *bed, gconstpointer config)
{
  g_autoptr (GPtrArray) agents = g_ptr_array_new_with_free_func ((GDestroyNotify) caller_free);
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *changed = NULL;
  g_autoptr (GVariant) by_jones = NULL;
  g_autoptr (GVariant) by_lead = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < SIGNALS_WATCHERS_MAX + 1; i++)
    {
      g_autoptr (GVariant) reply = NULL;

      g_ptr_array_add (agents, bed_caller (bed, FAKE_AGENT));
      reply = watch (g_ptr_array_index (agents, i), path, &error);
      if (i < SIGNALS_WATCHERS_MAX)
        g_assert_no_error (error);
    }
  g_assert_true (g_error_matches (error, US_ERROR, US_ERROR_LIMIT_EXCEEDED));
  g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
  g_clear_error (&error);

  by_jones = watch (jones, path, &error);
  g_assert_no_error (error);
  by_lead = watch (lead, path, &error);
  g_assert_no_error (error);
  g_assert_true (caller_approve (lead, path, "it.lead", "good", NULL, &error));
  wait_state (jones, path, "done");
  bed_spin (50);
  changed = g_strdup_printf ("Changed %s approved\nChanged %s executing\nChanged %s done\n", path,
                             path, path);
  g_assert_cmpstr (jones->heard->str, ==, changed);
  g_assert_cmpstr (lead->heard->str, ==, changed);
}

/* The place of a connection that left is free again. */
static void
test_watcher_leaves (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < SIGNALS_WATCHERS_MAX + 1; i++)
    {
      g_autoptr (Caller) more = bed_caller (bed, FAKE_AGENT);
      g_autoptr (GVariant) reply = watch (more, path, &error);
      g_autoptr (GVariant) again = watch (more, path, &error); /* counts once */

      g_assert_no_error (error);
      g_clear_pointer (&more, caller_free);
      bed_spin (20);
    }
}

/* A card that leaves is not counted on, and does not keep anything. */
static void
test_card_leaves (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) alice = bed_caller (bed, FAKE_ALICE);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);

  g_free (register_card (alice));
  g_assert_false (card_is_open (agent, path));
  g_free (register_card (jones));
  g_assert_true (card_is_open (agent, path));
  g_clear_pointer (&jones, caller_free);
  bed_spin (50);
  g_assert_false (card_is_open (agent, path));
}

static void
test_card (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *path = caller_submit (agent, run, "b@example.com", "{'claim': <'for you'>}");
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) card =
      approver_call (jones, "GetCard", g_variant_new ("(o)", path), &error);
  g_autoptr (GVariant) bytes = NULL;
  g_autoptr (GVariant) details = NULL;
  g_autoptr (GVariant) history = NULL;
  g_autoptr (GBytes) data = NULL;
  g_autoptr (Record) record = NULL;
  g_autofree char *digest = NULL;
  g_autofree char *text = NULL;
  g_autofree char *own = digest_to_string ((const guint8 *) "                                ");
  guint32 attempts = 0, needed = 0, answers = 1;
  gboolean again = TRUE, answered = TRUE;
  guint64 deadline = 0;

  g_assert_no_error (error);
  bytes = g_variant_get_child_value (card, 0);
  details = g_variant_get_child_value (card, 1);
  data = g_variant_get_data_as_bytes (bytes);
  record = record_decode (data, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (record_agent_name (record), ==, "offboarding");
  g_assert_cmpstr (record_claim (record), ==, "for you");
  digest = details_get (details, "digest");
  g_free (own);
  own = digest_to_string (record_digest (record));
  g_assert_cmpstr (digest, ==, own);

  g_assert_true (g_variant_lookup (details, "attempts", "u", &attempts));
  g_assert_true (g_variant_lookup (details, "needed", "u", &needed));
  g_assert_true (g_variant_lookup (details, "answers", "u", &answers));
  g_assert_true (g_variant_lookup (details, "again", "b", &again));
  g_assert_true (g_variant_lookup (details, "answered", "b", &answered));
  g_assert_true (g_variant_lookup (details, "deadline", "t", &deadline));
  g_assert_cmpuint (attempts, ==, REQUEST_ATTEMPTS);
  g_assert_cmpuint (needed, ==, 1);
  g_assert_cmpuint (answers, ==, 0);
  g_assert_false (again);
  g_assert_false (answered);
  g_assert_cmpuint (deadline, >, 0);
  history = g_variant_lookup_value (details, "history", G_VARIANT_TYPE ("a(ss)"));
  text = g_variant_print (history, FALSE);
  g_assert_cmpstr (text, ==, "[('Send an e-mail', 'pending')]");
}

/* Nobody but who may answer is shown it; whether it exists is not told. */
static void
test_card_of_others (Bed *bed, gconstpointer config)
{
  static const char *const members[] = { "GetCard", "GetStatement", "OpenFile", "Approve", "Deny",
                                         "GetReceipt" };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) alice = bed_caller (bed, FAKE_ALICE);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *absent = request_path_of (SAMPLE_ID);
  const char *const paths[] = { path, absent, "/org/undersign1", "/" };

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    for (guint j = 0; j < G_N_ELEMENTS (paths); j++)
      {
        GVariant *parameters[] = {
          g_variant_new ("(o)", paths[j]),
          g_variant_new ("(oa{sv})", paths[j], NULL),
          g_variant_new ("(osu)", paths[j], "attachment", 0),
          g_variant_new ("(o@aya{sv})", paths[j], g_variant_new_bytestring ("x"), NULL),
          g_variant_new ("(osa{sv})", paths[j], "other", NULL),
          g_variant_new ("(o)", paths[j]),
        };
        g_autoptr (GError) error = NULL;

        assert_fails (approver_call (alice, members[i], parameters[i], &error), &error,
                      US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
        for (guint k = 0; k < G_N_ELEMENTS (parameters); k++)
          if (k != i)
            g_variant_unref (g_variant_ref_sink (parameters[k]));
      }
  g_assert_cmpuint (fake_answered (bed->fake), ==, 0);
}

/* --- statements --- */

static GVariant *
statement_options (const char *decision, const char *credential)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&builder, "{sv}", "decision", g_variant_new_string (decision));
  g_variant_builder_add (&builder, "{sv}", "credential",
                         g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, credential,
                                                    strlen (credential), 1));
  return g_variant_builder_end (&builder);
}

static GBytes *
statement_of (Caller *caller, const char *path, const char *decision, const char *credential)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      approver_call (caller, "GetStatement",
                     g_variant_new ("(o@a{sv})", path, statement_options (decision, credential)),
                     &error);
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
    { "{'decision': <'approve'>, 'credential': <[byte 1]>, 'rp': <'x'>}",
      US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_OPTION },
  };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_fails (approver_call (jones, "GetStatement",
                                 g_variant_new ("(o@a{sv})", path, vardict (cases[i].options)),
                                 &error),
                  &error, cases[i].code, cases[i].reason);
  /* Another person's credential is nobody's here. */
  assert_fails (approver_call (jones, "GetStatement",
                               g_variant_new ("(o@a{sv})", path,
                                              statement_options ("approve", "it.lead")),
                               &error),
                &error, US_ERROR_NOT_APPROVER, US_REASON_CREDENTIAL_UNKNOWN);
}

static GVariant *
assertion_of (const char *credential, const char *signature)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&builder, "{sv}", "credential",
                         g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, credential,
                                                    strlen (credential), 1));
  g_variant_builder_add (&builder, "{sv}", "client-data", g_variant_new_bytestring ("x"));
  g_variant_builder_add (&builder, "{sv}", "auth-data", g_variant_new_bytestring ("x"));
  g_variant_builder_add (&builder, "{sv}", "signature",
                         g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, signature,
                                                    strlen (signature), 1));
  return g_variant_builder_end (&builder);
}

static GVariant *
approve_with (Caller *caller,
              const char *path,
              GBytes *statement,
              const char *credential,
              GError **error)
{
  return approver_call (caller, "Approve",
                        g_variant_new ("(o@ay@a{sv})", path,
                                       g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING,
                                                                 statement, TRUE),
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

  assert_fails (approver_call (jones, "Deny",
                               g_variant_new ("(os@a{sv})", path, "other",
                                              assertion_of ("hr.jones", "good")),
                               &error),
                &error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT);
  for (guint i = 0; i < G_N_ELEMENTS (signatures); i++)
    {
      g_autoptr (GVariant) assertion =
          g_variant_ref_sink (assertion_of ("hr.jones", signatures[i]));
      GVariantDict dict;

      g_variant_dict_init (&dict, assertion);
      g_variant_dict_insert_value (&dict, "statement",
                                   g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes,
                                                             TRUE));
      reply = approver_call (jones, "Deny",
                             g_variant_new ("(os@a{sv})", path, "other",
                                            g_variant_dict_end (&dict)),
                             &error);
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

/* --- files --- */

static GVariant *
mail_with_files (const char *run, guint n)
{
  GVariantBuilder arguments;
  GVariantBuilder list;
  const char *const to[] = { "a@example.com", NULL };

  g_variant_builder_init (&list, G_VARIANT_TYPE ("a(sh)"));
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("file-%u.txt", i);

      g_variant_builder_add (&list, "(sh)", name, n - 1 - i);
    }
  g_variant_builder_init (&arguments, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&arguments, "{sv}", "to", g_variant_new_strv (to, -1));
  g_variant_builder_add (&arguments, "{sv}", "subject", g_variant_new_string ("Report"));
  g_variant_builder_add (&arguments, "{sv}", "attachment", g_variant_builder_end (&list));
  return g_variant_new ("(ssa{sv}a{sv})", run, "mail.send", &arguments, NULL);
}

static void
assert_file (Caller *caller, const char *path, guint index, const char *text)
{
  g_autoptr (GUnixFDList) fds = NULL;
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GError) error = NULL;
  autofd fd = -1;
  char buffer[64] = "";

  reply = caller_call_with_fds (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, "OpenFile",
                                g_variant_new ("(osu)", path, "attachment", index), NULL, &fds,
                                &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_unix_fd_list_get_length (fds), ==, 1);
  fd = g_unix_fd_list_get (fds, 0, NULL);
  g_assert_cmpint (read (fd, buffer, sizeof buffer - 1), ==, (gssize) strlen (text));
  g_assert_cmpstr (buffer, ==, text);
  g_assert_cmpint (write (fd, "x", 1), ==, -1);
}

static guint
count_spooled (Bed *bed)
{
  g_autofree char *spool = g_build_filename (bed->dir, "state", "spool", NULL);
  g_autoptr (GDir) dir = g_dir_open (spool, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static char *
submit_files (Caller *agent, const char *run, guint n, GError **error)
{
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr (GVariant) reply = NULL;
  char *path = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = g_strdup_printf ("content %u", i);
      autofd fd = memfd_new_sealed ("test", text, strlen (text), NULL);

      g_unix_fd_list_append (fds, fd, NULL);
    }
  reply = caller_call_with_fds (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                                mail_with_files (run, n), fds, NULL, error);
  if (reply != NULL)
    g_variant_get (reply, "(os)", &path, NULL);
  return path;
}

static void
test_files (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = submit_files (agent, run, 3, &error);

  g_assert_no_error (error);
  /* By the argument's own order, not that of the descriptors. */
  assert_file (jones, path, 0, "content 2");
  assert_file (jones, path, 2, "content 0");
  assert_fails (approver_call (jones, "OpenFile", g_variant_new ("(osu)", path, "attachment", 3),
                               &error),
                &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  assert_fails (approver_call (jones, "OpenFile", g_variant_new ("(osu)", path, "subject", 0),
                               &error),
                &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  assert_fails (approver_call (jones, "OpenFile", g_variant_new ("(osu)", path, "../x", 0), &error),
                &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  g_assert_cmpuint (count_spooled (bed), ==, 1);

  /* They survive a restart, and go when the request ends. */
  bed_stop (bed);
  bed_start (bed);
  bed_spin (200);
  assert_file (jones, path, 1, "content 1");
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  wait_state (agent, path, "done");
  g_assert_cmpuint (count_spooled (bed), ==, 0);
}

/* A file that was changed on the disk makes another request, which nobody asked for. */
static void
test_files_changed (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = submit_files (agent, run, 1, &error);
  g_autofree char *copy = NULL;
  g_autofree char *reason = NULL;
  g_autoptr (GVariant) details = NULL;

  g_assert_no_error (error);
  copy = g_build_filename (bed->dir, "state", "spool", request_id_of (path), "0", NULL);
  bed_stop (bed);
  g_assert_true (g_file_set_contents (copy, "content 9", -1, NULL));
  bed_start (bed);
  wait_state (agent, path, "refused");
  g_free (caller_state (agent, path, &details));
  reason = details_get (details, "reason");
  g_assert_true (g_str_has_prefix (reason, US_REASON_RECORD_CHANGED ":"));
  g_assert_cmpuint (count_spooled (bed), ==, 0);
}

/* --- reach --- */

static void
test_unreachable (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *row = NULL;

  /* One of two is enough. */
  fake_passkey (bed->fake, FAKE_JONES, FALSE);
  bed_spin (1500);
  wait_state (agent, path, "pending");
  fake_passkey (bed->fake, FAKE_LEAD, FALSE);
  wait_state (agent, path, "unreachable");
  bed_spin (50);
  row = fake_row (bed->fake, request_id_of (path));
  g_assert_cmpstr (row, ==, "closed unreachable  ");
}

/* A passkey that is newer than what the broker remembers of the person. */
static void
test_reachable_again (Bed *bed, gconstpointer config)
{
  static const uid_t uids[] = { FAKE_JONES, FAKE_LEAD };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (uids); i++)
    {
      g_autoptr (Caller) caller = bed_caller (bed, uids[i]);
      g_autoptr (GError) error = NULL;

      fake_passkey (bed->fake, uids[i], FALSE);
      assert_fails (approver_call (caller, "GetCard", g_variant_new ("(o)", "/"), &error), &error,
                    US_ERROR_NOT_APPROVER, US_REASON_NOT_APPROVER);
      fake_passkey (bed->fake, uids[i], TRUE);
    }
  path = caller_submit (agent, run, "a@example.com", NULL);
  bed_spin (1500); /* a look */
  wait_state (agent, path, "pending");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/cards/signals", NULL, test_signals);
  bed_test ("/cards/watchers", NULL, test_watchers);
  bed_test ("/cards/watcher-leaves", NULL, test_watcher_leaves);
  bed_test ("/cards/card-leaves", NULL, test_card_leaves);
  bed_test ("/cards/card", NULL, test_card);
  bed_test ("/cards/card-of-others", NULL, test_card_of_others);
  bed_test ("/cards/statement", NULL, test_statement);
  bed_test ("/cards/statement-refused", NULL, test_statement_refused);
  bed_test ("/cards/statement-is-bound", NULL, test_statement_is_bound);
  bed_test ("/cards/two-answered-in-reverse", NULL, test_two_answered_in_reverse);
  bed_test ("/cards/signed-denial", NULL, test_signed_denial);
  bed_test ("/cards/files", NULL, test_files);
  bed_test ("/cards/files-changed", NULL, test_files_changed);
  bed_test ("/cards/unreachable", NULL, test_unreachable);
  bed_test ("/cards/reachable-again", NULL, test_reachable_again);
  return g_test_run ();
}
