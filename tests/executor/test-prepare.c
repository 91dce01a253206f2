/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PREPARE: what is refused before anybody is asked, and what those who are asked will see. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/fd.h"
#include "tests/executor/bench.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static void
prepare_refused (Bench *bench, const Request *request, UsError code, const char *reason)
{
  g_autoptr (GError) error = NULL;
  g_auto (Prepare) prepare = { 0 };
  gboolean prepared = client_prepare (&bench->client, request, &prepare, &error);

  if (!prepared)
    g_test_message ("%s", error->message);
  g_assert_false (prepared);
  g_assert_cmpstr (us_error_name ((UsError) error->code), ==, us_error_name (code));
  /* It goes to the agent: who the initiator is does not. */
  if (request->initiator[0] != '\0')
    g_assert_null (strstr (error->message, request->initiator));
  assert_refused (prepared, &error, reason);
}

static void
test_who_and_where (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) key = client_enrol (&bench->client, "it.lead", 3003);
  static const struct
  {
    guint32 uid;
    const char *id, *part, *run, *label, *initiator, *initiator_uid;
    UsError code;
    const char *reason;
  } cases[] = {
    /* a uid that is no agent's, another agent that has no such rule, part or initiator */
    { 3003, NULL, NULL, NULL, NULL, NULL, NULL, US_ERROR_NOT_AGENT, US_REASON_NOT_AGENT },
    { 0, NULL, NULL, NULL, NULL, NULL, NULL, US_ERROR_NOT_AGENT, US_REASON_NOT_AGENT },
    { 2002, NULL, NULL, NULL, NULL, NULL, NULL, US_ERROR_UNKNOWN_ACTION, US_REASON_UNKNOWN_ACTION },
    { 2001, NULL, "billing", NULL, NULL, NULL, NULL, US_ERROR_REFUSED, US_REASON_UNKNOWN_PART },
    { 2001, NULL, "", NULL, NULL, NULL, NULL, US_ERROR_REFUSED, US_REASON_UNKNOWN_PART },
    { 2001, "", NULL, NULL, NULL, NULL, NULL, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE },
    { 2001, "../../etc/passwd", NULL, NULL, NULL, NULL, NULL, US_ERROR_INVALID_ARGUMENT,
      US_REASON_BAD_MESSAGE },
    { 2001, NULL, NULL, "1", NULL, NULL, NULL, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE },
    { 2001, NULL, NULL, NULL, "", NULL, NULL, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE },
    { 2001, NULL, NULL, NULL, "two\nlines", NULL, NULL, US_ERROR_INVALID_ARGUMENT,
      US_REASON_BAD_VALUE },
    /* initiators: not a user, not one's own uid, one of two names of a uid, not allowed to */
    { 2001, NULL, NULL, NULL, NULL, "nobody.here", "3001", US_ERROR_REFUSED, US_REASON_IDENTITY },
    { 2001, NULL, NULL, NULL, NULL, "hr.jones", "3002", US_ERROR_REFUSED, US_REASON_IDENTITY },
    { 2001, NULL, NULL, NULL, NULL, "hr.jones", "03001", US_ERROR_REFUSED, US_REASON_IDENTITY },
    { 2001, NULL, NULL, NULL, NULL, "hr.jones", "", US_ERROR_REFUSED, US_REASON_IDENTITY },
    { 2001, NULL, NULL, NULL, NULL, "", "3001", US_ERROR_REFUSED, US_REASON_IDENTITY },
    { 2001, NULL, NULL, NULL, NULL, "twin", "3004", US_ERROR_REFUSED, US_REASON_IDENTITY },
    { 2001, NULL, NULL, NULL, NULL, "it.lead", "3003", US_ERROR_REFUSED, US_REASON_NOT_ELIGIBLE },
    { 2001, NULL, NULL, NULL, NULL, "root", "0", US_ERROR_REFUSED, US_REASON_NOT_ELIGIBLE },
    { 2001, NULL, NULL, NULL, NULL, "agent-offboarding", "2001", US_ERROR_REFUSED,
      US_REASON_NOT_ELIGIBLE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Request) request = bench_mail (bench);

      request->uid = cases[i].uid;
      if (cases[i].id != NULL)
        request_set (&request->id, cases[i].id);
      if (cases[i].part != NULL)
        request_set (&request->part, cases[i].part);
      if (cases[i].run != NULL)
        request_set (&request->run, cases[i].run);
      if (cases[i].label != NULL)
        request_set (&request->label, cases[i].label);
      if (cases[i].initiator != NULL)
        request_set (&request->initiator, cases[i].initiator);
      if (cases[i].initiator_uid != NULL)
        request_set (&request->initiator_uid, cases[i].initiator_uid);
      prepare_refused (bench, request, cases[i].code, cases[i].reason);
    }
}

