/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who may send what, and the kinds of the administrator. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/checkpoint.h"
#include "service/base/clock.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"
#include "service/executor/host-key.h"
#include "service/executor/snapshot.h"
#include "tests/executor/bench.h"
#include "tests/passkey/maker.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static GVariant *
nothing (void)
{
  return g_variant_new (WIRE_EMPTY);
}

static void
call_refused (Bench *bench, HandoverKind kind, GVariant *body, const char *type, const char *reason)
{
  g_autoptr (GError) error = NULL;
  g_auto (Handover) reply = { 0 };

  assert_refused (client_call (&bench->client, TRUE, kind, body, NULL, 0, type, &reply, &error),
                  &error, reason);
}

static void
call_good (Bench *bench, HandoverKind kind, GVariant *body, const char *type, Handover *out_reply)
{
  g_autoptr (GError) error = NULL;

  assert_good (client_call (&bench->client, TRUE, kind, body, NULL, 0, type, out_reply, &error),
               &error);
}

static const HandoverKind broker_kinds[] = { HANDOVER_PREPARE, HANDOVER_ANSWER, HANDOVER_EXECUTE,
                                             HANDOVER_CLOSE,   HANDOVER_QUERY,  HANDOVER_POLICY,
                                             HANDOVER_APPROVER, HANDOVER_MAY_PAUSE,
                                             HANDOVER_RECEIPT };
static const HandoverKind admin_kinds[] = { HANDOVER_ENROL, HANDOVER_REVOKE, HANDOVER_PASSKEYS,
                                            HANDOVER_HALT,  HANDOVER_RESUME, HANDOVER_RESOLVE,
                                            HANDOVER_AUDIT, HANDOVER_RELOAD,
                                            HANDOVER_CHECKPOINT, HANDOVER_PRUNE };

static void
test_roles (Bench *bench, gconstpointer data)
{
  uid_t other = getuid () + 1;

  bench->config.broker_uid = other;
  for (gsize i = 0; i < G_N_ELEMENTS (broker_kinds); i++)
    call_refused (bench, broker_kinds[i], nothing (), WIRE_EMPTY, US_REASON_BAD_PEER);

  bench->config.broker_uid = getuid ();
  bench->config.admin_uid = other;
  for (gsize i = 0; i < G_N_ELEMENTS (admin_kinds); i++)
    call_refused (bench, admin_kinds[i], nothing (), WIRE_EMPTY, US_REASON_BAD_PEER);

  bench->config.broker_uid = other;
  for (guint kind = 0; kind < 70; kind++)
    if (kind == HANDOVER_STATUS || kind == HANDOVER_QUERY || kind == HANDOVER_HALT)
      call_refused (bench, (HandoverKind) kind, nothing (), WIRE_EMPTY, US_REASON_BAD_PEER);
}

static void
test_unknown_kinds (Bench *bench, gconstpointer data)
{
  static const HandoverKind kinds[] = { HANDOVER_REPLY, HANDOVER_MODULE_EXECUTE,
                                        HANDOVER_MODULE_DESCRIBE };

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    call_refused (bench, kinds[i], nothing (), WIRE_EMPTY, US_REASON_BAD_MESSAGE);
}

static void
test_wrong_bodies (Bench *bench, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_auto (Handover) reply = { 0 };
  autofd file = memfd_new_sealed ("x", "x", 1, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (broker_kinds); i++)
    if (broker_kinds[i] != HANDOVER_POLICY)
      call_refused (bench, broker_kinds[i], g_variant_new ("(t)", (guint64) 1), WIRE_EMPTY,
                    US_REASON_BAD_MESSAGE);
  assert_refused (client_call (&bench->client, FALSE, HANDOVER_QUERY, g_variant_new ("(s)", "x"),
                               &file, 1, WIRE_QUERY_REPLY, &reply, &error),
                  &error, US_REASON_BAD_MESSAGE);
  call_refused (bench, HANDOVER_QUERY, g_variant_new ("(s)", "x"), WIRE_QUERY_REPLY,
                US_REASON_BAD_MESSAGE);
}

