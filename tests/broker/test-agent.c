/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an agent may ask, what it is told, and what it is never given: another's runs and requests. */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static GVariant *
submission (const char *run, const char *action, const char *arguments, const char *options)
{
  return g_variant_new ("(ss@a{sv}@a{sv})", run, action, vardict (arguments), vardict (options));
}

#define MAIL "{'to': <['a@example.com']>, 'subject': <'Report'>}"

/* --- what is refused --- */

static void
test_submit_refused (Bed *bed, gconstpointer config)
{
  static const struct
  {
    const char *action, *arguments, *options;
    int code;
    const char *reason;
  } cases[] = {
    /* by the broker, before anyone is asked */
    { "mail.send", MAIL, "{'approved': <true>}", US_ERROR_INVALID_ARGUMENT,
      US_REASON_UNKNOWN_OPTION },
    { "mail.send", MAIL, "{'claim': <'a'>, 'claim': <'b'>}", US_ERROR_INVALID_ARGUMENT,
      US_REASON_DUPLICATE_ARGUMENT },
    { "mail.send", MAIL, "{'claim': <['a']>}", US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE },
    { "mail.send", MAIL, "{'idempotency-key': <''>}", US_ERROR_INVALID_ARGUMENT,
      US_REASON_BAD_VALUE },
    { "mail.send", MAIL, "{'supersedes': <'/org/undersign1'>}", US_ERROR_INVALID_ARGUMENT,
      US_REASON_WRONG_TYPE },
    { "mail.send", MAIL, "{'supersedes': <objectpath '/org/undersign1'>}", US_ERROR_NOT_FOUND,
      US_REASON_NOT_FOUND },
    { "mail.send", MAIL,
      "{'supersedes': <objectpath '/org/undersign1/request/" SAMPLE_ID "'>}", US_ERROR_NOT_FOUND,
      US_REASON_NOT_FOUND },
    /* by the executor, whose one decoder the arguments pass */
    { "no.such", "{}", "{}", US_ERROR_UNKNOWN_ACTION, US_REASON_UNKNOWN_ACTION },
    { "mail.send", "{'to': <['a@example.com']>}", "{}", US_ERROR_INVALID_ARGUMENT,
      US_REASON_MISSING_ARGUMENT },
    { "mail.send", "{'to': <['a@example.com']>, 'subject': <'a'>, 'x': <'b'>}", "{}",
      US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT },
    { "mail.send", "{'to': <['a@example.com']>, 'subject': <'a'>, 'to': <['b@example.com']>}",
      "{}", US_ERROR_INVALID_ARGUMENT, US_REASON_DUPLICATE_ARGUMENT },
    { "mail.send", "{'to': <'a@example.com'>, 'subject': <'a'>}", "{}", US_ERROR_INVALID_ARGUMENT,
      US_REASON_WRONG_TYPE },
    { "mail.send", "{'to': <['a@EXAMPLE.com']>, 'subject': <'a'>}", "{}",
      US_ERROR_INVALID_ARGUMENT, US_REASON_NOT_CANONICAL },
    { "mail.send", "{'to': <['a@example.com']>, 'subject': <'a\\nb'>}", "{}",
      US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE },
    { "mail.send", "{'to': <['a@example.com']>, 'subject': <'a'>,"
                   " 'attachment': <[('x', handle 0)]>}",
      "{}", US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_HANDLE },
  };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autoptr (GVariant) list = NULL;
  g_autoptr (GVariant) inner = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("%s %s", cases[i].arguments, cases[i].options);
      assert_fails (
          caller_agent (agent, "Submit",
                        submission (run, cases[i].action, cases[i].arguments, cases[i].options),
                        &error),
          &error, cases[i].code, cases[i].reason);
    }
  assert_fails (
      caller_agent (agent, "Submit", submission (SAMPLE_RUN, "mail.send", MAIL, "{}"), &error),
      &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);

  /* Nothing of all this is left behind, and no place is taken. */
  list = caller_agent (agent, "ListRequests", NULL, &error);
  g_assert_no_error (error);
  inner = g_variant_get_child_value (list, 0);
  g_assert_cmpuint (g_variant_n_children (inner), ==, 0);
  g_assert_cmpuint (limits_pending_all (bed->broker->limits), ==, 0);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static void
