/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A receipt of each end that a request can have: what it says, and that it verifies by itself. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/wire.h"
#include "service/receipt/receipt.h"
#include "tests/executor/bench.h"

#include <string.h>

typedef struct
{
  TestKey *kim;
  Request *request;
  Prepare prepare;
} Scene;

static void
scene_clear (Scene *scene)
{
  g_clear_pointer (&scene->kim, test_key_free);
  g_clear_pointer (&scene->request, request_free);
  prepare_clear (&scene->prepare);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Scene, scene_clear)

static void
scene_begin (Bench *bench, Scene *scene, Request *request)
{
  g_autoptr (GError) error = NULL;

  scene->kim = client_enrol (&bench->client, "hr.kim", 3002);
  scene->request = request;
  client_prepare (&bench->client, scene->request, &scene->prepare, &error);
  g_assert_no_error (error);
}

static void
scene_approve (Bench *bench, Scene *scene)
{
  g_autoptr (GError) error = NULL;

  assert_good (client_approve (&bench->client, scene->kim, scene->request, &scene->prepare, &error),
               &error);
}

static GVariant *
receipt_call (const char *request, GBytes *record)
{
  return g_variant_new ("(s@ay)", request,
                        g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, record, TRUE));
}

static Receipt *
receipt_get (Bench *bench, const Scene *scene)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GVariant) array = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  Receipt *receipt = NULL;

  assert_good (client_call (&bench->client, FALSE, HANDOVER_RECEIPT,
                            receipt_call (scene->request->id, scene->prepare.record), NULL, 0,
                            WIRE_RECEIPT_REPLY, &reply, &error),
               &error);
  g_variant_get (reply.body, "(@ay)", &array);
  bytes = g_variant_get_data_as_bytes (array);
  receipt = receipt_decode (bytes, &error);
  g_assert_no_error (error);
  return receipt;
}

/* Without a key it holds together and proves nothing; with both everything that is signed is. */
static void
assert_receipt (Bench *bench, const Scene *scene, const char *state, const char *source)
{
  g_autoptr (Receipt) receipt = receipt_get (bench, scene);
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (ReceiptReport) report = receipt_verify (receipt, keys, &error);
  Signer kim = { SIGNER_ES256, scene->kim->passkey->public_key };

  g_assert_no_error (error);
  g_assert_false (report->proven);
  g_assert_cmpstr (receipt->outcome.state, ==, state);
  g_assert_cmpstr (receipt->outcome.source, ==, source);
  g_assert_nonnull (receipt->decoded);

  g_ptr_array_add (keys, g_strdup (receipt->outcome.key));
  g_ptr_array_add (keys, signer_id_text (&kim));
  g_clear_pointer (&report, receipt_report_free);
  report = receipt_verify (receipt, keys, &error);
  g_assert_no_error (error);
  g_assert_true (report->proven);
}

static void
execute (Bench *bench, const Scene *scene, const char *outcome)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *said = NULL;

  bench_behave (bench, outcome);
  assert_good (client_execute (&bench->client, scene->request, &scene->prepare, &said, &error),
               &error);
  g_assert_cmpstr (said, ==, outcome);
}

static void
test_executed (Bench *bench, gconstpointer data)
{
  static const char *const outcomes[] = { "done", "failed", "unknown" };

  for (gsize i = 0; i < G_N_ELEMENTS (outcomes); i++)
    {
      g_auto (Scene) scene = { 0 };
      g_autoptr (Receipt) receipt = NULL;
      const ReceiptAnswer *answer = NULL;

      if (i > 0)
        {
          bench_tear_down (bench, NULL);
          bench_set_up (bench, NULL);
        }
      scene_begin (bench, &scene, bench_mail (bench));
      scene_approve (bench, &scene);
      assert_receipt (bench, &scene, "none", "");
      execute (bench, &scene, outcomes[i]);
      assert_receipt (bench, &scene, outcomes[i], "executor");
      receipt = receipt_get (bench, &scene);
      g_assert_cmpuint (receipt->answers->len, ==, 1);
      answer = g_ptr_array_index (receipt->answers, 0);
      g_assert_true (answer->used);
      g_assert_cmpstr (answer->kind, ==, "software");
    }
}