static void
test_close (Bench *bench, gconstpointer data)
{
  static const struct
  {
    const char *id, *why, *by, *reason;
  } cases[] = {
    { "x", "denied", "", "" },
    { "00000000000000000000000000000001", "approved", "", "" },
    { "00000000000000000000000000000001", "", "", "" },
    { "00000000000000000000000000000001", "denied", "", "because" },
    { "00000000000000000000000000000001", "expired", "", "other" },
  };
  g_autofree char *state = NULL;
  g_autofree char *by = g_strnfill (300, 'x');
  g_auto (Handover) reply = { 0 };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    call_refused (bench, HANDOVER_CLOSE,
                  g_variant_new_parsed ("(%s, @ay [], %s, %s, %s)", cases[i].id, cases[i].why,
                                        cases[i].by, cases[i].reason),
                  WIRE_EMPTY, US_REASON_BAD_MESSAGE);
  call_refused (bench, HANDOVER_CLOSE,
                g_variant_new_parsed ("('00000000000000000000000000000001', @ay [], 'denied', %s, "
                                      "'')",
                                      by),
                WIRE_EMPTY, US_REASON_TOO_LARGE);
  state = client_state (&bench->client, "00000000000000000000000000000001");
  g_assert_cmpstr (state, ==, "none");

  /* closing needs no policy and no running service */
  bench_policy (bench, "rules/broken.rule", "[");
  call_good (bench, HANDOVER_HALT, g_variant_new ("(us)", 0u, "x"), WIRE_EMPTY, &reply);
  handover_clear (&reply);
  call_good (bench, HANDOVER_CLOSE,
             g_variant_new_parsed ("('00000000000000000000000000000001', @ay [], 'denied', "
                                   "'it.lead', 'suspicious')"),
             WIRE_EMPTY, &reply);
}

static void
enrol_refused (Bench *bench,
               const char *name,
               uid_t uid,
               const char *kind,
               const char *rp,
               const char *origin,
               const char *reason)
{
  g_autoptr (TestKey) key = key_new (&bench->client, name, uid);

  call_refused (bench, HANDOVER_ENROL,
                enrolment_variant (key, kind, rp != NULL ? rp : key->passkey->rp, origin),
                WIRE_ENROL_REPLY, reason);
}

static void
test_enrol_refused (Bench *bench, gconstpointer data)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (TestKey) key = key_new (&bench->client, "alice", 3004);
  g_autoptr (GVariant) list = NULL;

  enrol_refused (bench, "root", 0, "software", NULL, "", US_REASON_AGENT_UID);
  enrol_refused (bench, "agent-offboarding", 2001, "software", NULL, "", US_REASON_AGENT_UID);
  enrol_refused (bench, "undersign", 901, "software", NULL, "", US_REASON_AGENT_UID);
  enrol_refused (bench, "alice", 3003, "software", NULL, "", US_REASON_IDENTITY);
  enrol_refused (bench, "twin", 3004, "software", NULL, "", US_REASON_IDENTITY);
  enrol_refused (bench, "no.one", 3999, "software", NULL, "", US_REASON_IDENTITY);
  enrol_refused (bench, "alice", 3004, "hardware", NULL, "", US_REASON_ATTESTATION_CHAIN);
  enrol_refused (bench, "alice", 3004, "phone", NULL, "", US_REASON_CREDENTIAL_KIND);
  enrol_refused (bench, "alice", 3004, "synced", NULL, "", US_REASON_CREDENTIAL_KIND);
  enrol_refused (bench, "alice", 3004, "", NULL, "", US_REASON_CREDENTIAL_KIND);
  enrol_refused (bench, "alice", 3004, "software", "example.com", "", US_REASON_RP_ID);
  enrol_refused (bench, "alice", 3004, "software", "undersign:", "", US_REASON_RP_ID);
  enrol_refused (bench, "alice", 3004, "software", NULL, "https://example.com", US_REASON_ORIGIN);

  /* made for another relying party than it says */
  request_set (&key->passkey->rp, "undersign:00000000000000000000000000000000");
  call_refused (bench, HANDOVER_ENROL,
                enrolment_variant (key, "software", "undersign:" BENCH_HOST, ""), WIRE_ENROL_REPLY,
                US_REASON_ORIGIN);

  bench_policy (bench, "rules/broken.rule", "[");
  enrol_refused (bench, "alice", 3004, "software", NULL, "", US_REASON_POLICY_INVALID);

  call_good (bench, HANDOVER_PASSKEYS, nothing (), WIRE_PASSKEYS_REPLY, &reply);
  list = g_variant_get_child_value (reply.body, 0);
  g_assert_cmpuint (g_variant_n_children (list), ==, 0);
}