static void
test_what (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) key = client_enrol (&bench->client, "it.lead", 3003);
  static const struct
  {
    const char *action, *arguments;
    UsError code;
    const char *reason;
  } cases[] = {
    { "mail.purge", "@a(sv) []", US_ERROR_UNKNOWN_ACTION, US_REASON_UNKNOWN_ACTION },
    { "", "@a(sv) []", US_ERROR_UNKNOWN_ACTION, US_REASON_UNKNOWN_ACTION },
    /* exists, but no rule names it for this agent */
    { "account.list", "@a(sv) []", US_ERROR_UNKNOWN_ACTION, US_REASON_UNKNOWN_ACTION },
    { "mail.send", "[('to', <['a@example.com']>)]", US_ERROR_INVALID_ARGUMENT,
      US_REASON_MISSING_ARGUMENT },
    { "mail.send", "[('to', <['a@example.com']>), ('subject', <'x'>), ('to', <['b@example.com']>)]",
      US_ERROR_INVALID_ARGUMENT, US_REASON_DUPLICATE_ARGUMENT },
    { "mail.send", "[('to', <['a@example.com']>), ('subject', <'x'>), ('approved', <true>)]",
      US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT },
    { "mail.send", "[('to', <'a@example.com'>), ('subject', <'x'>)]", US_ERROR_INVALID_ARGUMENT,
      US_REASON_WRONG_TYPE },
    { "mail.send", "[('to', <['a@Example.com']>), ('subject', <'x'>)]", US_ERROR_INVALID_ARGUMENT,
      US_REASON_NOT_CANONICAL },
    { "mail.send",
      "[('to', <['a@example.com']>), ('subject', <'x'>), ('attachment', <[('a', handle 0)]>)]",
      US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_HANDLE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Request) request = request_new (&bench->client, cases[i].action);

      request_arguments (request, cases[i].arguments);
      prepare_refused (bench, request, cases[i].code, cases[i].reason);
    }
  g_assert_cmpuint (bench->described, ==, 0);
}

static void
test_long_claim (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) key = client_enrol (&bench->client, "it.lead", 3003);
  g_autoptr (Request) request = bench_mail (bench);
  g_autofree char *claim = g_strnfill (RECORD_MAX_CLAIM + 1, 'x');

  request_set (&request->claim, claim);
  prepare_refused (bench, request, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE);
}

static void
test_file_without_argument (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) key = client_enrol (&bench->client, "it.lead", 3003);
  g_autoptr (Request) request = bench_mail (bench);

  request_file (request, "content");
  prepare_refused (bench, request, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_HANDLE);
}