static void
assert_by (Bench *bench, const char *request, const char *by)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GError) error = NULL;
  const char *found = NULL;

  assert_good (client_call (&bench->client, FALSE, HANDOVER_QUERY, g_variant_new ("(s)", request),
                            NULL, 0, WIRE_QUERY_REPLY, &reply, &error),
               &error);
  g_variant_get_child (reply.body, 2, "&s", &found);
  g_assert_cmpstr (found, ==, by);
}

static void
test_resolved (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autoptr (Ledger) ledger = bench_ledger (bench);

  scene_begin (bench, &scene, bench_mail (bench));
  scene_approve (bench, &scene);
  execute (bench, &scene, "unknown");
  assert_by (bench, scene.request->id, "");
  g_assert_true (ledger_resolve (ledger, scene.request->id, "done", "it is there", 0, NULL));
  assert_by (bench, scene.request->id, WIRE_QUERY_RESOLVED);
  assert_receipt (bench, &scene, "done", "admin");
}

static void
test_signed_denial (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_auto (Reply) reply = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *state = NULL;

  scene_begin (bench, &scene, bench_mail (bench));
  scene_approve (bench, &scene);
  reply_sign (scene.kim, scene.request, &scene.prepare, "deny", 0, &reply);
  assert_good (client_answer (&bench->client, scene.request, &scene.prepare, &reply, &state, &error),
               &error);
  assert_receipt (bench, &scene, "denied", "signed");
}

static void
test_closed (Bench *bench, gconstpointer data)
{
  static const char *const whys[] = { "denied", "withdrawn", "expired", "superseded",
                                      "unreachable" };
  g_auto (Handover) reply = { 0 };
  g_auto (Scene) first = { 0 };
  g_autoptr (GError) error = NULL;

  scene_begin (bench, &first, bench_mail (bench));
  for (gsize i = 0; i < G_N_ELEMENTS (whys); i++)
    {
      GVariant *record =
          g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, first.prepare.record, TRUE);

      request_set (&first.request->id, (const char *[]){
        "00000000000000000000000000000001", "00000000000000000000000000000002",
        "00000000000000000000000000000003", "00000000000000000000000000000004",
        "00000000000000000000000000000005" }[i]);
      assert_good (client_call (&bench->client, FALSE, HANDOVER_CLOSE,
                                g_variant_new ("(s@aysss)", first.request->id, record, whys[i],
                                               "hr.kim", i == 0 ? "not-now" : ""),
                                NULL, 0, WIRE_EMPTY, &reply, &error),
                   &error);
      handover_clear (&reply);
      memset (&reply, 0, sizeof reply);
      assert_receipt (bench, &first, whys[i], "broker");
    }
}

#define DENY "[Rule never]\nAgents=offboarding\nActions=mail.send\nDecision=deny\n"

/* A check at the execution fails: policy was changed after the approval. */
static void
test_refused (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autoptr (GError) error = NULL;

  scene_begin (bench, &scene, bench_mail (bench));
  bench_policy (bench, "rules/deny.rule",
                "[Rule never]\nAgents=offboarding\nActions=mail.send\nDecision=deny\n");
  assert_refused (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error),
                  &error, US_REASON_RECORD_CHANGED);
  assert_receipt (bench, &scene, "none", ""); /* nobody had approved it */

  bench_policy (bench, "rules/deny.rule", NULL);
  scene_approve (bench, &scene);
  bench_policy (bench, "rules/deny.rule",
                "[Rule never]\nAgents=offboarding\nActions=mail.send\nDecision=deny\n");
  for (guint i = 0; i < 3; i++)
    assert_refused (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error),
                    &error, US_REASON_RECORD_CHANGED);
  assert_receipt (bench, &scene, "refused", "executor");

  /* it can still run while its time is, and then that counts */
  bench_policy (bench, "rules/deny.rule", NULL);
  execute (bench, &scene, "done");
  assert_receipt (bench, &scene, "done", "executor");
}

/* Policies that would not even take the request: its agent is another user, or the value that was
 * approved is none of the argument's any more. */