test_sizes_refused (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *claim = g_strnfill (2001, 'x');
  g_autofree char *large = g_strnfill (1024 * 1024, 'x');
  g_autofree char *options = g_strdup_printf ("{'claim': <'%s'>}", claim);
  g_autofree char *arguments = g_strdup_printf ("{'subject': <'%s'>}", large);
  g_autoptr (GError) error = NULL;

  assert_fails (
      caller_agent (agent, "Submit", submission (run, "mail.send", MAIL, options), &error), &error,
      US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE);
  assert_fails (
      caller_agent (agent, "Submit", submission (run, "mail.send", arguments, "{}"), &error),
      &error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 0);
}

/* Every refusal of prepare reaches the agent as it is, and leaves nothing. */
static void
test_prepare_refused (Bed *bed, gconstpointer config)
{
  static const struct
  {
    int code;
    const char *reason;
  } cases[] = {
    { US_ERROR_REFUSED, US_REASON_NO_RULE },
    { US_ERROR_REFUSED, US_REASON_DENIED_BY_RULE },
    { US_ERROR_REFUSED, US_REASON_INTENT_UNKNOWN },
    { US_ERROR_NO_APPROVER, US_REASON_NO_APPROVER },
    { US_ERROR_HALTED, US_REASON_HALTED },
    { US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID },
    { US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT },
    { US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE },
  };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      fake_refuse (bed->fake, cases[i].code, cases[i].reason);
      assert_fails (
          caller_agent (agent, "Submit", mail_parameters (run, "a@example.com", NULL), &error),
          &error, cases[i].code, cases[i].reason);
      g_assert_cmpuint (limits_pending_all (bed->broker->limits), ==, 0);
    }
  /* A decision that is no decision is not taken for one. */
  fake_refuse (bed->fake, 0, NULL);
  fake_decide (bed->fake, "maybe");
  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "a@example.com", NULL), &error), &error,
      US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
}

static void
test_unsealed (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr (GError) error = NULL;
  int pair[2] = { -1, -1 };

  g_assert_cmpint (pipe (pair), ==, 0);
  g_unix_fd_list_append (fds, pair[0], NULL);
  assert_fails (caller_call_with_fds (
                    agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                    submission (run, "mail.send",
                                "{'to': <['a@example.com']>, 'subject': <'a'>,"
                                " 'attachment': <[('x', handle 0)]>}",
                                "{}"),
                    fds, NULL, &error),
                &error, US_ERROR_INVALID_ARGUMENT, US_REASON_NOT_SEALED);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 0);
  fd_clear (&pair[0]);
  fd_clear (&pair[1]);
}

/* --- limits --- */

static const char small_limits[] = "[Limits]\nPending=2\nPendingAll=3\nPendingReserve=1\n"
                                   "SubmitsPerMinute=5\nSpoolBytes=10\nDiskReserve=0\n";

static void
test_limits (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) second = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", NULL);
  g_autoptr (GVariant) withdrawn = NULL;
  g_autoptr (GError) error = NULL;

  g_free (caller_submit (agent, run, "b@example.com", NULL));
  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "c@example.com", NULL), &error), &error,
      US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);
  /* The cap is the uid's, not the connection's. */
  assert_fails (
      caller_agent (second, "Submit", mail_parameters (run, "c@example.com", NULL), &error), &error,
      US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 2);
  withdrawn = caller_call (agent, first, US_INTERFACE_REQUEST, "Withdraw", NULL, &error);
  g_assert_no_error (error);
  g_free (caller_submit (agent, run, "c@example.com", NULL));
  /* That was the fifth of this minute. */
  assert_fails (
      caller_agent (second, "Submit", mail_parameters (run, "d@example.com", NULL), &error), &error,
      US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);
}

static void
test_spool_limit (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr (GError) error = NULL;
  autofd fd = memfd_new_sealed ("test", "eleven bytes", 11, NULL);

  g_unix_fd_list_append (fds, fd, NULL);
  assert_fails (caller_call_with_fds (
                    agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                    submission (run, "mail.send",
                                "{'to': <['a@example.com']>, 'subject': <'a'>,"
                                " 'attachment': <[('x', handle 0)]>}",
                                "{}"),
                    fds, NULL, &error),
                &error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 0);
}