/* A key that @leaf attests, or with NULL nobody does. */
static GVariant *
attested_variant (TestKey *key, const char *kind, const Issuer *leaf)
{
  g_autoptr (GBytes) client_data =
      test_client_data ("webauthn.create", key->challenge, PAE_DIGEST_SIZE, TEST_RP, "");
  g_autoptr (GBytes) attestation =
      maker_attestation (key, client_data, TEST_FLAGS | 0x40, leaf, NULL, 0, PASSKEY_ES256);
  g_autoptr (GBytes) challenge = g_bytes_new (key->challenge, PAE_DIGEST_SIZE);
  GBytes *parts[] = { challenge, client_data, attestation };
  GVariant *arrays[G_N_ELEMENTS (parts)];

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    arrays[i] = g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, parts[i], TRUE);
  return g_variant_new ("(sussss@ay@ay@ayu)", "alice", 3004u, kind, "a key of metal", TEST_RP, "",
                        arrays[0], arrays[1], arrays[2], 0u);
}

/* The folder is read at each enrolment; the kind is never the caller's word alone. */
static void
test_enrol_hardware (Bench *bench, gconstpointer data)
{
  static const CertificatePlan authority = { .name = "Root" };
  static const CertificatePlan product = { .name = "Key", .leaf = TRUE };
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);
  g_autoptr (Issuer) root = issuer_new (&authority, NULL);
  g_autoptr (Issuer) leaf = issuer_new (&product, root);
  g_autofree char *file = g_build_filename (bench->attestation, "README", NULL);
  g_autofree char *text = NULL;
  g_auto (Handover) reply = { 0 };
  g_auto (Handover) list = { 0 };

  call_refused (bench, HANDOVER_ENROL, attested_variant (key, "hardware", leaf), WIRE_ENROL_REPLY,
                US_REASON_ATTESTATION_CHAIN);
  call_refused (bench, HANDOVER_ENROL, attested_variant (key, "unattested", leaf), WIRE_ENROL_REPLY,
                US_REASON_ATTESTATION);
  issuer_write_pem (root, bench->attestation, "root.pem");
  enrol_refused (bench, "alice", 3004, "hardware", NULL, "", US_REASON_ATTESTATION_CHAIN);
  g_assert_true (g_file_set_contents (file, "", -1, NULL));
  call_refused (bench, HANDOVER_ENROL, attested_variant (key, "hardware", leaf), WIRE_ENROL_REPLY,
                US_REASON_ATTESTATION_CHAIN);
  g_assert_cmpint (g_unlink (file), ==, 0);

  call_good (bench, HANDOVER_ENROL, attested_variant (key, "hardware", leaf), WIRE_ENROL_REPLY,
             &reply);
  call_good (bench, HANDOVER_PASSKEYS, nothing (), WIRE_PASSKEYS_REPLY, &list);
  text = g_variant_print (list.body, FALSE);
  g_assert_nonnull (strstr (text, "'alice', 3004, 'hardware', 'a key of metal'"));
}

