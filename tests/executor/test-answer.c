/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ANSWER: whose word counts, on what, and that nothing of another word is taken for it. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
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
scene_prepare (Bench *bench, Scene *scene)
{
  g_autoptr (GError) error = NULL;

  prepare_clear (&scene->prepare);
  assert_good (client_prepare (&bench->client, scene->request, &scene->prepare, &error), &error);
}

static void
scene_set_up (Bench *bench, Scene *scene)
{
  scene->lead = client_enrol (&bench->client, "it.lead", 3003);
  scene->kim = client_enrol (&bench->client, "hr.kim", 3002);
  scene->request = bench_mail (bench);
  scene_prepare (bench, scene);
}

static void
answer_refused (Bench *bench, const Scene *scene, const Reply *reply, const char *reason)
{
  g_autoptr (GError) error = NULL;

  assert_refused (
      client_answer (&bench->client, scene->request, &scene->prepare, reply, NULL, &error), &error,
      reason);
}

static guint
answers_stored (Bench *bench, const Scene *scene)
{
  g_autoptr (Ledger) ledger = bench_ledger (bench);
  g_autoptr (GPtrArray) answers = NULL;
  guint8 digest[PAE_DIGEST_SIZE];

  pae_sha256 (PAE_TYPE_RECORD, scene->prepare.record, digest);
  answers = ledger_answers (ledger, scene->request->id, digest, NULL);
  return answers->len;
}

static void
test_approved (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_auto (Reply) reply = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *state = NULL;

  scene_set_up (bench, &scene);
  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &reply);
  assert_good (
      client_answer (&bench->client, scene.request, &scene.prepare, &reply, &state, &error),
      &error);
  g_assert_cmpstr (state, ==, "approved");
  g_assert_cmpuint (answers_stored (bench, &scene), ==, 1);
  g_assert_cmpuint (bench_executed (bench), ==, 0);
}

/* One letter of one thing that was signed. */
static void
test_statement_is_whole (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_auto (Reply) reply = { 0 };
  gsize len = 0;
  const char *text = NULL;

  scene_set_up (bench, &scene);
  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &reply);
  text = g_bytes_get_data (reply.statement, &len);
  for (gsize i = 0; i < len; i++)
    {
      g_auto (Reply) wrong = { 0 };
      g_autofree char *copy = g_memdup2 (text, len);

      copy[i] = (char) (copy[i] ^ 1);
      reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &wrong);
      g_clear_pointer (&wrong.statement, g_bytes_unref);
      wrong.statement = g_bytes_new (copy, len);
      answer_refused (bench, &scene, &wrong, US_REASON_STATEMENT_CHANGED);
    }
  g_assert_cmpuint (answers_stored (bench, &scene), ==, 0);
}

static void
test_nothing_of_another (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autoptr (Request) other = bench_mail (bench);
  g_auto (Prepare) prepare = { 0 };
  g_auto (Reply) of_other = { 0 };
  g_auto (Reply) denial = { 0 };
  g_auto (Reply) mixed = { 0 };
  g_auto (Reply) nonce = { 0 };

  scene_set_up (bench, &scene);
  g_assert_true (client_prepare (&bench->client, other, &prepare, NULL));

  /* an approval of an identical request under another id */
  reply_sign (scene.lead, other, &prepare, "approve", 0, &of_other);
  answer_refused (bench, &scene, &of_other, US_REASON_STATEMENT_CHANGED);

  /* a signed denial, sent as an approval */
  reply_sign (scene.lead, scene.request, &scene.prepare, "deny", 0, &denial);
  request_set (&denial.decision, "approve");
  answer_refused (bench, &scene, &denial, US_REASON_STATEMENT_CHANGED);
  request_set (&denial.decision, "");
  answer_refused (bench, &scene, &denial, US_REASON_BAD_MESSAGE);
  request_set (&denial.decision, "approve");
  request_set (&denial.reason, "other");
  answer_refused (bench, &scene, &denial, US_REASON_BAD_MESSAGE);

  /* another person's signature below this person's statement */
  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &mixed);
  g_clear_pointer (&mixed.assertion.signature, g_bytes_unref);
  mixed.assertion.signature =
      test_sign (scene.kim->key, mixed.assertion.client_data, mixed.assertion.auth_data);
  answer_refused (bench, &scene, &mixed, US_REASON_SIGNATURE);

  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &nonce);
  request_set (&nonce.nonce, "short");
  answer_refused (bench, &scene, &nonce, US_REASON_BAD_STATEMENT);
  g_assert_cmpuint (answers_stored (bench, &scene), ==, 0);
}

