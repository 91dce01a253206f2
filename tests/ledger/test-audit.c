/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The audit chain: every change leaves its entry, and a flipped, lost or added one is found. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/signer.h"
#include "tests/ledger/fixture.h"

#include <sqlite3.h>
#include <string.h>

static void
fill (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Passkey) passkey = fixture_passkey ("it.lead", 1002, 0);
  g_autoptr (Answer) answer = fixture_answer (passkey, FIXTURE_REQUEST, record, 0);
  guint8 image[PAE_DIGEST_SIZE] = { 1 };

  g_assert_true (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  g_assert_true (ledger_add_answer (fixture->ledger, answer, &error));
  g_assert_true (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  g_assert_true (ledger_finish (fixture->ledger, FIXTURE_REQUEST, "unknown", "", &error));
  g_assert_true (ledger_resolve (fixture->ledger, FIXTURE_REQUEST, "done", "", 0, &error));
  g_assert_true (fixture_close_request (fixture, FIXTURE_OTHER, "expired", &error));
  g_assert_true (ledger_halt (fixture->ledger, 0, "x", &error));
  g_assert_true (ledger_resume (fixture->ledger, 0, "x", &error));
  g_assert_true (ledger_revoke_passkey (fixture->ledger, passkey->credential, 0, &error));
  g_assert_true (ledger_note_policy (fixture->ledger, image, TRUE, &error));
  g_assert_true (ledger_note_policy (fixture->ledger, image, TRUE, &error)); /* once */
  g_assert_no_error (error);
}

static const char *const expected[] = {
  "executor created", "admin enrolled", "signed approved", "executor consumed",
  "executor unknown", "admin resolved", "broker expired",  "admin halted",
  "admin resumed",    "admin revoked",  "executor policy",
};

static void
test_every_change (Fixture *fixture, gconstpointer data)
{
  static const JsonLimits limits = { 65536, 4, 4096, 64 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (GPtrArray) some = NULL;
  guint8 head[PAE_DIGEST_SIZE];
  guint64 count = 0;

  fill (fixture);
  entries = ledger_audit (fixture->ledger, 0, 100, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (entries->len, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < entries->len; i++)
    {
      const AuditEntry *entry = g_ptr_array_index (entries, i);
      g_autoptr (JsonTree) tree = json_tree_parse (
          g_bytes_get_data (entry->entry, NULL), g_bytes_get_size (entry->entry), &limits, &error);
      g_autofree char *said = NULL;

      g_assert_no_error (error);
      said = g_strconcat (json_tree_get_string (tree, "source"), " ",
                          json_tree_get_string (tree, "event"), NULL);
      g_assert_cmpstr (said, ==, expected[i]);
      g_assert_cmpuint (entry->seq, ==, i + 1);
    }

  g_assert_true (ledger_audit_verify (fixture->ledger, &count, head, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (count, ==, G_N_ELEMENTS (expected));

  some = ledger_audit (fixture->ledger, 3, 2, &error);
  g_assert_cmpuint (some->len, ==, 2);
  g_assert_cmpuint (((AuditEntry *) some->pdata[0])->seq, ==, 3);
}

static void
tamper (Fixture *fixture, const char *sql)
{
  g_autofree char *file = fixture_state_path (fixture, "ledger.db");
  sqlite3 *db = NULL;

  fixture_close (fixture);
  g_assert_cmpint (sqlite3_open (file, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
  fixture_reopen (fixture);
}

static void
test_tampered (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *sql, *text;
  } cases[] = {
    /* one letter of one entry */
    { "UPDATE audit SET entry = CAST (replace (CAST (entry AS TEXT), 'it.lead', 'it.leaf') AS "
      "BLOB) WHERE seq = 2",
      "entry 2 is not what" },
    { "UPDATE audit SET hash = zeroblob (32) WHERE seq = 5", "entry 5 is not what" },
    { "DELETE FROM audit WHERE seq = 4", "where entry 4 belongs stands entry 5" },
    { "DELETE FROM audit WHERE seq = 1", "begins with entry 2" },
    { "UPDATE audit SET entry = (SELECT entry FROM audit WHERE seq = 7), hash = (SELECT hash FROM "
      "audit WHERE seq = 7) WHERE seq = 6",
      "where entry 6 belongs stands entry 7" },
  };

  fill (fixture);
  fixture_backup (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      guint8 head[PAE_DIGEST_SIZE];
      guint64 count = 0;

      tamper (fixture, cases[i].sql);
      g_assert_false (ledger_audit_verify (fixture->ledger, &count, head, &error));
      g_assert_nonnull (strstr (error->message, cases[i].text));
      fixture_assert_reason (&error, US_REASON_CHAIN);
      fixture_restore (fixture);
      g_assert_true (ledger_audit_verify (fixture->ledger, &count, head, &error));
      g_assert_no_error (error);
    }
}

/* Whoever verifies a receipt finds a person's key here, and not in the receipt alone. */
static void
test_enrolled_key (Fixture *fixture, gconstpointer data)
{
  static const JsonLimits limits = { 65536, 4, 4096, 64 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (Passkey) passkey = fixture_passkey ("it.lead", 1002, 0);
  const Signer signer = { SIGNER_ES256, passkey->public_key };
  g_autofree char *id = signer_id_text (&signer);
  const AuditEntry *entry = NULL;
  g_autoptr (JsonTree) tree = NULL;

  fill (fixture);
  entries = ledger_audit (fixture->ledger, 2, 1, &error);
  g_assert_no_error (error);
  entry = g_ptr_array_index (entries, 0);
  tree = json_tree_parse (g_bytes_get_data (entry->entry, NULL), g_bytes_get_size (entry->entry),
                          &limits, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (json_tree_get_string (json_tree_member (tree, "details"), "key"), ==, id);
}

/* An entry that was rewritten together with its own hash: the one after it tells. */
static void
test_rewritten (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (GBytes) forged = NULL;
  g_autofree char *file = fixture_state_path (fixture, "ledger.db");
  const AuditEntry *entry = NULL;
  sqlite3_stmt *query = NULL;
  sqlite3 *db = NULL;
  char *text = NULL;
  char *name = NULL;
  guint8 hash[PAE_DIGEST_SIZE];
  guint64 count = 0;
  gsize len = 0;

  fill (fixture);
  entries = ledger_audit (fixture->ledger, 2, 1, &error);
  g_assert_no_error (error);
  entry = g_ptr_array_index (entries, 0);
  len = g_bytes_get_size (entry->entry);
  text = g_strndup (g_bytes_get_data (entry->entry, NULL), len);
  name = strstr (text, "it.lead");
  g_assert_nonnull (name);
  memcpy (name, "it.leaf", strlen ("it.leaf"));
  forged = g_bytes_new_take (text, len);
  pae_sha256 (PAE_TYPE_AUDIT, forged, hash);

  fixture_close (fixture);
  g_assert_cmpint (sqlite3_open (file, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db, "UPDATE audit SET entry = ?, hash = ? WHERE seq = 2", -1,
                                       &query, NULL),
                   ==, SQLITE_OK);
  sqlite3_bind_blob (query, 1, text, (int) len, SQLITE_STATIC);
  sqlite3_bind_blob (query, 2, hash, sizeof hash, SQLITE_STATIC);
  g_assert_cmpint (sqlite3_step (query), ==, SQLITE_DONE);
  sqlite3_finalize (query);
  g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
  fixture_reopen (fixture);

  g_assert_false (ledger_audit_verify (fixture->ledger, &count, hash, &error));
  g_assert_nonnull (strstr (error->message, "entry 3 "));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_test ("/ledger/audit/every-change", test_every_change);
  fixture_test ("/ledger/audit/enrolled-key", test_enrolled_key);
  fixture_test ("/ledger/audit/tampered", test_tampered);
  fixture_test ("/ledger/audit/rewritten", test_rewritten);
  return g_test_run ();
}