static void
test_asks_whom (Bench *bench, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TestKey) lead = client_enrol (&bench->client, "it.lead", 3003);
  g_autoptr (TestKey) lead_too = client_enrol (&bench->client, "it.lead", 3003);
  g_autoptr (TestKey) owner = client_enrol (&bench->client, "hr.jones", 3001);
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (TestKey) alice = client_enrol (&bench->client, "alice", 3004);
  g_autoptr (Request) request = bench_mail (bench);
  g_auto (Prepare) prepare = { 0 };
  g_autofree char *text = NULL;
  guint32 count = 0;
  const char *rule = NULL;
  const char *name = NULL;
  guint32 uid = 0;
  GVariantIter *approvers = NULL;
  GVariantIter *credentials = NULL;
  g_autoptr (GString) who = g_string_new (NULL);

  assert_good (client_prepare (&bench->client, request, &prepare, &error), &error);
  g_assert_cmpstr (prepare.decision, ==, "ask");
  g_assert_cmpuint (g_variant_n_children (prepare.requirements), ==, 1);
  /* the owner is kept out, alice is in no group; two passkeys are one person */
  g_variant_get_child (prepare.requirements, 0, "(&sua(sua(ayssss)))", &rule, &count, &approvers);
  g_assert_cmpstr (rule, ==, "test.rule:mail");
  g_assert_cmpuint (count, ==, 1);
  while (g_variant_iter_next (approvers, "(&sua(ayssss))", &name, &uid, &credentials))
    {
      g_string_append_printf (who, "%s %u %u;", name, uid,
                              (guint) g_variant_iter_n_children (credentials));
      g_variant_iter_free (credentials);
    }
  g_variant_iter_free (approvers);
  g_assert_cmpstr (who->str, ==, "it.lead 3003 2;hr.kim 3002 1;");
}

static void
test_record (Bench *bench, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TestKey) lead = client_enrol (&bench->client, "it.lead", 3003);
  g_autoptr (Request) request = bench_mail (bench);
  g_auto (Prepare) prepare = { 0 };
  g_autoptr (Record) record = NULL;
  const char *initiator = NULL;
  guint32 uid = 0;

  request_set (&request->initiator, "hr.kim");
  request_set (&request->initiator_uid, "3002");
  request_set (&request->claim, "the manager said so");
  request_arguments (request, "[('subject', <'x'>), ('attachment', <[('a.txt', handle 0)]>), "
                              "('to', <['a@example.com']>)]");
  request_file (request, "content");
  assert_good (client_prepare (&bench->client, request, &prepare, &error), &error);
  record = record_decode (prepare.record, &error);
  g_assert_no_error (error);

  g_assert_cmpstr (record_host (record), ==, BENCH_HOST);
  g_assert_cmpstr (record_agent_name (record), ==, "offboarding");
  g_assert_cmpuint (record_agent_uid (record), ==, 2001);
  g_assert_cmpstr (record_agent_owner (record), ==, "hr.jones");
  g_assert_cmpstr (record_run_label (record), ==, "ticket-4711");
  g_assert_true (record_initiator (record, &initiator, &uid));
  g_assert_cmpstr (initiator, ==, "hr.kim");
  g_assert_cmpuint (uid, ==, 3002);
  g_assert_cmpstr (record_action_effect (record), ==, "irreversible");
  g_assert_cmpstr (record_module (record), ==, "mail");
  g_assert_cmpstr (record_credential (record), ==, "work-smtp");
  g_assert_cmpstr (record_claim (record), ==, "the manager said so");
  /* what was left out is there, with what it means */
  g_assert_cmpuint (json_tree_length (record_argument (record, "bcc", NULL)), ==, 0);
  g_assert_cmpstr (json_tree_string (record_setting (record, "server", NULL)), ==,
                   "smtp.example.com:587");
  g_assert_cmpstr (json_tree_get_string (
                       json_tree_item (record_argument (record, "attachment", NULL), 0), "size"),
                   ==, "7");
}