static void
test_enrol_and_revoke (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) key = client_enrol (&bench->client, "alice", 3004);
  g_auto (Handover) active = { 0 };
  g_auto (Handover) done = { 0 };
  g_auto (Handover) list = { 0 };
  g_autofree char *text = NULL;
  g_autofree char *last = NULL;
  const Signer signer = { SIGNER_ES256, key->passkey->public_key };
  g_autofree char *id = signer_id_text (&signer);
  GVariant *credential =
      g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, key->passkey->credential, TRUE);

  call_good (bench, HANDOVER_APPROVER, g_variant_new ("(u)", 3004u), WIRE_APPROVER_REPLY, &active);
  text = g_variant_print (active.body, FALSE);
  g_assert_nonnull (strstr (text, "'software', 'undersign:" BENCH_HOST "', '', 'a test key'"));
  call_good (bench, HANDOVER_REVOKE, g_variant_new ("(@ayu)", credential, 0u), WIRE_EMPTY, &done);
  handover_clear (&active);
  call_good (bench, HANDOVER_APPROVER, g_variant_new ("(u)", 3004u), WIRE_APPROVER_REPLY, &active);
  g_free (text);
  text = g_variant_print (active.body, FALSE);
  g_assert_cmpstr (text, ==, "([],)");

  call_good (bench, HANDOVER_PASSKEYS, nothing (), WIRE_PASSKEYS_REPLY, &list);
  g_free (text);
  text = g_variant_print (list.body, FALSE);
  g_assert_nonnull (strstr (text, "'alice', 3004, 'software', 'a test key'"));
  last = g_strdup_printf ("false, '%s')]", id);
  g_assert_nonnull (strstr (text, last));
}

static void
test_texts (Bench *bench, gconstpointer data)
{
  g_autofree char *long_text = g_strnfill (1001, 'x');

  call_refused (bench, HANDOVER_HALT, g_variant_new ("(us)", 0u, long_text), WIRE_EMPTY,
                US_REASON_TOO_LARGE);
  call_refused (bench, HANDOVER_HALT, g_variant_new ("(us)", 0u, "two\nlines"), WIRE_EMPTY,
                US_REASON_BAD_VALUE);
  call_refused (bench, HANDOVER_RESUME, g_variant_new ("(us)", 0u, "x"), WIRE_EMPTY,
                US_REASON_WRONG_STATE);
  call_refused (bench, HANDOVER_RESOLVE,
                g_variant_new ("(sssu)", "00000000000000000000000000000001", "perhaps", "", 0u),
                WIRE_EMPTY, US_REASON_BAD_MESSAGE);
  call_refused (bench, HANDOVER_RESOLVE,
                g_variant_new ("(sssu)", "00000000000000000000000000000001", "done", "", 0u),
                WIRE_EMPTY, US_REASON_NOT_FOUND);
}

static void
test_status (Bench *bench, gconstpointer data)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GVariant) dict = NULL;
  gboolean running = FALSE;
  const char *text = NULL;
  guint32 rules = 0;

  call_good (bench, HANDOVER_STATUS, nothing (), WIRE_STATUS_REPLY, &reply);
  dict = g_variant_get_child_value (reply.body, 0);
  g_assert_true (g_variant_lookup (dict, "running", "b", &running));
  g_assert_true (running);
  g_assert_true (g_variant_lookup (dict, "rules", "u", &rules));
  g_assert_cmpuint (rules, ==, 4);
  handover_clear (&reply);
  g_clear_pointer (&dict, g_variant_unref);

  bench_policy (bench, "rules/broken.rule", "[Rule x]\nDecision=maybe\nApprovers=\n");
  call_good (bench, HANDOVER_HALT, g_variant_new ("(us)", 0u, "an incident"), WIRE_EMPTY, &reply);
  handover_clear (&reply);
  call_good (bench, HANDOVER_STATUS, nothing (), WIRE_STATUS_REPLY, &reply);
  dict = g_variant_get_child_value (reply.body, 0);
  g_assert_true (g_variant_lookup (dict, "running", "b", &running));
  g_assert_false (running);
  g_assert_true (g_variant_lookup (dict, "halted", "&s", &text));
  g_assert_cmpstr (text, ==, "halted: an incident");
  g_assert_true (g_variant_lookup (dict, "policy", "&s", &text));
  g_test_message ("%s", text);
  g_assert_nonnull (strstr (text, "broken.rule:3"));
  g_assert_true (g_variant_lookup (dict, "policy", "&s", &text));
  handover_clear (&reply);
  g_clear_pointer (&dict, g_variant_unref);

  /* the broker hears that there are faults, not which */
  bench->config.admin_uid = getuid () + 1;
  call_good (bench, HANDOVER_STATUS, nothing (), WIRE_STATUS_REPLY, &reply);
  dict = g_variant_get_child_value (reply.body, 0);
  g_assert_true (g_variant_lookup (dict, "policy", "&s", &text));
  g_assert_true (g_str_has_prefix (text, US_REASON_POLICY_INVALID ": "));
  g_assert_null (strstr (text, "broken"));
}