static void
test_assertion_is_checked (Bench *bench, gconstpointer data)
{
  static const struct
  {
    guint8 flags;
    const char *rp, *type;
    const char *reason;
  } cases[] = {
    { 0x01, NULL, "webauthn.get", US_REASON_USER_VERIFICATION },
    { 0x04, NULL, "webauthn.get", US_REASON_USER_PRESENCE },
    { 0x05, "login.example.com", "webauthn.get", US_REASON_RP_ID },
    { 0x05, NULL, "webauthn.create", US_REASON_CLIENT_TYPE },
  };
  g_auto (Scene) scene = { 0 };

  scene_set_up (bench, &scene);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Reply) reply = { 0 };
      const char *rp = cases[i].rp != NULL ? cases[i].rp : scene.lead->passkey->rp;
      guint8 challenge[PAE_DIGEST_SIZE];

      reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &reply);
      pae_sha256 (PAE_TYPE_STATEMENT, reply.statement, challenge);
      assertion_clear (&reply.assertion);
      reply.assertion =
          test_assertion (scene.lead,
                          test_client_data (cases[i].type, challenge, sizeof challenge,
                                            scene.lead->passkey->rp, ""),
                          test_auth_data (rp, cases[i].flags, 0, NULL));
      answer_refused (bench, &scene, &reply, cases[i].reason);
    }
  g_assert_cmpuint (answers_stored (bench, &scene), ==, 0);
}

static void
test_who_may_not (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autoptr (TestKey) owner = client_enrol (&bench->client, "hr.jones", 3001);
  g_autoptr (TestKey) alice = client_enrol (&bench->client, "alice", 3004);
  g_autoptr (TestKey) stranger = key_new (&bench->client, "it.lead", 3003);
  g_autoptr (Ledger) ledger = bench_ledger (bench);
  g_auto (Reply) by_owner = { 0 };
  g_auto (Reply) by_alice = { 0 };
  g_auto (Reply) by_stranger = { 0 };
  g_auto (Reply) by_revoked = { 0 };

  scene_set_up (bench, &scene);
  reply_sign (owner, scene.request, &scene.prepare, "approve", 0, &by_owner);
  answer_refused (bench, &scene, &by_owner, US_REASON_NOT_ELIGIBLE);
  reply_sign (alice, scene.request, &scene.prepare, "approve", 0, &by_alice);
  answer_refused (bench, &scene, &by_alice, US_REASON_NOT_ELIGIBLE);
  reply_sign (stranger, scene.request, &scene.prepare, "approve", 0, &by_stranger);
  answer_refused (bench, &scene, &by_stranger, US_REASON_CREDENTIAL_UNKNOWN);

  g_assert_true (ledger_revoke_passkey (ledger, scene.lead->passkey->credential, 0, NULL));
  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &by_revoked);
  answer_refused (bench, &scene, &by_revoked, US_REASON_CREDENTIAL_REVOKED);
  g_assert_cmpuint (answers_stored (bench, &scene), ==, 0);
}

static gboolean
no_lead_by_name (const char *name, uid_t *out_uid)
{
  return strcmp (name, "it.lead") != 0 && set_names.user_by_name (name, out_uid);
}

static void
test_user_is_gone (Bench *bench, gconstpointer data)
{
  PolicyNames names = set_names;
  g_auto (Scene) scene = { 0 };
  g_auto (Reply) reply = { 0 };

  scene_set_up (bench, &scene);
  names.user_by_name = no_lead_by_name;
  bench->config.names = &names;
  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &reply);
  answer_refused (bench, &scene, &reply, US_REASON_IDENTITY);
  bench->config.names = &set_names;
}

static void
test_kind_of_passkey (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_auto (Reply) reply = { 0 };

  scene_set_up (bench, &scene);
  bench_policy (bench, "rules/test.rule",
                "[Rule mail]\nAgents=offboarding\nActions=mail.send\nDecision=ask\n"
                "Approvers=@it-leads\nPasskeys=unattested\n");
  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &reply);
  /* the rule is another one now, and so is the policy's digest in the record */
  answer_refused (bench, &scene, &reply, US_REASON_RECORD_CHANGED);
}

static void
test_seal_and_deadline (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_auto (Reply) reply = { 0 };
  guint8 byte = 0;

  scene_set_up (bench, &scene);
  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &reply);
  scene.prepare.deadline += 1;
  answer_refused (bench, &scene, &reply, US_REASON_BAD_SEAL);
  scene.prepare.deadline -= 1;

  g_bytes_unref (scene.prepare.seal);
  scene.prepare.seal = g_bytes_new (&byte, 1);
  answer_refused (bench, &scene, &reply, US_REASON_BAD_SEAL);
  scene_prepare (bench, &scene);
  request_set (&scene.request->part, "licences");
  answer_refused (bench, &scene, &reply, US_REASON_RECORD_CHANGED);
}