static void
test_nobody_could (Bench *bench, gconstpointer data)
{
  g_autoptr (Request) request = bench_mail (bench);
  g_autoptr (TestKey) owner = client_enrol (&bench->client, "hr.jones", 3001);
  g_autoptr (TestKey) alice = client_enrol (&bench->client, "alice", 3004);
  g_autoptr (TestKey) lead = NULL;
  g_autoptr (Ledger) ledger = NULL;
  g_auto (Prepare) prepare = { 0 };

  prepare_refused (bench, request, US_ERROR_NO_APPROVER, US_REASON_NO_APPROVER);
  lead = client_enrol (&bench->client, "it.lead", 3003);
  g_assert_true (client_prepare (&bench->client, request, &prepare, NULL));
  ledger = bench_ledger (bench);
  g_assert_true (ledger_revoke_passkey (ledger, lead->passkey->credential, 0, NULL));
  prepare_refused (bench, request, US_ERROR_NO_APPROVER, US_REASON_NO_APPROVER);
}

static void
test_two_rules_two_persons (Bench *bench, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TestKey) lead = client_enrol (&bench->client, "it.lead", 3003);
  g_autoptr (TestKey) kim = NULL;
  g_autoptr (Request) request = bench_mail (bench);
  g_auto (Prepare) prepare = { 0 };

  request_arguments (request, "[('to', <['x@example.org']>), ('subject', <'x'>)]");
  /* it.lead may satisfy each of the two rules, but not both */
  prepare_refused (bench, request, US_ERROR_NO_APPROVER, US_REASON_NO_APPROVER);
  kim = client_enrol (&bench->client, "hr.kim", 3002);
  assert_good (client_prepare (&bench->client, request, &prepare, &error), &error);
  g_assert_cmpuint (g_variant_n_children (prepare.requirements), ==, 2);
}

static void
test_no_initiator (Bench *bench, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TestKey) lead = client_enrol (&bench->client, "it.lead", 3003);
  g_autoptr (Request) request = bench_mail (bench);
  g_auto (Prepare) prepare = { 0 };

  bench_policy (bench, "rules/test.rule",
                "[Rule mail]\nAgents=offboarding\nActions=mail.send\nDecision=ask\n"
                "Approvers=@it-leads\nPasskeys=software\nSeparation=agent initiator\n");
  prepare_refused (bench, request, US_ERROR_REFUSED, US_REASON_NO_INITIATOR);
  request_set (&request->initiator, "hr.kim");
  request_set (&request->initiator_uid, "3002");
  assert_good (client_prepare (&bench->client, request, &prepare, &error), &error);
}

static void
test_denied_by_rule (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) lead = client_enrol (&bench->client, "it.lead", 3003);
  g_autoptr (Request) request = bench_mail (bench);

  bench_policy (bench, "rules/deny.rule",
                "[Rule never]\nAgents=offboarding\nActions=mail.send\nDecision=deny\n");
  prepare_refused (bench, request, US_ERROR_REFUSED, US_REASON_DENIED_BY_RULE);
}

/* For what is refused without them no module looks facts up. */
static void
test_no_facts_in_vain (Bench *bench, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) request = request_new (&bench->client, "account.suspend");
  g_autoptr (Request) again = request_new (&bench->client, "account.suspend");
  g_auto (Prepare) prepare = { 0 };
  guint described = 0;

  request_arguments (request, "[('account', <'j.smith'>)]");
  request_arguments (again, "[('account', <'j.smyth'>)]");
  bench_policy (bench, "rules/deny.rule",
                "[Rule never]\nAgents=offboarding\nActions=account.suspend\n"
                "When=account is j.smith\nDecision=deny\n");
  prepare_refused (bench, request, US_ERROR_REFUSED, US_REASON_DENIED_BY_RULE);
  g_assert_cmpuint (bench->described, ==, 0);

  bench_policy (bench, "rules/deny.rule", NULL);
  bench_policy (bench, "rules/test.rule",
                "[Rule suspend]\nAgents=offboarding\nActions=account.suspend\nDecision=ask\n"
                "Approvers=hr.kim\nPasskeys=software\nLimit=1/1d\n");
  assert_good (client_prepare (&bench->client, request, &prepare, &error), &error);
  assert_good (client_approve (&bench->client, kim, request, &prepare, &error), &error);
  assert_good (client_execute (&bench->client, request, &prepare, NULL, &error), &error);
  described = bench->described;
  prepare_refused (bench, again, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);
  g_assert_cmpuint (bench->described, ==, described);
}