static const struct
{
  const char *file, *text, *reason;
} forms[] = {
  { "agents/offboarding.agent",
    "[Agent]\nSummary=Offboarding agent\nUser=it.lead\nOwner=hr.jones\n", US_REASON_NOT_AGENT },
  { "actions/mail.send.action",
    "[Action]\nSummary=Send an e-mail\n"
    "[Executor]\nModule=mail\nServer=smtp.example.com:587\nFrom=offboarding@example.com\n"
    "[Argument to]\nLabel=To\nType=email-list\n"
    "[Argument cc]\nLabel=Cc\nType=email-list\n"
    "[Argument bcc]\nLabel=Bcc\nType=email-list\n"
    "[Argument subject]\nLabel=Subject\nType=line\nPattern=Notice\n",
    US_REASON_BAD_VALUE },
  { "actions/mail.send.action",
    "[Action]\nSummary=Send an e-mail\n"
    "[Executor]\nModule=mail\nServer=smtp.example.com:587\nFrom=offboarding@example.com\n"
    "[Argument to]\nLabel=To\nType=email-list\n"
    "[Argument cc]\nLabel=Cc\nType=email-list\n"
    "[Argument bcc]\nLabel=Bcc\nType=email-list\n",
    US_REASON_UNKNOWN_ARGUMENT },
};

/* So does one that the policy of now would not even take. */
static void
test_refused_by_form (Bench *bench, gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      g_auto (Scene) scene = { 0 };
      g_autoptr (GError) error = NULL;

      if (i > 0)
        {
          bench_tear_down (bench, NULL);
          bench_set_up (bench, NULL);
        }
      scene_begin (bench, &scene, bench_mail (bench));
      scene_approve (bench, &scene);
      bench_policy (bench, forms[i].file, forms[i].text);
      assert_refused (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error),
                      &error, forms[i].reason);
      assert_receipt (bench, &scene, "refused", "executor");
      g_assert_cmpuint (bench_executed (bench), ==, 0);
    }
}

/* And one whose older request, which it was to replace, ran first. */
static void
test_refused_as_successor (Bench *bench, gconstpointer data)
{
  g_auto (Scene) older = { 0 };
  g_auto (Scene) newer = { 0 };
  g_autoptr (GError) error = NULL;
  guint8 digest[PAE_DIGEST_SIZE];

  scene_begin (bench, &older, bench_mail (bench));
  scene_approve (bench, &older);
  pae_sha256 (PAE_TYPE_RECORD, older.prepare.record, digest);
  newer.kim = g_steal_pointer (&older.kim);
  newer.request = bench_mail (bench);
  request_arguments (newer.request, "[('to', <['a@example.com']>), ('subject', <'Report'>)]");
  request_set (&newer.request->supersedes, older.request->id);
  g_free (newer.request->supersedes_digest);
  newer.request->supersedes_digest = digest_to_string (digest);
  client_prepare (&bench->client, newer.request, &newer.prepare, &error);
  g_assert_no_error (error);
  scene_approve (bench, &newer);

  execute (bench, &older, "done");
  assert_refused (client_execute (&bench->client, newer.request, &newer.prepare, NULL, &error),
                  &error, US_REASON_ALREADY_CONSUMED);
  assert_receipt (bench, &newer, "refused", "executor");
  g_assert_cmpuint (bench_executed (bench), ==, 1);
}

/* What is away or halted has found nothing. */
static void
test_halted_is_no_refusal (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autoptr (GError) error = NULL;

  scene_begin (bench, &scene, bench_mail (bench));
  scene_approve (bench, &scene);
  bench_policy (bench, "rules/deny.rule", "[Rule never]\n");
  assert_refused (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error),
                  &error, US_REASON_POLICY_INVALID);
  bench_policy (bench, "rules/deny.rule", NULL);
  {
    g_autoptr (Ledger) ledger = bench_ledger (bench);

    g_assert_true (ledger_halt (ledger, 0, "an incident", &error));
    g_assert_no_error (error);
  }
  assert_refused (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error),
                  &error, US_REASON_HALTED);
  assert_receipt (bench, &scene, "none", "");
}

static void
test_not_approved_is_no_refusal (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autoptr (GError) error = NULL;

  scene_begin (bench, &scene, bench_mail (bench));
  assert_refused (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error),
                  &error, US_REASON_NOT_APPROVED);
  assert_receipt (bench, &scene, "none", "");
}

