/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening, seal key and mark: a ledger that is not the one this boot has seen runs nothing, a file
 * that is not exactly ours is not opened, and an error while writing keeps nothing.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/ledger/private.h"
#include "tests/ledger/fixture.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void
assert_stopped (Fixture *fixture, const char *reason)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");

  g_assert_false (ledger_check_running (fixture->ledger, &error));
  g_assert_true (g_error_matches (error, US_ERROR, US_ERROR_HALTED));
  g_assert_null (strstr (error->message, "incident")); /* agents hear of it, not why */
  fixture_assert_reason (&error, reason);
  g_assert_false (fixture_consume (fixture, FIXTURE_THIRD, record, &error));
  fixture_assert_reason (&error, reason);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_THIRD), ==, LEDGER_NONE);
}

static void
assert_running (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (ledger_check_running (fixture->ledger, &error));
  g_assert_no_error (error);
}

static void
seal_of (Fixture *fixture, guint8 out_seal[PAE_DIGEST_SIZE])
{
  g_autoptr (GError) error = NULL;
  guint8 digest[PAE_DIGEST_SIZE] = { 7 };

  g_assert_true (ledger_seal (fixture->ledger, FIXTURE_REQUEST, digest, 5, out_seal, &error));
  g_assert_no_error (error);
}

static void
consume (Fixture *fixture, const char *request)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *to = g_strconcat ("r", request, "@example.com", NULL);
  g_autoptr (Record) record = fixture_record_to (to);

  g_assert_true (fixture_consume (fixture, request, record, &error));
  g_assert_no_error (error);
  g_assert_true (ledger_finish (fixture->ledger, request, "done", "", &error));
  g_assert_no_error (error);
}

static void
test_private_files (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = { "runtime/mark", "runtime/seal.key", "state/ledger.db" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (fixture->root, names[i], NULL);
      struct stat st;

      g_assert_cmpint (g_lstat (path, &st), ==, 0);
      g_assert_cmpint (st.st_mode & 077, ==, 0);
    }
  assert_running (fixture);
}

static void
test_seal_survives_restart (Fixture *fixture, gconstpointer data)
{
  guint8 before[PAE_DIGEST_SIZE], after[PAE_DIGEST_SIZE];

  seal_of (fixture, before);
  fixture_reopen (fixture);
  seal_of (fixture, after);
  g_assert_true (digest_equal (before, after));
}

static void
test_seal_ends_with_boot (Fixture *fixture, gconstpointer data)
{
  g_autofree char *mark = fixture_runtime_path (fixture, "mark");
  g_autofree char *key = fixture_runtime_path (fixture, "seal.key");
  guint8 before[PAE_DIGEST_SIZE], after[PAE_DIGEST_SIZE];

  seal_of (fixture, before);
  g_unlink (mark);
  g_unlink (key);
  fixture_reopen (fixture);
  seal_of (fixture, after);
  g_assert_false (digest_equal (before, after));
  assert_running (fixture);
}

static void
test_seal_covers_all (Fixture *fixture, gconstpointer data)
{
  guint8 one[PAE_DIGEST_SIZE] = { 7 };
  guint8 two[PAE_DIGEST_SIZE] = { 8 };
  guint8 seal[PAE_DIGEST_SIZE], other[PAE_DIGEST_SIZE];

  seal_of (fixture, seal);
  g_assert_true (ledger_seal (fixture->ledger, FIXTURE_OTHER, one, 5, other, NULL));
  g_assert_false (digest_equal (seal, other));
  g_assert_true (ledger_seal (fixture->ledger, FIXTURE_REQUEST, two, 5, other, NULL));
  g_assert_false (digest_equal (seal, other));
  g_assert_true (ledger_seal (fixture->ledger, FIXTURE_REQUEST, one, 6, other, NULL));
  g_assert_false (digest_equal (seal, other));
}

static void
test_mark_missing (Fixture *fixture, gconstpointer data)
{
  g_autofree char *mark = fixture_runtime_path (fixture, "mark");

  g_unlink (mark);
  assert_stopped (fixture, US_REASON_MARK);
  fixture_reopen (fixture);
  assert_stopped (fixture, US_REASON_MARK);
  g_assert_false (g_file_test (mark, G_FILE_TEST_EXISTS));
}