static void
test_states_of_the_service (Bench *bench, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TestKey) lead = client_enrol (&bench->client, "it.lead", 3003);
  g_autoptr (Request) request = bench_mail (bench);
  g_autoptr (Ledger) ledger = bench_ledger (bench);

  g_assert_true (ledger_halt (ledger, 0, "an incident", NULL));
  prepare_refused (bench, request, US_ERROR_HALTED, US_REASON_HALTED);
  g_assert_true (ledger_resume (ledger, 0, "over", NULL));

  g_assert_true (client_close (&bench->client, request->id, "withdrawn", &error));
  prepare_refused (bench, request, US_ERROR_WRONG_STATE, US_REASON_CLOSED);

  bench_policy (bench, "rules/broken.rule", "[Rule x]\nDecision=maybe\n");
  prepare_refused (bench, request, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID);
}

static void
test_facts (Bench *bench, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) request = request_new (&bench->client, "account.suspend");
  g_auto (Prepare) prepare = { 0 };
  g_autoptr (Record) record = NULL;

  request_arguments (request, "[('account', <'j.smith'>)]");
  assert_good (client_prepare (&bench->client, request, &prepare, &error), &error);
  g_assert_cmpuint (bench->described, ==, 1);
  record = record_decode (prepare.record, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (json_tree_string (record_fact (record, "known", NULL)), ==, "first time");

  bench_fact (bench, "two\nlines");
  prepare_refused (bench, request, US_ERROR_REFUSED, US_REASON_FACTS);
  bench_fact (bench, "first time");
  bench_behave (bench, "failed");
  prepare_refused (bench, request, US_ERROR_UNAVAILABLE, US_REASON_FACTS);
  bench_behave (bench, "unknown");
  prepare_refused (bench, request, US_ERROR_UNAVAILABLE, US_REASON_FACTS);
  g_assert_cmpuint (bench_executed (bench), ==, 0);
}

static void
test_runner_is_away (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) request = request_new (&bench->client, "account.suspend");

  request_arguments (request, "[('account', <'j.smith'>)]");
  bench->config.runner_dir = bench->state;
  prepare_refused (bench, request, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);
}

/* What would make the execution fail is found before a person is asked. */
static void
test_credential_lacks (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) request = bench_mail (bench);
  g_autoptr (Request) again = bench_mail (bench);
  g_auto (Prepare) prepare = { 0 };
  g_autoptr (GError) error = NULL;

  bench->lacks = "work-smtp";
  prepare_refused (bench, request, US_ERROR_UNAVAILABLE, US_REASON_NO_CREDENTIAL);
  bench->lacks = "another";
  assert_good (client_prepare (&bench->client, again, &prepare, &error), &error);
  g_assert_cmpuint (bench->told, ==, 2);
  g_assert_cmpuint (bench_executed (bench), ==, 0);
}

/* Of an action without a credential, too. */
static void
test_module_impaired (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) mail = bench_mail (bench);
  g_autoptr (Request) note = request_new (&bench->client, "note.write");

  request_arguments (note, "[('text', <'x'>)]");
  bench->impaired = TRUE;
  prepare_refused (bench, mail, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);
  prepare_refused (bench, note, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);
  g_assert_cmpuint (bench->told, ==, 2);
}

