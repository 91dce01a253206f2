/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* EXECUTE: what is looked at again, what the module gets, and what its words are taken for. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/wire.h"
#include "tests/executor/bench.h"

#include <string.h>

typedef struct
{
  TestKey *lead, *kim;
  Request *request;
  Prepare prepare;
} Scene;

static void
scene_clear (Scene *scene)
{
  g_clear_pointer (&scene->lead, test_key_free);
  g_clear_pointer (&scene->kim, test_key_free);
  g_clear_pointer (&scene->request, request_free);
  prepare_clear (&scene->prepare);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Scene, scene_clear)

static void
scene_begin (Bench *bench, Scene *scene, Request *request)
{
  g_autoptr (GError) error = NULL;

  if (scene->lead == NULL)
    {
      scene->lead = client_enrol (&bench->client, "it.lead", 3003);
      scene->kim = client_enrol (&bench->client, "hr.kim", 3002);
    }
  g_clear_pointer (&scene->request, request_free);
  prepare_clear (&scene->prepare);
  scene->request = request;
  client_prepare (&bench->client, scene->request, &scene->prepare, &error);
  g_assert_no_error (error);
}

/* scene_approve: prepared, and approved by everybody who is needed. */
static void
scene_approve (Bench *bench, Scene *scene, Request *request)
{
  g_autoptr (GError) error = NULL;

  scene_begin (bench, scene, request);
  assert_good (client_approve (&bench->client, scene->kim, scene->request, &scene->prepare, &error),
               &error);
}

static void
execute_refused (Bench *bench, const Scene *scene, const char *reason)
{
  g_autoptr (GError) error = NULL;
  guint before = bench_executed (bench);

  assert_refused (client_execute (&bench->client, scene->request, &scene->prepare, NULL, &error),
                  &error, reason);
  g_assert_cmpuint (bench_executed (bench), ==, before);
}

static void
execute_good (Bench *bench, const Scene *scene, const char *outcome)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *said = NULL;
  g_autofree char *state = NULL;

  assert_good (client_execute (&bench->client, scene->request, &scene->prepare, &said, &error),
               &error);
  g_assert_cmpstr (said, ==, outcome);
  state = client_state (&bench->client, scene->request->id);
  g_assert_cmpstr (state, ==, outcome);
}

static void
test_once (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };

  scene_approve (bench, &scene, bench_mail (bench));
  execute_good (bench, &scene, "done");
  g_assert_cmpuint (bench_executed (bench), ==, 1);
  execute_refused (bench, &scene, US_REASON_ALREADY_CONSUMED);
}

static void
test_not_approved (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };

  scene_begin (bench, &scene, bench_mail (bench));
  execute_refused (bench, &scene, US_REASON_NOT_APPROVED);
}

static void
test_module_gets_all (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autofree char *text = NULL;
  Request *request = bench_mail (bench);

  request_arguments (request, "[('to', <['a@example.com']>), ('subject', <'x'>), "
                              "('attachment', <@a(sh) [('b.txt', 1), ('a.txt', 0)]>)]");
  request_file (request, "content of a");
  request_file (request, "content of b");
  scene_approve (bench, &scene, request);
  execute_good (bench, &scene, "done");

  text = g_variant_print (bench->call, FALSE);
  g_test_message ("%s", text);
  g_assert_nonnull (strstr (text, "('to', 'email-list', <['a@example.com']>)"));
  g_assert_nonnull (strstr (text, "('bcc', 'email-list', <@as []>)"));
  g_assert_nonnull (strstr (text, "<[('b.txt', handle 1), ('a.txt', 0)]>"));
  g_assert_nonnull (strstr (text, "('server', 'hostport', 'smtp.example.com:587')"));
  g_assert_nonnull (strstr (text, "('reply-to', 'email', '')"));
  g_assert_nonnull (strstr (text, "'work-smtp'"));
  g_assert_nonnull (strstr (text, scene.request->id));
}

/* Two files of the same content are two files: a runner refuses a descriptor that stands twice. */
static void
test_module_gets_equal_files (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autofree char *text = NULL;
  Request *request = bench_mail (bench);

  request_arguments (request, "[('to', <['a@example.com']>), ('subject', <'x'>), "
                              "('attachment', <@a(sh) [('b.txt', 1), ('a.txt', 0)]>)]");
  request_file (request, "the same");
  request_file (request, "the same");
  scene_approve (bench, &scene, request);
  execute_good (bench, &scene, "done");

  text = g_variant_print (bench->call, FALSE);
  g_assert_nonnull (strstr (text, "<[('b.txt', handle 0), ('a.txt', 1)]>"));
}