static void
test_policy_for_the_broker (Bench *bench, gconstpointer data)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GBytes) image = NULL;
  g_autoptr (GBytes) read = set_image (bench->set);
  g_autoptr (GBytes) expected = policy_resolve (read, &set_names);
  const char *fault = NULL;

  call_good (bench, HANDOVER_POLICY, nothing (), WIRE_POLICY_REPLY, &reply);
  g_variant_get (reply.body, "(&s)", &fault);
  g_assert_cmpstr (fault, ==, "");
  g_assert_cmpuint (reply.n_fds, ==, 1);
  image = memfd_read (reply.fds[0], POLICY_MAX_IMAGE, NULL);
  g_assert_true (g_bytes_equal (image, expected));
  handover_clear (&reply);

  /* of an invalid one the broker learns that it is, and no more */
  bench_policy (bench, "rules/broken.rule", "[Rule x]\nDecision=maybe\n");
  call_good (bench, HANDOVER_POLICY, nothing (), WIRE_POLICY_REPLY, &reply);
  g_variant_get (reply.body, "(&s)", &fault);
  g_assert_true (g_str_has_prefix (fault, US_REASON_POLICY_INVALID ": "));
  g_assert_null (strstr (fault, "broken"));
  g_assert_cmpuint (reply.n_fds, ==, 0);
}

static void
test_reload (Bench *bench, gconstpointer data)
{
  g_auto (Handover) reply = { 0 };
  const char *fault = NULL;

  bench->config.policy.data_dir = "/nonexistent";
  call_good (bench, HANDOVER_RELOAD, nothing (), WIRE_POLICY_REPLY, &reply);
  g_variant_get (reply.body, "(&s)", &fault);
  g_assert_true (g_str_has_prefix (fault, US_REASON_POLICY_INVALID ": "));
  g_assert_cmpuint (bench->reloads, ==, 1);
}

static gboolean
may_pause (Bench *bench, guint32 uid, const char *agent)
{
  g_auto (Handover) reply = { 0 };
  gboolean may = FALSE;

  call_good (bench, HANDOVER_MAY_PAUSE, g_variant_new (WIRE_MAY_PAUSE, uid, agent),
             WIRE_MAY_PAUSE_REPLY, &reply);
  g_variant_get (reply.body, WIRE_MAY_PAUSE_REPLY, &may);
  return may;
}

/* Only with a passkey that is active, and for an agent that the person has to do with. */
static void
test_may_pause (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) alice = client_enrol (&bench->client, "alice", 3004);
  g_autoptr (TestKey) kim = NULL;

  g_assert_false (may_pause (bench, 3002, "offboarding"));
  kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_assert_true (may_pause (bench, 3002, "offboarding"));
  g_assert_false (may_pause (bench, 3004, "offboarding"));
  g_assert_true (may_pause (bench, 3004, "other"));
  g_assert_false (may_pause (bench, 3004, "no-such"));
  g_assert_false (may_pause (bench, 0, "other"));
  bench_policy (bench, "rules/x.rule", "[Rule\n");
  call_refused (bench, HANDOVER_MAY_PAUSE, g_variant_new (WIRE_MAY_PAUSE, 3002, "offboarding"),
                WIRE_MAY_PAUSE_REPLY, US_REASON_POLICY_INVALID);
}

static void
test_audit (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) key = client_enrol (&bench->client, "alice", 3004);
  g_auto (Handover) reply = { 0 };
  g_autoptr (GVariant) list = NULL;
  g_autoptr (GVariant) entry = NULL;
  g_autoptr (GVariant) array = NULL;
  g_autoptr (GBytes) bytes = NULL;

  /* created, policy, enrolled */
  call_good (bench, HANDOVER_AUDIT, g_variant_new ("(tu)", (guint64) 3, 10u), WIRE_AUDIT_REPLY,
             &reply);
  list = g_variant_get_child_value (reply.body, 0);
  g_assert_cmpuint (g_variant_n_children (list), ==, 1);
  entry = g_variant_get_child_value (list, 0);
  g_variant_get_child (entry, 1, "@ay", &array);
  bytes = g_variant_get_data_as_bytes (array);
  g_assert_nonnull (g_strstr_len (g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes),
                                  "\"event\":\"enrolled\""));
}