/* A runner that takes the question and does not answer it. */
static void
test_runner_silent (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) mail = bench_mail (bench);
  g_auto (Prepare) prepare = { 0 };
  g_autoptr (GError) error = NULL;
  autofd sock = bench_listen (bench->state, "mail.state", 1);

  bench->config.runner_dir = bench->state;
  bench->config.check_timeout = 1;
  assert_good (client_prepare (&bench->client, mail, &prepare, &error), &error);
  g_assert_cmpstr (prepare.decision, ==, "ask");
  g_assert_cmpuint (bench->told, ==, 0);
}

/* One that has no place for the question is busy, not away, and nobody waits for a place. */
static void
test_runner_full (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) mail = bench_mail (bench);
  g_autofree char *path = g_build_filename (bench->state, "mail.state", NULL);
  g_auto (Prepare) prepare = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) waiting = g_array_new (FALSE, FALSE, sizeof (int));
  autofd sock = bench_listen (bench->state, "mail.state", 1);
  gboolean full = FALSE;

  while (!full)
    {
      int fd = handover_connect_now (path, 60, &full, &error);

      g_assert_no_error (error);
      if (!full)
        g_array_append_val (waiting, fd);
    }
  g_assert_cmpuint (waiting->len, >=, 1);
  bench->config.runner_dir = bench->state;
  assert_good (client_prepare (&bench->client, mail, &prepare, &error), &error);
  g_assert_cmpstr (prepare.decision, ==, "ask");
  for (guint i = 0; i < waiting->len; i++)
    close (g_array_index (waiting, int, i));
}

/* Of an action without facts, too, and without credential. */
static void
test_no_runner (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) mail = bench_mail (bench);
  g_autoptr (Request) note = request_new (&bench->client, "note.write");

  request_arguments (note, "[('text', <'x'>)]");
  bench->config.runner_dir = bench->state;
  prepare_refused (bench, mail, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);
  prepare_refused (bench, note, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE);
  g_assert_cmpuint (bench->told, ==, 0);
}

static void
test_allow (Bench *bench, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Request) request = request_new (&bench->client, "note.write");
  g_auto (Prepare) prepare = { 0 };

  request_arguments (request, "[('text', <'x'>)]");
  assert_good (client_prepare (&bench->client, request, &prepare, &error), &error);
  g_assert_cmpstr (prepare.decision, ==, "allow");
  g_assert_cmpuint (g_variant_n_children (prepare.requirements), ==, 0);
  g_assert_cmpuint (prepare.deadline, >, clock_boottime ());
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  bench_test ("/executor/prepare/who-and-where", test_who_and_where);
  bench_test ("/executor/prepare/what", test_what);
  bench_test ("/executor/prepare/long-claim", test_long_claim);
  bench_test ("/executor/prepare/file-without-argument", test_file_without_argument);
  bench_test ("/executor/prepare/asks-whom", test_asks_whom);
  bench_test ("/executor/prepare/record", test_record);
  bench_test ("/executor/prepare/nobody-could", test_nobody_could);
  bench_test ("/executor/prepare/two-rules-two-persons", test_two_rules_two_persons);
  bench_test ("/executor/prepare/no-initiator", test_no_initiator);
  bench_test ("/executor/prepare/denied-by-rule", test_denied_by_rule);
  bench_test ("/executor/prepare/no-facts-in-vain", test_no_facts_in_vain);
  bench_test ("/executor/prepare/states-of-the-service", test_states_of_the_service);
  bench_test ("/executor/prepare/facts", test_facts);
  bench_test ("/executor/prepare/runner-is-away", test_runner_is_away);
  bench_test ("/executor/prepare/credential-lacks", test_credential_lacks);
  bench_test ("/executor/prepare/module-impaired", test_module_impaired);
  bench_test ("/executor/prepare/runner-silent", test_runner_silent);
  bench_test ("/executor/prepare/runner-full", test_runner_full);
  bench_test ("/executor/prepare/no-runner", test_no_runner);
  bench_test ("/executor/prepare/allow", test_allow);
  return g_test_run ();
}
