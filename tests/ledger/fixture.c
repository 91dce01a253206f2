/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See fixture.h. */
#include "tests/ledger/fixture.h"

#include "dbus/error.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "tests/lib/folder.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

void
fixture_set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  fixture->root = g_dir_make_tmp ("undersign-ledger-XXXXXX", &error);
  g_assert_no_error (error);
  fixture->state = g_build_filename (fixture->root, "state", NULL);
  fixture->runtime = g_build_filename (fixture->root, "runtime", NULL);
  g_assert_cmpint (g_mkdir (fixture->state, 0700), ==, 0);
  g_assert_cmpint (g_mkdir (fixture->runtime, 0700), ==, 0);
  fixture_reopen (fixture);
}

void
fixture_tear_down (Fixture *fixture, gconstpointer data)
{
  fixture_close (fixture);
  folder_remove (fixture->root);
  g_free (fixture->root);
  g_free (fixture->state);
  g_free (fixture->runtime);
}

void
fixture_close (Fixture *fixture)
{
  g_clear_pointer (&fixture->ledger, ledger_close);
}

void
fixture_reopen (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;

  fixture_close (fixture);
  fixture->ledger = ledger_open (fixture->state, fixture->runtime, &error);
  g_assert_no_error (error);
  g_assert_nonnull (fixture->ledger);
}

char *
fixture_state_path (Fixture *fixture, const char *name)
{
  return g_build_filename (fixture->state, name, NULL);
}

char *
fixture_runtime_path (Fixture *fixture, const char *name)
{
  return g_build_filename (fixture->runtime, name, NULL);
}

static void
file_copy (const char *from, const char *to)
{
  g_autofree char *data = NULL;
  gsize len = 0;

  g_assert_true (g_file_get_contents (from, &data, &len, NULL));
  g_assert_true (
      g_file_set_contents_full (to, data, (gssize) len, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

void
fixture_backup (Fixture *fixture)
{
  g_autofree char *file = fixture_state_path (fixture, "ledger.db");
  g_autofree char *copy = g_build_filename (fixture->root, "backup", NULL);

  fixture_close (fixture);
  file_copy (file, copy);
  fixture_reopen (fixture);
}

void
fixture_restore (Fixture *fixture)
{
  g_autofree char *file = fixture_state_path (fixture, "ledger.db");
  g_autofree char *copy = g_build_filename (fixture->root, "backup", NULL);

  fixture_close (fixture);
  g_unlink (file);
  file_copy (copy, file);
  fixture_reopen (fixture);
}

/* @to: (transfer full): of type @type */
static Record *
record_new (guint32 agent, const char *action, const char *effect, const char *type, JsonTree *to)
{
  g_autoptr (RecordBuilder) builder = record_builder_new ("0123456789abcdef0123456789abcdef");
  g_autoptr (GError) error = NULL;
  Record *record = NULL;

  record_builder_agent (builder, "offboarding", agent, "hr.jones", "main");
  record_builder_run (builder, "11111111111111111111111111111111", "ticket-1", NULL, 0);
  record_builder_action (builder, action, "Send an e-mail", effect);
  record_builder_argument (builder, "to", "To", type, to);
  record_builder_executor (builder, "null", "");
  record_builder_claim (builder, "");
  record_builder_policy (builder,
                         "sha256:0000000000000000000000000000000000000000000000000000000000000000");
  record = record_builder_end (builder, &error);
  g_assert_no_error (error);
  return record;
}

static JsonTree *
list_new (const char *const *to)
{
  JsonTree *list = json_tree_new_array ();

  for (gsize i = 0; to[i] != NULL; i++)
    json_tree_append_string (list, to[i]);
  return list;
}

Record *
fixture_record (guint32 agent, const char *action, const char *const *to)
{
  return record_new (agent, action, "irreversible", "email-list", list_new (to));
}

Record *
fixture_record_of_effect (const char *effect)
{
  const char *to[] = { "a@example.com", NULL };

  return record_new (FIXTURE_AGENT, "mail.look", effect, "email-list", list_new (to));
}

Record *
fixture_record_of_line (const char *to)
{
  return record_new (FIXTURE_AGENT, "mail.send", "irreversible", "line",
                     json_tree_new_string (to));
}

Record *
fixture_record_to (const char *to)
{
  const char *list[] = { to, NULL };

  return fixture_record (FIXTURE_AGENT, "mail.send", list);
}

Passkey *
fixture_passkey (const char *name, uid_t uid, guint32 counter)
{
  Passkey *passkey = g_new0 (Passkey, 1);
  guint8 key[64] = { 1 };

  passkey->credential = g_bytes_new (name, strlen (name));
  passkey->name = g_strdup (name);
  passkey->uid = uid;
  passkey->kind = g_strdup ("software");
  passkey->algorithm = PASSKEY_ES256;
  passkey->public_key = g_bytes_new (key, sizeof key);
  passkey->rp = g_strdup ("undersign:0123456789abcdef0123456789abcdef");
  passkey->origin = g_strdup (passkey->rp);
  passkey->label = g_strdup ("a key");
  passkey->counter = counter;
  passkey->enrolled = clock_wall ();
  passkey->active = TRUE;
  return passkey;
}

Answer *
fixture_answer (const Passkey *passkey, const char *request, const Record *record, guint32 counter)
{
  g_autofree char *nonce = random_id ();
  g_autofree char *statement = g_strconcat ("a statement with the nonce ", nonce, NULL);
  Answer *answer = g_new0 (Answer, 1);

  answer->request = g_strdup (request);
  memcpy (answer->digest, record_digest (record), PAE_DIGEST_SIZE);
  answer->name = g_strdup (passkey->name);
  answer->uid = passkey->uid;
  answer->credential = g_bytes_ref (passkey->credential);
  answer->statement = g_bytes_new (statement, strlen (statement));
  answer->nonce = g_steal_pointer (&nonce);
  answer->issued = g_strdup ("2026-11-30T09:00:00Z");
  answer->expires = g_strdup ("2026-11-30T09:10:00Z");
  answer->assertion.client_data = g_bytes_new_static ("{}", 2);
  answer->assertion.auth_data = g_bytes_new_static ("authenticator data", 18);
  answer->assertion.signature = g_bytes_new_static ("signature", 9);
  answer->counter = counter;
  return answer;
}

GPtrArray *
fixture_answers (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) answer_free);
}

static void
limit_free (PolicyLimit *limit)
{
  g_free (limit->per);
  g_free (limit);
}

GPtrArray *
fixture_limits (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) limit_free);
}