/* --- whose it is --- */

static void
test_foreign (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *absent = request_path_of (SAMPLE_ID);
  static const char *const members[] = { "GetState", "Watch", "Unwatch", "Leave", "Withdraw" };
  const char *const paths[] = { path, absent };
  g_autoptr (GVariant) list = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    for (guint j = 0; j < G_N_ELEMENTS (paths); j++)
      assert_fails (caller_call (other, paths[j], US_INTERFACE_REQUEST, members[i], NULL, &error),
                    &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  assert_fails (
      caller_agent (other, "Submit", mail_parameters (run, "a@example.com", NULL), &error), &error,
      US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  assert_fails (caller_agent (other, "CloseRun", g_variant_new ("(s)", run), &error), &error,
                US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  list = caller_agent (other, "ListRequests", NULL, &error);
  text = g_variant_print (list, FALSE);
  g_assert_cmpstr (text, ==, "([],)");
  wait_state (agent, path, "pending");
}

/* --- runs --- */

static void
test_runs (Bed *bed, gconstpointer config)
{
  static const struct
  {
    const char *options, *reason;
  } bad[] = {
    { "{'label': <''>}", US_REASON_BAD_VALUE },
    { "{'label': <1>}", US_REASON_WRONG_TYPE },
    { "{'part': <'accounts'>}", US_REASON_BAD_VALUE },
    { "{'part': <'main'>, 'part': <'licences'>}", US_REASON_DUPLICATE_ARGUMENT },
    { "{'initiator': <'hr.jones'>}", US_REASON_UNKNOWN_OPTION },
  };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *again = NULL;
  g_autoptr (GVariant) plain = NULL;
  g_autoptr (GVariant) closed = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    assert_fails (caller_open_run_with (agent, bad[i].options, &error), &error,
                  US_ERROR_INVALID_ARGUMENT, bad[i].reason);
  plain = caller_open_run_with (agent, "{}", &error);
  g_assert_no_error (error);

  /* A run outlives the daemon, as it does the agent's processes. */
  bed_stop (bed);
  bed_start (bed);
  again = caller_open_run (agent, "ticket");
  g_assert_cmpstr (again, ==, run);
  closed = caller_agent (agent, "CloseRun", g_variant_new ("(s)", run), &error);
  g_assert_no_error (error);
  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "a@example.com", NULL), &error), &error,
      US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
}

static void
test_initiators (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) kim = bed_caller (bed, FAKE_KIM);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autoptr (Caller) alice = bed_caller (bed, FAKE_ALICE);
  Caller *const nobody[] = { agent, other, lead, alice };
  g_autoptr (GVariant) by_kim = NULL;
  g_autoptr (GVariant) card = NULL;
  g_autoptr (GVariant) bytes_child = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (Record) record = NULL;
  g_autofree char *joined = NULL;
  g_autofree char *path = NULL;
  const char *run = NULL;
  const char *initiator = NULL;
  guint32 uid = 0;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (nobody); i++)
    {
      assert_fails (caller_open_run_for (nobody[i], "offboarding", "{}", &error), &error,
                    US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
      assert_fails (caller_open_run_for (nobody[i], "no-such", "{}", &error), &error,
                    US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
    }
  by_kim = caller_open_run_for (kim, "offboarding", "{'label': <'ticket'>}", &error);
  g_assert_no_error (error);
  g_variant_get (by_kim, "(&s)", &run);
  joined = caller_open_run (agent, "ticket");
  g_assert_cmpstr (joined, ==, run);
  assert_fails (caller_open_run_for (jones, "offboarding", "{'label': <'ticket'>}", &error), &error,
                US_ERROR_WRONG_STATE, US_REASON_WRONG_STATE);

  path = caller_submit (agent, run, "a@example.com", NULL);
  card = caller_call (jones, US_OBJECT_PATH, US_INTERFACE_APPROVER, "GetCard",
                      g_variant_new ("(o)", path), &error);
  g_assert_no_error (error);
  bytes_child = g_variant_get_child_value (card, 0);
  bytes = g_variant_get_data_as_bytes (bytes_child);
  record = record_decode (bytes, &error);
  g_assert_true (record_initiator (record, &initiator, &uid));
  g_assert_cmpstr (initiator, ==, "hr.kim");
  g_assert_cmpuint (uid, ==, FAKE_KIM);
}

/* Whoever opened a run for an agent may close it, and nobody else but the agent. */
static void
test_initiator_closes (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autoptr (Caller) kim = bed_caller (bed, FAKE_KIM);
  g_autoptr (Caller) alice = bed_caller (bed, FAKE_ALICE);
  g_autoptr (GVariant) by_kim = NULL, by_jones = NULL, closed = NULL, closed_too = NULL;
  g_autofree char *own = caller_open_run (agent, "own");
  g_autofree char *path = NULL;
  const char *run = NULL;
  g_autoptr (GError) error = NULL;

  by_kim = caller_open_run_for (kim, "offboarding", "{'label': <'ticket'>}", &error);
  g_assert_no_error (error);
  g_variant_get (by_kim, "(&s)", &run);
  path = caller_submit (agent, run, "a@example.com", NULL);
  /* Who has opened none is told nothing of any. */
  assert_fails (caller_agent (alice, "CloseRun", g_variant_new ("(s)", run), &error), &error,
                US_ERROR_NOT_AGENT, US_REASON_NOT_AGENT);
  assert_fails (caller_agent (jones, "CloseRun", g_variant_new ("(s)", run), &error), &error,
                US_ERROR_NOT_AGENT, US_REASON_NOT_AGENT);
  by_jones = caller_open_run_for (jones, "offboarding", "{'label': <'mine'>}", &error);
  g_assert_no_error (error);
  assert_fails (caller_agent (jones, "CloseRun", g_variant_new ("(s)", run), &error), &error,
                US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  assert_fails (caller_agent (other, "CloseRun", g_variant_new ("(s)", run), &error), &error,
                US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  /* Not what the agent opened itself. */
  assert_fails (caller_agent (kim, "CloseRun", g_variant_new ("(s)", own), &error), &error,
                US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  /* The role is for this alone. */
  assert_fails (caller_agent (kim, "GetInfo", NULL, &error), &error, US_ERROR_NOT_AGENT,
                US_REASON_NOT_AGENT);

  closed = caller_agent (kim, "CloseRun", g_variant_new ("(s)", run), &error);
  g_assert_no_error (error);
  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "b@example.com", NULL), &error), &error,
      US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  wait_state (agent, path, "pending");
  assert_fails (caller_agent (kim, "CloseRun", g_variant_new ("(s)", run), &error), &error,
                US_ERROR_NOT_AGENT, US_REASON_NOT_AGENT);
  g_variant_get (by_jones, "(&s)", &run);
  closed_too = caller_agent (agent, "CloseRun", g_variant_new ("(s)", run), &error);
  g_assert_no_error (error);
}

/* --- what it is told --- */

static void
test_info (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = caller_agent (agent, "GetInfo", NULL, &error);
  g_autoptr (GVariant) info = NULL;
  g_autofree char *name = NULL;
  g_autofree char *owner = NULL;
  g_autofree char *until = NULL;
  g_auto (GStrv) parts = NULL;
  guint32 pending = 7;

  g_assert_no_error (error);
  info = g_variant_get_child_value (reply, 0);
  name = details_get (info, "agent");
  owner = details_get (info, "owner");
  until = details_get (info, "paused-until");
  g_assert_cmpstr (name, ==, "offboarding");
  g_assert_cmpstr (owner, ==, "hr.jones");
  g_assert_null (until);
  g_assert_true (g_variant_lookup (info, "parts", "^as", &parts));
  g_assert_cmpstr (parts[0], ==, "main");
  g_assert_cmpstr (parts[1], ==, "licences");
  g_assert_true (g_variant_lookup (info, "pending", "u", &pending));
  g_assert_cmpuint (pending, ==, 0);
}

static void
test_actions (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) list = caller_agent (agent, "ListActions", NULL, &error);
  g_autofree char *text = g_variant_print (list, FALSE);
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GVariant) description = NULL;
  g_autoptr (GVariant) arguments = NULL;
  g_autoptr (GVariant) to = NULL;
  g_autoptr (GVariant) cc = NULL;
  g_autoptr (GVariant) attachment = NULL;
  g_autoptr (GVariant) empty = NULL;
  g_autofree char *signature = NULL;
  g_autofree char *files = NULL;
  g_autofree char *schema = NULL;

  g_assert_cmpstr (
      text, ==,
      "({'mail.send': {'summary': <'Send an e-mail'>, 'effect': <'irreversible'>, "
      "'needs-approval': <'always'>}, 'note.write': {'summary': <'Write a note'>, "
      "'effect': <'reversible'>, 'needs-approval': <'never'>}},)");
  assert_fails (caller_agent (other, "DescribeAction", g_variant_new ("(s)", "note.write"), &error),
                &error, US_ERROR_UNKNOWN_ACTION, US_REASON_UNKNOWN_ACTION);
  assert_fails (caller_agent (other, "DescribeAction", g_variant_new ("(s)", "no.such"), &error),
                &error, US_ERROR_UNKNOWN_ACTION, US_REASON_UNKNOWN_ACTION);

  reply = caller_agent (agent, "DescribeAction", g_variant_new ("(s)", "mail.send"), &error);
  g_assert_no_error (error);
  description = g_variant_get_child_value (reply, 0);
  arguments = g_variant_lookup_value (description, "arguments", G_VARIANT_TYPE ("aa{sv}"));
  g_assert_cmpuint (g_variant_n_children (arguments), ==, 6);
  to = g_variant_get_child_value (arguments, 0);
  cc = g_variant_get_child_value (arguments, 1);
  attachment = g_variant_get_child_value (arguments, 5);
  signature = details_get (to, "signature");
  files = details_get (attachment, "signature");
  schema = details_get (to, "schema");
  g_assert_cmpstr (signature, ==, "as");
  g_assert_cmpstr (files, ==, "a(sh)");
  g_assert_true (g_str_has_prefix (schema, "{\""));
  g_assert_null (g_variant_lookup_value (to, "default", NULL));
  empty = g_variant_lookup_value (cc, "default", G_VARIANT_TYPE_STRING_ARRAY);
  g_assert_nonnull (empty);
  g_assert_cmpuint (g_variant_n_children (empty), ==, 0);
}