/* The same with one answer of two: the other may still come. */
static void
test_half_approved_is_no_refusal (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) lead = client_enrol (&bench->client, "it.lead", 3003);
  g_auto (Scene) scene = { 0 };
  g_autoptr (GError) error = NULL;
  Request *request = bench_mail (bench);

  request_arguments (request, "[('to', <['x@example.org']>), ('subject', <'x'>)]");
  scene_begin (bench, &scene, request);
  scene_approve (bench, &scene);
  assert_refused (client_execute (&bench->client, scene.request, &scene.prepare, NULL, &error),
                  &error, US_REASON_NOT_APPROVED);
  assert_receipt (bench, &scene, "none", "");
}

/* The first of two has approved, then policy changes: the second hears that it is another action now,
 * and what became of the first approval is in the log, once. */
static void
test_half_approved_is_refused (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) lead = client_enrol (&bench->client, "it.lead", 3003);
  g_auto (Scene) scene = { 0 };
  g_autoptr (GError) error = NULL;
  Request *request = bench_mail (bench);

  request_arguments (request, "[('to', <['x@example.org']>), ('subject', <'x'>)]");
  scene_begin (bench, &scene, request);
  scene_approve (bench, &scene);
  bench_policy (bench, "rules/deny.rule", DENY);
  for (guint i = 0; i < 2; i++)
    assert_refused (client_approve (&bench->client, lead, scene.request, &scene.prepare, &error),
                    &error, US_REASON_RECORD_CHANGED);
  assert_receipt (bench, &scene, "refused", "executor");
}

/* So it is where the policy of now would not even take the request. */
static void
test_half_approved_by_form (Bench *bench, gconstpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      g_autoptr (TestKey) lead = NULL;
      g_auto (Scene) scene = { 0 };
      g_autoptr (GError) error = NULL;
      Request *request = NULL;

      if (i > 0)
        {
          bench_tear_down (bench, NULL);
          bench_set_up (bench, NULL);
        }
      lead = client_enrol (&bench->client, "it.lead", 3003);
      request = bench_mail (bench);
      request_arguments (request, "[('to', <['x@example.org']>), ('subject', <'x'>)]");
      scene_begin (bench, &scene, request);
      scene_approve (bench, &scene);
      bench_policy (bench, forms[i].file, forms[i].text);
      assert_refused (client_approve (&bench->client, lead, scene.request, &scene.prepare, &error),
                      &error, US_REASON_RECORD_CHANGED);
      assert_receipt (bench, &scene, "refused", "executor");
    }
}

/* How many entries of the log tell of the request's refusal. */
static guint
refusals_noted (Bench *bench, const Scene *scene)
{
  g_autoptr (Receipt) receipt = receipt_get (bench, scene);
  guint n = 0;

  for (guint i = 0; i < receipt->entries->len; i++)
    {
      gsize len = 0;
      const char *text = g_bytes_get_data (receipt->entries->pdata[i], &len);

      if (g_strstr_len (text, (gssize) len, "\"event\":\"refused\"") != NULL)
        n++;
    }
  return n;
}

static void
assert_void (Bench *bench, const Scene *scene, const Reply *reply, guint noted)
{
  g_autoptr (GError) error = NULL;

  assert_refused (
      client_answer (&bench->client, scene->request, &scene->prepare, reply, NULL, &error), &error,
      US_REASON_RECORD_CHANGED);
  g_assert_cmpuint (refusals_noted (bench, scene), ==, noted);
}

static void
key_revoke (Bench *bench, const TestKey *key)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GError) error = NULL;
  GVariant *credential =
      g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, key->passkey->credential, TRUE);

  assert_good (client_call (&bench->client, TRUE, HANDOVER_REVOKE,
                            g_variant_new ("(@ayu)", credential, 0u), NULL, 0, WIRE_EMPTY, &reply,
                            &error),
               &error);
}

static gboolean
no_lead_by_name (const char *name, uid_t *out_uid)
{
  return strcmp (name, "it.lead") != 0 && set_names.user_by_name (name, out_uid);
}

/* What no person has signed on just what was prepared leaves no trace, however often it comes: else
 * whoever reaches the executor could fill the log. */