/* What the module does, what it is taken for, and whether the same may be asked for again. */
static void
test_outcomes (Bench *bench, gconstpointer data)
{
  static const struct
  {
    const char *behaviour, *outcome;
    gboolean blocked;
  } cases[] = {
    { "done", "done", FALSE },    { "failed", "failed", FALSE },  { "unknown", "unknown", TRUE },
    { "error", "failed", FALSE }, { "garbage", "unknown", TRUE }, { "files", "unknown", TRUE },
    { "close", "unknown", TRUE }, { "perhaps", "unknown", TRUE }, { "long-error", "unknown", TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Scene) scene = { 0 };
      g_autoptr (Request) again = request_new (&bench->client, "mail.send");
      g_auto (Prepare) prepare = { 0 };
      g_autoptr (GError) error = NULL;
      g_autofree char *arguments =
          g_strdup_printf ("[('to', <['a%u@example.com']>), ('subject', <'x'>)]", (guint) i);
      Request *request = request_new (&bench->client, "mail.send");

      request_arguments (request, arguments);
      request_arguments (again, arguments);
      scene_approve (bench, &scene, request);
      bench_behave (bench, cases[i].behaviour);
      execute_good (bench, &scene, cases[i].outcome);
      g_assert_cmpuint (bench_executed (bench), ==, i + 1);

      execute_refused (bench, &scene, US_REASON_ALREADY_CONSUMED);
      if (cases[i].blocked)
        assert_refused (client_prepare (&bench->client, again, &prepare, &error), &error,
                        US_REASON_INTENT_UNKNOWN);
      else
        g_assert_true (client_prepare (&bench->client, again, &prepare, &error));
      bench_behave (bench, "done");
    }
}

static void
test_runner_is_away (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };

  scene_approve (bench, &scene, bench_mail (bench));
  bench->config.runner_dir = bench->state;
  /* it was never handed over: used up, and certainly without effect */
  execute_good (bench, &scene, "failed");
  bench->config.runner_dir = bench->runner;
  execute_refused (bench, &scene, US_REASON_ALREADY_CONSUMED);
  g_assert_cmpuint (bench_executed (bench), ==, 0);
}

static void
test_looked_at_again (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autoptr (Ledger) ledger = bench_ledger (bench);

  scene_approve (bench, &scene, bench_mail (bench));
  /* an edit that governs this action voids it, and so does a set that is broken */
  bench_policy (bench, "rules/deny.rule",
                "[Rule never]\nAgents=offboarding\nActions=mail.send\nDecision=deny\n");
  execute_refused (bench, &scene, US_REASON_RECORD_CHANGED);
  bench_policy (bench, "rules/deny.rule", "[Rule never\n");
  execute_refused (bench, &scene, US_REASON_POLICY_INVALID);
  bench_policy (bench, "rules/deny.rule", NULL);

  g_assert_true (ledger_halt (ledger, 0, "x", NULL));
  execute_refused (bench, &scene, US_REASON_HALTED);
  g_assert_true (ledger_resume (ledger, 0, "x", NULL));

  g_assert_true (ledger_revoke_passkey (ledger, scene.kim->passkey->credential, 0, NULL));
  execute_refused (bench, &scene, US_REASON_CREDENTIAL_REVOKED);
}

static void
test_unrelated_edit (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };

  scene_approve (bench, &scene, bench_mail (bench));
  bench_policy (bench, "rules/other.rule",
                "[Rule note]\nAgents=other\nActions=note.write\nDecision=deny\n");
  execute_good (bench, &scene, "done");
}

/* By a worker that had read policy before a reload, however long its connection was held. */
static void
test_replaced_policy (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };

  scene_approve (bench, &scene, bench_mail (bench));
  fd_clear (&bench->lease_fd);
  execute_refused (bench, &scene, US_REASON_POLICY_REPLACED);
  g_assert_cmpuint (bench_executed (bench), ==, 0);
  bench_policy (bench, "rules/other.rule",
                "[Rule note]\nAgents=other\nActions=note.write\nDecision=deny\n");
  execute_good (bench, &scene, "done");
}

static gboolean
nobody_in_group (const char *user, const char *group)
{
  return FALSE;
}

static void
test_left_the_group (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  PolicyNames names = set_names;

  scene_approve (bench, &scene, bench_mail (bench));
  names.user_in_group = nobody_in_group;
  bench->config.names = &names;
  execute_refused (bench, &scene, US_REASON_NOT_ELIGIBLE);
  bench->config.names = &set_names;
  execute_good (bench, &scene, "done");
}