/* What DescribeAction() says of "one-of", as text; "" where it says nothing. */
static char *
one_of (Caller *caller, const char *action)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      caller_agent (caller, "DescribeAction", g_variant_new ("(s)", action), &error);
  g_autoptr (GVariant) description = NULL;
  g_autoptr (GVariant) groups = NULL;

  g_assert_no_error (error);
  description = g_variant_get_child_value (reply, 0);
  groups = g_variant_lookup_value (description, "one-of", NULL);
  return groups != NULL ? g_variant_print (groups, TRUE) : g_strdup ("");
}

/* Of which arguments the module needs one: those that the agent can fill, and not where policy has
 * filled one. */
static void
test_one_of (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *before = one_of (agent, "mail.send");
  g_autofree char *after = g_strdup (before);
  g_autofree char *other = NULL;
  gint64 end = g_get_monotonic_time () + BED_PATIENCE * G_USEC_PER_SEC;

  g_assert_cmpstr (before, ==, "");
  fake_policy (bed->fake, "actions/account.suspend.action", "");
  fake_policy (bed->fake, "actions/mail.send.action",
               "[Action]\nSummary=Send an e-mail\nEffect=irreversible\n"
               "[Executor]\nModule=mail\nServer=smtp.example.com:587\nFrom=a@example.com\n"
               "[Argument to]\nLabel=To\nType=email-list\n"
               "[Argument cc]\nLabel=Cc\nType=email-list\n"
               "[Argument bcc]\nLabel=Bcc\nType=email-list\nValue=\n"
               "[Argument list]\nLabel=List\nType=email\nValue=hr@example.com\n"
               "[Argument ticket]\nLabel=Ticket\nType=line\n");
  fake_policy (bed->fake, "modules/mail.module",
               "[Module]\nSummary=Mail\n"
               "[Argument to]\nTypes=email-list\nOneOf=recipient\n"
               "[Argument cc]\nTypes=email-list\nOneOf=recipient\n"
               "[Argument bcc]\nTypes=email-list\nOneOf=recipient\n"
               "[Argument list]\nTypes=email\nOneOf=why\n"
               "[Argument ticket]\nTypes=line\nOneOf=why\n"
               "[Setting server]\nLabel=Server\nType=hostport\nRequired=yes\n"
               "[Setting from]\nLabel=From\nType=email\nRequired=yes\n");
  while (after[0] == '\0')
    {
      g_assert_cmpint (g_get_monotonic_time (), <, end);
      bed_spin (10);
      g_free (after);
      after = one_of (agent, "mail.send");
    }
  g_assert_cmpstr (after, ==, "[['to', 'cc']]");
  other = one_of (agent, "note.write");
  g_assert_cmpstr (other, ==, "");
}