static void
test_void_without_a_signature (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autoptr (TestKey) stranger = key_new (&bench->client, "hr.kim", 3002);
  g_autoptr (TestKey) revoked = client_enrol (&bench->client, "it.lead", 3003);
  g_autoptr (TestKey) gone = client_enrol (&bench->client, "it.lead", 3003);
  PolicyNames names = set_names;
  g_autoptr (Request) other = bench_mail (bench);
  g_auto (Prepare) prepare = { 0 };
  g_auto (Reply) good = { 0 };

  scene_begin (bench, &scene, bench_mail (bench));
  g_assert_true (client_prepare (&bench->client, other, &prepare, NULL));
  key_revoke (bench, revoked);
  reply_sign (scene.kim, scene.request, &scene.prepare, "approve", 0, &good);
  bench_policy (bench, "rules/deny.rule", DENY);
  {
    g_auto (Reply) by_stranger = { 0 };
    g_auto (Reply) by_revoked = { 0 };
    g_auto (Reply) of_other = { 0 };
    g_auto (Reply) denial = { 0 };
    g_auto (Reply) unsigned_one = { 0 };
    const Reply *const replies[] = { &by_stranger, &by_revoked, &of_other, &denial,
                                     &unsigned_one };

    reply_sign (stranger, scene.request, &scene.prepare, "approve", 0, &by_stranger);
    reply_sign (revoked, scene.request, &scene.prepare, "approve", 0, &by_revoked);
    reply_sign (scene.kim, other, &prepare, "approve", 0, &of_other);
    reply_sign (scene.kim, scene.request, &scene.prepare, "deny", 0, &denial);
    g_free (denial.decision);
    denial.decision = g_strdup ("approve"); /* what the broker says of it */
    reply_sign (scene.kim, scene.request, &scene.prepare, "approve", 0, &unsigned_one);
    g_bytes_unref (unsigned_one.assertion.signature);
    unsigned_one.assertion.signature = g_bytes_ref (by_stranger.assertion.signature);
    for (gsize i = 0; i < G_N_ELEMENTS (replies); i++)
      assert_void (bench, &scene, replies[i], 0);
  }
  assert_receipt (bench, &scene, "none", "");

  /* nor what was not sealed here, which is not even looked at */
  {
    g_autoptr (GError) error = NULL;

    scene.prepare.deadline++;
    assert_refused (
        client_answer (&bench->client, scene.request, &scene.prepare, &good, NULL, &error), &error,
        US_REASON_BAD_SEAL);
    scene.prepare.deadline--;
    g_assert_cmpuint (refusals_noted (bench, &scene), ==, 0);
  }
  /* nor of a passkey whose person is no user any more */
  {
    g_auto (Reply) by_gone = { 0 };

    reply_sign (gone, scene.request, &scene.prepare, "approve", 0, &by_gone);
    names.user_by_name = no_lead_by_name;
    bench->config.names = &names;
    assert_void (bench, &scene, &by_gone, 0);
    bench->config.names = &set_names;
  }
  assert_void (bench, &scene, &good, 1);
}

/* One person was to approve, and did; policy had changed before: the log says what became of it, once,
 * and the request's end by the broker comes after that. */
static void
test_void_with_a_signature (Bench *bench, gconstpointer data)
{
  for (gsize i = 0; i <= G_N_ELEMENTS (forms); i++)
    {
      g_auto (Scene) scene = { 0 };
      g_auto (Reply) reply = { 0 };
      g_autoptr (Receipt) receipt = NULL;

      if (i > 0)
        {
          bench_tear_down (bench, NULL);
          bench_set_up (bench, NULL);
        }
      scene_begin (bench, &scene, bench_mail (bench));
      reply_sign (scene.kim, scene.request, &scene.prepare, "approve", 0, &reply);
      if (i < G_N_ELEMENTS (forms))
        bench_policy (bench, forms[i].file, forms[i].text);
      else
        bench_policy (bench, "rules/deny.rule", DENY);
      for (guint times = 0; times < 3; times++)
        assert_void (bench, &scene, &reply, 1);
      assert_receipt (bench, &scene, "refused", "executor");
      receipt = receipt_get (bench, &scene);
      g_assert_cmpstr (receipt->outcome.reason, ==, US_REASON_RECORD_CHANGED);
      g_assert_cmpuint (receipt->answers->len, ==, 0);
      g_assert_cmpuint (bench_executed (bench), ==, 0);

      /* of what has ended nothing is noted either */
      g_assert_true (client_close (&bench->client, scene.request->id, "withdrawn", NULL));
      assert_void (bench, &scene, &reply, 1);
    }
}