static void
test_facts_again (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  Request *request = request_new (&bench->client, "account.suspend");

  request_arguments (request, "[('account', <'j.smith'>)]");
  scene_approve (bench, &scene, request);
  bench_fact (bench, "known since yesterday");
  execute_refused (bench, &scene, US_REASON_FACT_CHANGED);
  bench_behave (bench, "failed");
  execute_refused (bench, &scene, US_REASON_FACTS);
  bench_behave (bench, "done");
  bench_fact (bench, "first time");
  request_set (&bench->manager, "alice"); /* without Recheck= */
  execute_good (bench, &scene, "done");
}

static void
test_limit (Bench *bench, gconstpointer data)
{
  g_auto (Scene) first = { 0 };
  g_auto (Scene) second = { 0 };
  g_auto (Scene) third = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (Request) fourth = request_new (&bench->client, "note.write");
  g_auto (Prepare) prepare = { 0 };
  Scene *scenes[] = { &first, &second, &third };

  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *arguments = g_strdup_printf ("[('text', <'%u'>)]", i);
      Request *request = request_new (&bench->client, "note.write");

      request_arguments (request, arguments);
      scene_begin (bench, scenes[i], request);
    }
  /* all three were prepared while there was room: two of them run */
  execute_good (bench, &first, "done");
  execute_good (bench, &second, "done");
  execute_refused (bench, &third, US_REASON_LIMIT);
  request_arguments (fourth, "[('text', <'4'>)]");
  assert_refused (client_prepare (&bench->client, fourth, &prepare, &error), &error,
                  US_REASON_LIMIT);
  g_assert_cmpuint (bench_executed (bench), ==, 2);
}

static void
test_broker_is_gone (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autofree char *state = NULL;
  g_autoptr (GVariant) body = NULL;
  int sock = -1;

  scene_approve (bench, &scene, bench_mail (bench));
  body = g_variant_ref_sink (
      g_variant_new ("(@" WIRE_PREPARED ")", prepared_variant (scene.request, &scene.prepare)));
  sock = bench->client.connect (&bench->client, FALSE, NULL);
  g_assert_true (handover_send (sock, HANDOVER_EXECUTE, body, NULL, 0, NULL));
  close (sock); /* the message is there, nobody waits for the reply */
  bench->client.serve (&bench->client);

  g_assert_cmpuint (bench_executed (bench), ==, 1);
  state = client_state (&bench->client, scene.request->id);
  g_assert_cmpstr (state, ==, "done");
}

/* Users were looked up when the policy was read; each step asks whether they still are the same. */
static void
test_users_since_reload (Bench *bench, gconstpointer data)
{
  static const char *const users[] = { "agent-offboarding", "hr.jones" };
  g_auto (Scene) scene = { 0 };
  g_autoptr (GError) error = NULL;
  g_auto (Prepare) again = { 0 };

  scene_approve (bench, &scene, bench_mail (bench));
  for (guint i = 0; i < G_N_ELEMENTS (users); i++)
    {
      set_move_user (users[i], i == 0 ? SET_GONE : 3999);
      execute_refused (bench, &scene, US_REASON_POLICY_INVALID);
      assert_refused (client_prepare (&bench->client, scene.request, &again, &error), &error,
                      US_REASON_POLICY_INVALID);
      assert_refused (
          client_approve (&bench->client, scene.lead, scene.request, &scene.prepare, &error),
          &error, US_REASON_POLICY_INVALID);
    }
  set_move_user (NULL, 0);
  execute_good (bench, &scene, "done");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  bench_test ("/executor/execute/once", test_once);
  bench_test ("/executor/execute/not-approved", test_not_approved);
  bench_test ("/executor/execute/module-gets-all", test_module_gets_all);
  bench_test ("/executor/execute/module-gets-equal-files", test_module_gets_equal_files);
  bench_test ("/executor/execute/outcomes", test_outcomes);
  bench_test ("/executor/execute/runner-is-away", test_runner_is_away);
  bench_test ("/executor/execute/looked-at-again", test_looked_at_again);
  bench_test ("/executor/execute/unrelated-edit", test_unrelated_edit);
  bench_test ("/executor/execute/replaced-policy", test_replaced_policy);
  bench_test ("/executor/execute/left-the-group", test_left_the_group);
  bench_test ("/executor/execute/facts-again", test_facts_again);
  bench_test ("/executor/execute/users-since-reload", test_users_since_reload);
  bench_test ("/executor/execute/limit", test_limit);
  bench_test ("/executor/execute/broker-is-gone", test_broker_is_gone);
  return g_test_run ();
}