/* Until GetInfo() is refused so, or not at all: the daemon looks at the policy once a second. */
static void
wait_info (Caller *caller, const char *reason)
{
  gint64 end = g_get_monotonic_time () + BED_PATIENCE * G_USEC_PER_SEC;

  for (;;)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GVariant) info = caller_agent (caller, "GetInfo", NULL, &error);

      if (reason == NULL ? error == NULL : us_error_has_reason (error, reason))
        return;
      g_assert_cmpint (g_get_monotonic_time (), <, end);
      bed_spin (10);
    }
}

/* An invalid set is no set: only what is safe goes on, until it is repaired. */
static void
test_policy_invalid (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *first = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *second = caller_submit (agent, run, "b@example.com", NULL);
  g_autoptr (GVariant) withdrawn = NULL;
  g_autoptr (GError) error = NULL;

  fake_fault (bed->fake, "x.rule:1: it is broken");
  wait_info (agent, US_REASON_POLICY_INVALID);
  assert_fails (
      caller_agent (agent, "Submit", mail_parameters (run, "c@example.com", NULL), &error), &error,
      US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID);
  assert_fails (caller_agent (agent, "ListActions", NULL, &error), &error, US_ERROR_POLICY_INVALID,
                US_REASON_POLICY_INVALID);
  withdrawn = caller_call (agent, first, US_INTERFACE_REQUEST, "Withdraw", NULL, &error);
  g_assert_no_error (error);
  g_assert_true (caller_deny (jones, second, "other", &error));
  fake_fault (bed->fake, NULL);
  wait_info (agent, NULL);
}