/* What the broker says is believed where the digest is the ledger's. */
static void
test_another_record (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autoptr (Receipt) receipt = NULL;
  g_autoptr (GBytes) other = g_bytes_new_static ("{}", 2);

  scene_begin (bench, &scene, bench_mail (bench));
  g_assert_true (client_close (&bench->client, scene.request->id, "expired", NULL));
  g_bytes_unref (scene.prepare.record);
  scene.prepare.record = g_bytes_ref (other);
  receipt = receipt_get (bench, &scene);
  g_assert_cmpuint (g_bytes_get_size (receipt->record), ==, 0);
}

static void
test_pruned (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_auto (Handover) reply = { 0 };
  g_autoptr (Ledger) ledger = bench_ledger (bench);
  g_autoptr (GError) error = NULL;
  guint64 removed = 0;
  gboolean more = FALSE;

  scene_begin (bench, &scene, bench_mail (bench));
  scene_approve (bench, &scene);
  execute (bench, &scene, "done");
  g_assert_true (ledger_halt (ledger, 0, "x", NULL));
  g_assert_true (ledger_prune (ledger, G_MAXINT32, 0, &removed, &more, &error));
  g_assert_no_error (error);
  assert_refused (client_call (&bench->client, FALSE, HANDOVER_RECEIPT,
                               receipt_call (scene.request->id, scene.prepare.record), NULL, 0,
                               WIRE_RECEIPT_REPLY, &reply, &error),
                  &error, US_REASON_PRUNED);
}

/* Without script, and nothing of a value is markup; the text has no control character. */
static void
test_rendered (Bench *bench, gconstpointer data)
{
  g_auto (Scene) scene = { 0 };
  g_autoptr (Receipt) receipt = NULL;
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  g_autoptr (ReceiptReport) report = NULL;
  g_autoptr (GPtrArray) lines = NULL;
  g_autofree char *page = NULL;
  Request *request = bench_mail (bench);

  request_set (&request->claim, "<script>alert(1)</script>\"'&\033[2J\342\200\256");
  scene_begin (bench, &scene, request);
  receipt = receipt_get (bench, &scene);
  report = receipt_verify (receipt, keys, NULL);
  page = receipt_to_html (receipt, report);
  g_assert_null (strstr (page, "<script"));
  g_assert_nonnull (strstr (page, "&lt;script&gt;alert(1)&lt;/script&gt;"));
  g_assert_nonnull (strstr (page, "\\u{202E}"));
  g_assert_null (strchr (page, '\033'));
  lines = receipt_to_text (receipt, report);
  g_assert_cmpuint (lines->len, >, 10);
  for (guint i = 0; i < lines->len; i++)
    for (const char *c = g_ptr_array_index (lines, i); *c != '\0'; c++)
      g_assert_false ((guchar) *c < 0x20);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  bench_test ("/executor/receipt/executed", test_executed);
  bench_test ("/executor/receipt/resolved", test_resolved);
  bench_test ("/executor/receipt/signed-denial", test_signed_denial);
  bench_test ("/executor/receipt/closed", test_closed);
  bench_test ("/executor/receipt/refused", test_refused);
  bench_test ("/executor/receipt/refused-by-form", test_refused_by_form);
  bench_test ("/executor/receipt/refused-as-successor", test_refused_as_successor);
  bench_test ("/executor/receipt/halted-is-no-refusal", test_halted_is_no_refusal);
  bench_test ("/executor/receipt/not-approved-is-no-refusal", test_not_approved_is_no_refusal);
  bench_test ("/executor/receipt/half-approved-is-no-refusal", test_half_approved_is_no_refusal);
  bench_test ("/executor/receipt/half-approved-is-refused", test_half_approved_is_refused);
  bench_test ("/executor/receipt/half-approved-by-form", test_half_approved_by_form);
  bench_test ("/executor/receipt/void-without-a-signature", test_void_without_a_signature);
  bench_test ("/executor/receipt/void-with-a-signature", test_void_with_a_signature);
  bench_test ("/executor/receipt/another-record", test_another_record);
  bench_test ("/executor/receipt/pruned", test_pruned);
  bench_test ("/executor/receipt/rendered", test_rendered);
  return g_test_run ();
}