/* What its sender gave up, and a worker serves late, is behind what the person signed next.  It is no
 * answer, and no sign of a copied passkey either. */
static void
test_given_up (Bench *bench, gconstpointer data)
{
  static const char *const decisions[] = { "approve", "deny" };
  g_auto (Scene) scene = { 0 };
  g_auto (Reply) next = { 0 };
  g_auto (Reply) last = { 0 };
  g_autoptr (Request) other = bench_mail (bench);
  g_auto (Prepare) prepare = { 0 };
  g_autofree char *state = NULL;
  g_autoptr (GError) error = NULL;

  scene_set_up (bench, &scene);
  assert_good (client_prepare (&bench->client, other, &prepare, &error), &error);
  reply_sign (scene.lead, other, &prepare, "approve", 7, &next);
  assert_good (client_answer (&bench->client, other, &prepare, &next, NULL, &error), &error);
  bench->client.leaves = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (decisions); i++)
    {
      g_auto (Reply) late = { 0 };

      reply_sign (scene.lead, scene.request, &scene.prepare, decisions[i], 6 + 2 * i, &late);
      assert_refused (
          client_answer (&bench->client, scene.request, &scene.prepare, &late, NULL, &error),
          &error, US_REASON_UNREACHABLE);
    }
  bench->client.leaves = FALSE;

  state = client_state (&bench->client, scene.request->id);
  g_assert_cmpstr (state, ==, "none");
  assert_refused (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error),
                  &error, US_REASON_NOT_APPROVED);
  g_assert_cmpuint (bench_executed (bench), ==, 0);
  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 8, &last);
  assert_good (client_answer (&bench->client, scene.request, &scene.prepare, &last, NULL, &error),
               &error);
  assert_good (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error), &error);
  g_assert_cmpuint (bench_executed (bench), ==, 1);
}

static void
test_counter (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_auto (Reply) first = { 0 };
  g_auto (Reply) cloned = { 0 };
  g_auto (Reply) late = { 0 };
  g_autoptr (Request) other = bench_mail (bench);
  g_auto (Prepare) prepare = { 0 };
  g_autoptr (GError) error = NULL;

  scene_set_up (bench, &scene);
  g_assert_true (client_prepare (&bench->client, other, &prepare, NULL));
  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 7, &first);
  g_assert_true (
      client_answer (&bench->client, scene.request, &scene.prepare, &first, NULL, &error));
  reply_sign (scene.lead, other, &prepare, "approve", 7, &cloned);
  assert_refused (client_answer (&bench->client, other, &prepare, &cloned, NULL, &error), &error,
                  US_REASON_COUNTER);
  /* and from then on the passkey is suspect: even what it approved before no longer counts */
  reply_sign (scene.lead, other, &prepare, "approve", 9, &late);
  assert_refused (client_answer (&bench->client, other, &prepare, &late, NULL, &error), &error,
                  US_REASON_CREDENTIAL_REVOKED);
  assert_refused (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error),
                  &error, US_REASON_CREDENTIAL_REVOKED);
  g_assert_cmpuint (bench_executed (bench), ==, 0);
}

static void
test_states_of_the_request (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_auto (Reply) reply = { 0 };
  g_autoptr (Ledger) ledger = NULL;

  scene_set_up (bench, &scene);
  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &reply);
  ledger = bench_ledger (bench);
  g_assert_true (ledger_halt (ledger, 0, "x", NULL));
  answer_refused (bench, &scene, &reply, US_REASON_HALTED);
  g_assert_true (ledger_resume (ledger, 0, "x", NULL));
  g_assert_true (client_close (&bench->client, scene.request->id, "denied", NULL));
  answer_refused (bench, &scene, &reply, US_REASON_CLOSED);
  g_assert_cmpuint (answers_stored (bench, &scene), ==, 0);
}