/* An agent that policy no longer knows is none, a second after it was told so. */
static void
test_agent_removed (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autofree char *run = caller_open_run (other, "ticket");
  g_autoptr (GError) error = NULL;

  fake_policy (bed->fake, "rules/x.rule",
               "[Rule mail]\nAgents=offboarding\nActions=mail.send\nDecision=ask\n"
               "Approvers=hr.jones\nPasskeys=phone\n");
  fake_policy (bed->fake, "agents/other.agent", NULL);
  wait_info (other, US_REASON_NOT_AGENT);
  assert_fails (
      caller_agent (other, "Submit", mail_parameters (run, "a@example.com", NULL), &error), &error,
      US_ERROR_NOT_AGENT, US_REASON_NOT_AGENT);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/agent/submit-refused", NULL, test_submit_refused);
  bed_test ("/agent/sizes-refused", NULL, test_sizes_refused);
  bed_test ("/agent/prepare-refused", NULL, test_prepare_refused);
  bed_test ("/agent/unsealed", NULL, test_unsealed);
  bed_test ("/agent/limits", small_limits, test_limits);
  bed_test ("/agent/spool-limit", small_limits, test_spool_limit);
  bed_test ("/agent/foreign", NULL, test_foreign);
  bed_test ("/agent/runs", NULL, test_runs);
  bed_test ("/agent/initiators", NULL, test_initiators);
  bed_test ("/agent/initiator-closes", NULL, test_initiator_closes);
  bed_test ("/agent/info", NULL, test_info);
  bed_test ("/agent/actions", NULL, test_actions);
  bed_test ("/agent/one-of", NULL, test_one_of);
  bed_test ("/agent/policy-invalid", NULL, test_policy_invalid);
  bed_test ("/agent/agent-removed", NULL, test_agent_removed);
  return g_test_run ();
}