static void
test_mark_unreadable (Fixture *fixture, gconstpointer data)
{
  static const char *const texts[] = { "", "undersign.mark/1\n",
                                       "undersign.mark/1 x 1 sha256:00\n" };
  g_autofree char *mark = fixture_runtime_path (fixture, "mark");
  g_autofree char *good = NULL;

  g_assert_true (g_file_get_contents (mark, &good, NULL, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_unlink (mark); /* GLib does not shorten to nothing */
      g_assert_true (
          g_file_set_contents_full (mark, texts[i], -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
      assert_stopped (fixture, US_REASON_MARK);
    }

  g_assert_true (g_file_set_contents_full (mark, good, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  assert_running (fixture);
  g_assert_cmpint (g_chmod (mark, 0644), ==, 0);
  assert_stopped (fixture, US_REASON_MARK);
  g_assert_cmpint (g_chmod (mark, 0600), ==, 0);
  assert_running (fixture);
}

static void
test_key_is_completed_once (Fixture *fixture, gconstpointer data)
{
  g_autofree char *key = fixture_runtime_path (fixture, "seal.key");

  g_unlink (key);
  assert_stopped (fixture, US_REASON_MARK);
  fixture_reopen (fixture);
  assert_running (fixture);
}

static void
test_restored_copy (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *key = fixture_runtime_path (fixture, "seal.key");

  fixture_backup (fixture);
  consume (fixture, FIXTURE_REQUEST);
  fixture_restore (fixture);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_NONE);
  assert_stopped (fixture, US_REASON_LEDGER_BEHIND);

  /* denials still work, and writing them never makes the ledger catch up with the mark */
  for (guint i = 0; i < 5; i++)
    {
      g_autofree char *id = g_strdup_printf ("%032u", 100 + i);

      g_assert_true (fixture_close_request (fixture, id, "denied", &error));
      g_assert_no_error (error);
      assert_stopped (fixture, US_REASON_LEDGER_BEHIND);
    }

  /* an interrupted first start does not excuse it */
  g_unlink (key);
  fixture_reopen (fixture);
  assert_stopped (fixture, US_REASON_LEDGER_BEHIND);
  g_assert_false (g_file_test (key, G_FILE_TEST_EXISTS));
}

static gboolean
passkey_is_there (Fixture *fixture, const Passkey *passkey)
{
  g_autoptr (Passkey) found = ledger_passkey (fixture->ledger, passkey->credential, NULL);

  return found != NULL;
}

/* What is refused because of the mark has had no effect, not even one that comes true later. */
static void
test_behind_takes_no_word (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Passkey) passkey = fixture_passkey ("alice", 1000, 0);

  g_assert_true (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  g_assert_no_error (error);
  fixture_backup (fixture);
  consume (fixture, FIXTURE_OTHER);
  fixture_restore (fixture);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_UNKNOWN);

  g_assert_false (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER_BEHIND);
  g_assert_false (passkey_is_there (fixture, passkey));
  g_assert_false (ledger_resolve (fixture->ledger, FIXTURE_REQUEST, "done", "", 0, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER_BEHIND);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_UNKNOWN);

  g_assert_true (ledger_resume (fixture->ledger, 0, "restored on purpose", &error));
  g_assert_no_error (error);
  g_assert_true (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  g_assert_no_error (error);
  g_assert_true (ledger_resolve (fixture->ledger, FIXTURE_REQUEST, "done", "", 0, &error));
  g_assert_no_error (error);
}

/* Only a module's call needs the mark: what is on the disk without one is said to be. */
static void
test_mark_unwritable (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Record) other = fixture_record_to ("b@example.com");
  g_autoptr (Passkey) passkey = fixture_passkey ("alice", 1000, 0);
  g_autoptr (Answer) answer = fixture_answer (passkey, FIXTURE_OTHER, other, 0);
  g_autofree char *obstacle = fixture_runtime_path (fixture, "mark.new");

  g_assert_true (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  g_assert_no_error (error);
  fixture_reopen (fixture); /* lets go of the request's lock */
  g_assert_true (ledger_halt (fixture->ledger, 0, "an incident", &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_mkdir (obstacle, 0700), ==, 0);

  g_assert_true (ledger_resume (fixture->ledger, 0, "over", &error));
  g_assert_no_error (error);
  assert_running (fixture);
  g_assert_true (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  g_assert_no_error (error);
  g_assert_true (ledger_add_answer (fixture->ledger, answer, &error));
  g_assert_no_error (error);
  g_assert_true (ledger_resolve (fixture->ledger, FIXTURE_REQUEST, "done", "", 0, &error));
  g_assert_no_error (error);
}

/* A person's halt ends only together with the new key that resuming needs. */
static void
test_resume_is_whole (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *mark = fixture_runtime_path (fixture, "mark");
  g_autofree char *obstacle = fixture_runtime_path (fixture, "seal.key.new");

  g_assert_true (ledger_halt (fixture->ledger, 0, "an incident", &error));
  g_assert_no_error (error);
  g_unlink (mark);
  g_assert_cmpint (g_mkdir (obstacle, 0700), ==, 0);
  g_assert_false (ledger_resume (fixture->ledger, 0, "over", &error));
  fixture_assert_reason (&error, US_REASON_MARK);
  assert_stopped (fixture, US_REASON_HALTED);

  g_assert_cmpint (g_rmdir (obstacle), ==, 0);
  g_assert_true (ledger_resume (fixture->ledger, 0, "over", &error));
  g_assert_no_error (error);
  assert_running (fixture);
}

static void
test_other_ledger (Fixture *fixture, gconstpointer data)
{
  g_autofree char *file = fixture_state_path (fixture, "ledger.db");

  fixture_close (fixture);
  g_unlink (file);
  fixture_reopen (fixture);
  assert_stopped (fixture, US_REASON_LEDGER_BEHIND);
}

static void
test_replaced_while_open (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autofree char *file = fixture_state_path (fixture, "ledger.db");
  g_autofree char *aside = fixture_state_path (fixture, "aside");

  g_assert_cmpint (g_rename (file, aside), ==, 0);
  g_assert_false (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
}

static void
test_resume_voids_seals (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  guint8 before[PAE_DIGEST_SIZE], after[PAE_DIGEST_SIZE];

  g_assert_false (ledger_resume (fixture->ledger, 0, "nothing is wrong", &error));
  fixture_assert_reason (&error, US_REASON_WRONG_STATE);

  fixture_backup (fixture);
  seal_of (fixture, before);
  consume (fixture, FIXTURE_REQUEST);
  fixture_restore (fixture);
  assert_stopped (fixture, US_REASON_LEDGER_BEHIND);
  g_assert_true (ledger_resume (fixture->ledger, 0, "restored on purpose", &error));
  g_assert_no_error (error);
  assert_running (fixture);
  seal_of (fixture, after);
  g_assert_false (digest_equal (before, after));
}

static void
test_old_key_in_memory (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autofree char *key = fixture_runtime_path (fixture, "seal.key");
  guint8 seal[PAE_DIGEST_SIZE];

  seal_of (fixture, seal);
  g_assert_true (g_file_set_contents_full (key, "0123456789abcdef0123456789abcdef", 32,
                                           G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  g_assert_false (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  fixture_assert_reason (&error, US_REASON_BAD_SEAL);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_NONE);
}

static void
test_halt_outlives_boot (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *mark = fixture_runtime_path (fixture, "mark");
  g_autofree char *key = fixture_runtime_path (fixture, "seal.key");
  g_auto (LedgerSummary) summary = { 0 };

  g_assert_true (ledger_halt (fixture->ledger, 0, "an incident", &error));
  g_assert_no_error (error);
  assert_stopped (fixture, US_REASON_HALTED);
  g_unlink (mark);
  g_unlink (key);
  fixture_reopen (fixture);
  assert_stopped (fixture, US_REASON_HALTED);
  g_assert_true (ledger_summary (fixture->ledger, &summary, &error));
  g_assert_cmpstr (summary.stopped, ==, "halted: an incident");

  g_assert_true (ledger_resume (fixture->ledger, 0, "over", &error));
  g_assert_no_error (error);
  assert_running (fixture);
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
}

static void
test_foreign_schema (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *harm, *repair;
  } cases[] = {
    { "PRAGMA application_id = 1", "PRAGMA application_id = 1433626417" },
    { "PRAGMA user_version = 2", "PRAGMA user_version = 3" },
    { "PRAGMA user_version = 4", "PRAGMA user_version = 3" },
    { "CREATE TABLE more (a)", "DROP TABLE more" },
    { "CREATE VIEW more AS SELECT 1", "DROP VIEW more" },
    { "CREATE INDEX more ON audit (hash)", "DROP INDEX more" },
    { "CREATE TRIGGER more AFTER INSERT ON request BEGIN DELETE FROM request; END",
      "DROP TRIGGER more" },
    { "ALTER TABLE usage RENAME TO z", NULL },
    { "UPDATE meta SET ledger = 'x'", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      tamper (fixture, cases[i].harm);
      g_assert_null (ledger_open (fixture->state, fixture->runtime, &error));
      fixture_assert_reason (&error, US_REASON_LEDGER);
      if (cases[i].repair != NULL)
        {
          tamper (fixture, cases[i].repair);
          fixture_reopen (fixture);
        }
    }
}

static void
test_foreign_file (Fixture *fixture, gconstpointer data)
{
  g_autofree char *file = fixture_state_path (fixture, "ledger.db");
  g_autofree char *aside = fixture_state_path (fixture, "aside");
  g_autoptr (GError) error = NULL;

  fixture_close (fixture);
  g_assert_cmpint (g_chmod (file, 0640), ==, 0);
  g_assert_null (ledger_open (fixture->state, fixture->runtime, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
  g_assert_cmpint (g_chmod (file, 0600), ==, 0);

  g_assert_cmpint (g_rename (file, aside), ==, 0);
  g_assert_cmpint (symlink (aside, file), ==, 0);
  g_assert_null (ledger_open (fixture->state, fixture->runtime, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);

  g_unlink (file);
  g_assert_true (g_file_set_contents_full (file, "not a database, but long enough", -1,
                                           G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  g_assert_null (ledger_open (fixture->state, fixture->runtime, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
}

static void
test_no_directory (Fixture *fixture, gconstpointer data)
{
  g_autofree char *absent = g_build_filename (fixture->root, "absent", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (ledger_open (absent, fixture->runtime, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
  g_assert_null (ledger_open (fixture->state, absent, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
}

/* A file system that is full: nothing is kept of what was begun, and afterwards all works again. */
static void
test_no_space (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Passkey) passkey = fixture_passkey ("hr.jones", 1001, 0);
  struct rlimit before;
  struct rlimit none = { 0 };

  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  none.rlim_max = before.rlim_max;
  g_log_set_always_fatal (G_LOG_FATAL_MASK); /* a warning says what could not be taken back */
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &none), ==, 0);

  g_assert_false (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
  g_assert_false (fixture_close_request (fixture, FIXTURE_OTHER, "denied", &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
  g_assert_false (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
  g_assert_false (ledger_halt (fixture->ledger, 0, "x", &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);

  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_NONE);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_OTHER), ==, LEDGER_NONE);
  consume (fixture, FIXTURE_REQUEST);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_DONE);
}

/* What is committed is on the disk: a WAL that is not synced loses it with the power. */
static void
test_every_commit_is_synced (Fixture *fixture, gconstpointer data)
{
  static const char *const pragmas[][2] = { { "PRAGMA synchronous", "2" },
                                            { "PRAGMA journal_mode", "wal" } };

  for (guint i = 0; i < G_N_ELEMENTS (pragmas); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (sqlite3_stmt) query = query_new (fixture->ledger, &error, pragmas[i][0], "");
      g_autofree char *value = NULL;
      gboolean row = FALSE;

      g_assert_no_error (error);
      g_assert_true (query_next (fixture->ledger, query, &row, &error));
      g_assert_true (row);
      value = query_text (query, 0);
      g_assert_cmpstr (value, ==, pragmas[i][1]);
    }
}

/* --- the log --- */

#define WHY_BYTES 40000 /* some twenty pages a commit */

static void
commit_much (Fixture *fixture, guint commits)
{
  g_autofree char *why = g_strnfill (WHY_BYTES, 'y');
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < commits; i++)
    {
      g_assert_true (ledger_halt (fixture->ledger, 0, why, &error));
      g_assert_no_error (error);
    }
}

static GBytes *
content_of (Fixture *fixture, const char *name)
{
  g_autofree char *path = fixture_state_path (fixture, name);
  char *data = NULL;
  gsize len = 0;

  g_assert_true (g_file_get_contents (path, &data, &len, NULL));
  return g_bytes_new_take (data, len);
}

static void
assert_halted (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;

  fixture_reopen (fixture);
  g_assert_false (ledger_check_running (fixture->ledger, &error));
  fixture_assert_reason (&error, US_REASON_HALTED);
}

/* It is the log alone that the next one finds it in. */
static void
test_log_left (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) before = NULL;
  g_autoptr (GBytes) after = NULL;
  g_autoptr (GBytes) log = NULL;

  fixture_reopen (fixture);
  before = content_of (fixture, "ledger.db");
  commit_much (fixture, 1);
  ledger_leave_log (fixture->ledger);
  fixture_close (fixture);
  after = content_of (fixture, "ledger.db");
  log = content_of (fixture, "ledger.db-wal");
  g_assert_true (g_bytes_equal (before, after));
  g_assert_cmpuint (g_bytes_get_size (log), >, WHY_BYTES);
  assert_halted (fixture);
}

/* No commit writes it back, however long it is; a close does, where it is long. */
static void
test_log_long (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) before = NULL;
  g_autoptr (GBytes) between = NULL;
  g_autoptr (GBytes) after = NULL;

  fixture_reopen (fixture);
  before = content_of (fixture, "ledger.db");
  ledger_leave_log (fixture->ledger);
  commit_much (fixture, 60);
  between = content_of (fixture, "ledger.db");
  fixture_close (fixture);
  after = content_of (fixture, "ledger.db");
  g_assert_true (g_bytes_equal (before, between));
  g_assert_cmpuint (g_bytes_get_size (after), >, 60 * WHY_BYTES);
  assert_halted (fixture);
}

/* Else the last to close leaves one whole file. */
static void
test_log_written_back (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) log = NULL;

  commit_much (fixture, 1);
  fixture_close (fixture);
  log = content_of (fixture, "ledger.db-wal");
  g_assert_cmpuint (g_bytes_get_size (log), ==, 0);
  assert_halted (fixture);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_test ("/ledger/private-files", test_private_files);
  fixture_test ("/ledger/seal/survives-restart", test_seal_survives_restart);
  fixture_test ("/ledger/seal/ends-with-boot", test_seal_ends_with_boot);
  fixture_test ("/ledger/seal/covers-all", test_seal_covers_all);
  fixture_test ("/ledger/seal/old-key-in-memory", test_old_key_in_memory);
  fixture_test ("/ledger/mark/missing", test_mark_missing);
  fixture_test ("/ledger/mark/unreadable", test_mark_unreadable);
  fixture_test ("/ledger/mark/key-is-completed-once", test_key_is_completed_once);
  fixture_test ("/ledger/mark/restored-copy", test_restored_copy);
  fixture_test ("/ledger/mark/behind-takes-no-word", test_behind_takes_no_word);
  fixture_test ("/ledger/mark/unwritable", test_mark_unwritable);
  fixture_test ("/ledger/mark/resume-is-whole", test_resume_is_whole);
  fixture_test ("/ledger/mark/other-ledger", test_other_ledger);
  fixture_test ("/ledger/mark/resume-voids-seals", test_resume_voids_seals);
  fixture_test ("/ledger/halt-outlives-boot", test_halt_outlives_boot);
  fixture_test ("/ledger/open/replaced-while-open", test_replaced_while_open);
  fixture_test ("/ledger/open/foreign-schema", test_foreign_schema);
  fixture_test ("/ledger/open/foreign-file", test_foreign_file);
  fixture_test ("/ledger/open/no-directory", test_no_directory);
  fixture_test ("/ledger/no-space", test_no_space);
  fixture_test ("/ledger/every-commit-is-synced", test_every_commit_is_synced);
  fixture_test ("/ledger/log/left", test_log_left);
  fixture_test ("/ledger/log/long", test_log_long);
  fixture_test ("/ledger/log/written-back", test_log_written_back);
  return g_test_run ();
}