void
fixture_limit (GPtrArray *limits, guint64 count, const char *per, gboolean all_agents)
{
  PolicyLimit *limit = g_new0 (PolicyLimit, 1);

  limit->count = count;
  limit->period = 86400;
  limit->per = g_strdup (per);
  limit->all_agents = all_agents;
  g_ptr_array_add (limits, limit);
}

gboolean
fixture_consume (Fixture *fixture, const char *request, const Record *record, GError **error)
{
  g_autoptr (GPtrArray) answers = fixture_answers ();
  g_autoptr (GPtrArray) limits = fixture_limits ();
  Consumption consumption = {
    .request = request,
    .record = record,
    .answers = answers,
    .limits = limits,
    .deadline = clock_boottime () + 60 * G_USEC_PER_SEC,
  };

  return ledger_consume (fixture->ledger, &consumption, error);
}

gboolean
fixture_close_request (Fixture *fixture, const char *request, const char *why, GError **error)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  Closing closing = {
    .request = request,
    .record = record_bytes (record),
    .why = why,
    .by = "hr.jones",
    .reason = "other",
  };

  return ledger_close_request (fixture->ledger, &closing, error);
}

LedgerState
fixture_state (Fixture *fixture, const char *request)
{
  g_autoptr (GError) error = NULL;
  g_auto (LedgerStatus) status = { 0 };

  g_assert_true (ledger_query (fixture->ledger, request, &status, &error));
  g_assert_no_error (error);
  return status.state;
}

void
fixture_assert_reason (GError **error, const char *reason)
{
  g_assert_nonnull (*error);
  if (!us_error_has_reason (*error, reason))
    g_error ("expected %s, got \"%s\"", reason, (*error)->message);
  g_clear_error (error);
}