static GBytes *
get_checkpoint (Bench *bench)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GVariant) array = NULL;

  call_good (bench, HANDOVER_CHECKPOINT, nothing (), WIRE_CHECKPOINT_REPLY, &reply);
  g_variant_get (reply.body, "(@ay)", &array);
  return g_variant_get_data_as_bytes (array);
}

/* Signed by a key that is made once, kept privately, and named in the log that it signs. */
static void
test_checkpoint (Bench *bench, gconstpointer data)
{
  g_autofree char *path = g_build_filename (bench->state, "host.key", NULL);
  g_autoptr (GBytes) first = get_checkpoint (bench);
  g_autoptr (GBytes) second = get_checkpoint (bench);
  g_auto (Checkpoint) one = { 0 }, two = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (Ledger) ledger = NULL;
  const AuditEntry *entry = NULL;
  struct stat st;

  g_assert_true (checkpoint_parse (first, &one, &error));
  g_assert_no_error (error);
  g_assert_true (checkpoint_parse (second, &two, &error));
  g_assert_cmpstr (one.key, ==, two.key);
  g_assert_cmpuint (one.seq, ==, two.seq);
  g_assert_cmpstr (one.host, ==, BENCH_HOST);
  g_assert_cmpint (stat (path, &st), ==, 0);
  g_assert_cmpuint (st.st_mode & 07777, ==, 0600);
  g_assert_cmpint (st.st_size, ==, 32);

  ledger = bench_ledger (bench);
  g_assert_cmpstr (one.ledger, ==, ledger_id (ledger));
  entries = ledger_audit (ledger, one.seq, 1, &error);
  entry = g_ptr_array_index (entries, 0);
  g_assert_cmpmem (entry->hash, PAE_DIGEST_SIZE, one.head, PAE_DIGEST_SIZE);
  g_assert_nonnull (g_strstr_len (g_bytes_get_data (entry->entry, NULL),
                                  (gssize) g_bytes_get_size (entry->entry), one.key));
}

static void
test_host_key_refused (Bench *bench, gconstpointer data)
{
  g_autofree char *path = g_build_filename (bench->state, "host.key", NULL);
  g_autofree char *aside = g_strconcat (path, ".aside", NULL);
  g_autoptr (GBytes) first = get_checkpoint (bench);

  g_assert_cmpint (chmod (path, 0640), ==, 0);
  call_refused (bench, HANDOVER_CHECKPOINT, nothing (), WIRE_CHECKPOINT_REPLY,
                US_REASON_UNTRUSTED_FILE);
  g_assert_cmpint (chmod (path, 0600), ==, 0);
  g_assert_cmpint (truncate (path, 31), ==, 0);
  call_refused (bench, HANDOVER_CHECKPOINT, nothing (), WIRE_CHECKPOINT_REPLY,
                US_REASON_UNTRUSTED_FILE);
  g_assert_cmpint (rename (path, aside), ==, 0);
  g_assert_cmpint (symlink (aside, path), ==, 0);
  call_refused (bench, HANDOVER_CHECKPOINT, nothing (), WIRE_CHECKPOINT_REPLY, US_REASON_INTERNAL);
}

/* A worker that dies while it writes a key: the next makes one, and nothing lies beside it. */
static void
test_host_key_crash (Bench *bench, gconstpointer data)
{
  const struct rlimit ten = { 10, 10 };
  g_autoptr (Executor) executor = executor_new (&bench->config, bench->image_fd, NULL);
  g_autofree char *path = g_build_filename (bench->state, "host.key", NULL);
  g_autoptr (GBytes) checkpoint = NULL;
  g_autoptr (GDir) dir = NULL;
  struct stat st;
  pid_t child = fork ();
  int status = 0;

  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      signal (SIGXFSZ, SIG_DFL);
      setrlimit (RLIMIT_FSIZE, &ten);
      host_key_open (executor, NULL);
      _exit (0);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGXFSZ);
  g_assert_cmpint (stat (path, &st), !=, 0);

  checkpoint = get_checkpoint (bench);
  g_assert_cmpint (stat (path, &st), ==, 0);
  g_assert_cmpuint (st.st_nlink, ==, 1);
  g_assert_cmpint (st.st_size, ==, 32);
  dir = g_dir_open (bench->state, 0, NULL);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    if (g_str_has_prefix (name, "host.key"))
      g_assert_cmpstr (name, ==, "host.key");
}