/* The reason of a denial stands in the row and in the last entry of the chain. */
static void
assert_closed_with (Ledger *ledger, const char *request, const char *reason)
{
  g_auto (LedgerStatus) status = { 0 };
  g_auto (LedgerSummary) summary = { 0 };
  g_autoptr (GPtrArray) entries = NULL;
  g_autofree char *wanted = g_strdup_printf ("\"reason\":\"%s\"", reason);
  const AuditEntry *entry = NULL;

  g_assert_true (ledger_query (ledger, request, &status, NULL));
  g_assert_cmpstr (status.why, ==, "denied");
  g_assert_cmpstr (status.reason, ==, reason);
  g_assert_true (ledger_summary (ledger, &summary, NULL));
  entries = ledger_audit (ledger, summary.seq, 1, NULL);
  entry = g_ptr_array_index (entries, 0);
  g_assert_nonnull (g_strstr_len (g_bytes_get_data (entry->entry, NULL),
                                  (gssize) g_bytes_get_size (entry->entry), wanted));
}

static void
test_signed_denial (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_auto (Reply) denial = { 0 };
  g_auto (Reply) approval = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *said = NULL;
  g_autofree char *state = NULL;
  g_autoptr (Ledger) ledger = bench_ledger (bench);

  scene_set_up (bench, &scene);
  reply_sign (scene.lead, scene.request, &scene.prepare, "approve", 0, &approval);
  request_set (&approval.reason, "other");
  answer_refused (bench, &scene, &approval, US_REASON_BAD_MESSAGE);
  request_set (&approval.reason, "");
  g_assert_true (
      client_answer (&bench->client, scene.request, &scene.prepare, &approval, NULL, &error));
  /* a denial wins until the hand-over, and is heard while everything is halted */
  g_assert_true (ledger_halt (ledger, 0, "x", NULL));
  reply_sign (scene.kim, scene.request, &scene.prepare, "deny", 0, &denial);
  request_set (&denial.reason, "because");
  answer_refused (bench, &scene, &denial, US_REASON_BAD_MESSAGE);
  request_set (&denial.reason, "suspicious");
  assert_good (
      client_answer (&bench->client, scene.request, &scene.prepare, &denial, &said, &error),
      &error);
  g_assert_cmpstr (said, ==, "denied");
  assert_closed_with (ledger, scene.request->id, "suspicious");
  g_assert_true (ledger_resume (ledger, 0, "x", NULL));

  state = client_state (&bench->client, scene.request->id);
  g_assert_cmpstr (state, ==, "closed");
  assert_refused (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error),
                  &error, US_REASON_CLOSED);
  g_assert_cmpuint (bench_executed (bench), ==, 0);
}

static void
test_two_persons (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autoptr (TestKey) lead_too = client_enrol (&bench->client, "it.lead", 3003);
  g_autoptr (GError) error = NULL;
  TestKey *keys[] = { NULL, NULL, NULL };
  static const char *const states[] = { "pending", "pending", "approved" };

  scene_set_up (bench, &scene);
  request_arguments (scene.request, "[('to', <['x@example.org']>), ('subject', <'x'>)]");
  scene_prepare (bench, &scene);
  /* the same person with two passkeys is one person */
  keys[0] = scene.lead;
  keys[1] = lead_too;
  keys[2] = scene.kim;
  for (guint i = 0; i < 3; i++)
    {
      g_auto (Reply) reply = { 0 };
      g_autofree char *state = NULL;

      reply_sign (keys[i], scene.request, &scene.prepare, "approve", 0, &reply);
      assert_good (
          client_answer (&bench->client, scene.request, &scene.prepare, &reply, &state, &error),
          &error);
      g_assert_cmpstr (state, ==, states[i]);
      if (i < 2)
        assert_refused (
            client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error), &error,
            US_REASON_NOT_APPROVED);
    }
  g_assert_cmpuint (bench_executed (bench), ==, 0);
  assert_good (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error),
               &error);
  g_assert_cmpuint (bench_executed (bench), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  bench_test ("/executor/answer/approved", test_approved);
  bench_test ("/executor/answer/statement-is-whole", test_statement_is_whole);
  bench_test ("/executor/answer/nothing-of-another", test_nothing_of_another);
  bench_test ("/executor/answer/assertion-is-checked", test_assertion_is_checked);
  bench_test ("/executor/answer/who-may-not", test_who_may_not);
  bench_test ("/executor/answer/user-is-gone", test_user_is_gone);
  bench_test ("/executor/answer/kind-of-passkey", test_kind_of_passkey);
  bench_test ("/executor/answer/seal-and-deadline", test_seal_and_deadline);
  bench_test ("/executor/answer/counter", test_counter);
  bench_test ("/executor/answer/given-up", test_given_up);
  bench_test ("/executor/answer/states-of-the-request", test_states_of_the_request);
  bench_test ("/executor/answer/signed-denial", test_signed_denial);
  bench_test ("/executor/answer/two-persons", test_two_persons);
  return g_test_run ();
}