static void
test_prune (Bench *bench, gconstpointer data)
{
  g_auto (Handover) reply = { 0 };
  guint64 removed = 7;
  gboolean more = TRUE;

  call_refused (bench, HANDOVER_PRUNE, g_variant_new (WIRE_PRUNE, clock_wall () + 60, 0u),
                WIRE_PRUNE_REPLY, US_REASON_BAD_VALUE);
  call_refused (bench, HANDOVER_PRUNE, g_variant_new (WIRE_PRUNE, G_MININT64, 0u),
                WIRE_PRUNE_REPLY, US_REASON_BAD_VALUE);
  call_good (bench, HANDOVER_PRUNE, g_variant_new (WIRE_PRUNE, clock_wall () - 60, 0u),
             WIRE_PRUNE_REPLY, &reply);
  g_variant_get (reply.body, "(tb)", &removed, &more);
  g_assert_cmpuint (removed, ==, 0);
  g_assert_false (more);
}

/* A listener's child that cannot read the policy leaves a fault, never an image. */
static void
test_snapshot_fault (void)
{
  static const char *const broken[] = { "/bin/false", NULL };
  static const char *const absent[] = { "/nonexistent", NULL };
  g_autoptr (GError) error = NULL;
  PolicySource source = { .data_dir = "/nonexistent",
                          .config_dir = "/nonexistent",
                          .module_dir = "/nonexistent",
                          .owner = getuid () };
  autofd fd = snapshot_make (broken, &error);
  autofd no_child = -1;
  autofd plain = -1;

  g_assert_no_error (error);
  g_assert_null (snapshot_read (fd, &error));
  g_assert_true (g_error_matches (error, US_ERROR, US_ERROR_POLICY_INVALID));
  g_clear_error (&error);

  no_child = snapshot_make (absent, &error);
  g_assert_no_error (error);
  g_assert_null (snapshot_read (no_child, &error));
  g_clear_error (&error);

  plain = memfd_new_sealed ("x", "undersign.fault\nsome text", 25, NULL);
  g_assert_null (snapshot_read (plain, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_POLICY_INVALID));
  g_clear_error (&error);
  g_assert_null (snapshot_read (-1, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_POLICY_INVALID));
  g_clear_error (&error);
  g_assert_false (snapshot_write (&source, &set_names, -1, &error));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  bench_test ("/executor/serve/roles", test_roles);
  bench_test ("/executor/serve/unknown-kinds", test_unknown_kinds);
  bench_test ("/executor/serve/wrong-bodies", test_wrong_bodies);
  bench_test ("/executor/close", test_close);
  bench_test ("/executor/enrol/refused", test_enrol_refused);
  bench_test ("/executor/enrol/hardware", test_enrol_hardware);
  bench_test ("/executor/enrol/and-revoke", test_enrol_and_revoke);
  bench_test ("/executor/admin/texts", test_texts);
  bench_test ("/executor/admin/status", test_status);
  bench_test ("/executor/admin/reload", test_reload);
  bench_test ("/executor/may-pause", test_may_pause);
  bench_test ("/executor/admin/audit", test_audit);
  bench_test ("/executor/evidence/checkpoint", test_checkpoint);
  bench_test ("/executor/evidence/host-key-refused", test_host_key_refused);
  bench_test ("/executor/evidence/host-key-crash", test_host_key_crash);
  bench_test ("/executor/evidence/prune", test_prune);
  bench_test ("/executor/policy/for-the-broker", test_policy_for_the_broker);
  g_test_add_func ("/executor/policy/snapshot-fault", test_snapshot_fault);
  return g_test_run ();
}
