/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The floors: what every design of this would pay on this machine, and what people use instead.
 * Nothing of the service is in here.
 */
#include "tests/bench/bench.h"

#include "tests/passkey/fixture.h"

#include <fido.h>
#include <fido/es256.h>
#include <spawn.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DATABASE "/var/lib/undersign-bench/floor.db"
#define ROW 1024 /* bytes */

static void
sql (sqlite3 *db, const char *text)
{
  char *message = NULL;

  if (sqlite3_exec (db, text, NULL, NULL, &message) != SQLITE_OK)
    g_error ("%s: %s", text, message);
}

static sqlite3 *
database_open (void)
{
  static sqlite3 *db;

  if (db == NULL)
    {
      if (sqlite3_open (DATABASE, &db) != SQLITE_OK)
        g_error ("cannot open %s", DATABASE);
      sql (db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
               "CREATE TABLE IF NOT EXISTS row (id INTEGER PRIMARY KEY, body BLOB) STRICT;");
    }
  return db;
}

/* One durable commit of one row of 1 KiB. */
void
floor_commit (Series *series)
{
  sqlite3 *db = database_open ();
  sqlite3_stmt *insert = NULL;
  char body[ROW];

  memset (body, 'x', sizeof body);
  g_assert_cmpint (sqlite3_prepare_v2 (db, "INSERT INTO row (body) VALUES (?)", -1, &insert, NULL),
                   ==, SQLITE_OK);
  for (guint i = 0; i < series->n; i++)
    {
      double start;

      series_rest (series);
      start = series_clock ();
      sqlite3_bind_blob (insert, 1, body, sizeof body, SQLITE_STATIC);
      g_assert_cmpint (sqlite3_step (insert), ==, SQLITE_DONE);
      sqlite3_reset (insert);
      series_add (series, start);
    }
  sqlite3_finalize (insert);
}

static void
verify_once (GBytes *key, const Assertion *assertion)
{
  fido_assert_t *fido = fido_assert_new ();
  es256_pk_t *pk = es256_pk_new ();
  gsize len = 0;
  const void *data = g_bytes_get_data (key, &len);

  g_assert_cmpint (es256_pk_from_ptr (pk, data, len), ==, FIDO_OK);
  g_assert_cmpint (fido_assert_set_count (fido, 1), ==, FIDO_OK);
  g_assert_cmpint (fido_assert_set_rp (fido, TEST_RP), ==, FIDO_OK);
  data = g_bytes_get_data (assertion->client_data, &len);
  g_assert_cmpint (fido_assert_set_clientdata (fido, data, len), ==, FIDO_OK);
  data = g_bytes_get_data (assertion->auth_data, &len);
  g_assert_cmpint (fido_assert_set_authdata_raw (fido, 0, data, len), ==, FIDO_OK);
  data = g_bytes_get_data (assertion->signature, &len);
  g_assert_cmpint (fido_assert_set_sig (fido, 0, data, len), ==, FIDO_OK);
  g_assert_cmpint (fido_assert_verify (fido, 0, COSE_ES256, pk), ==, FIDO_OK);
  es256_pk_free (&pk);
  fido_assert_free (&fido);
}

/* fido_assert_verify() of ES256, with what it takes to call it. */
void
floor_verify (Series *series)
{
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);
  g_auto (Assertion) assertion = test_assertion (
      key, test_client_data ("webauthn.get", key->challenge, sizeof key->challenge, TEST_RP, ""),
      test_auth_data (TEST_RP, TEST_FLAGS, 1, NULL));

  fido_init (0);
  for (guint i = 0; i < series->n; i++)
    {
      double start;

      series_rest (series);
      start = series_clock ();
      verify_once (key->passkey->public_key, &assertion);
      series_add (series, start);
    }
}

static void
run (Series *series, const char *const *argv)
{
  for (guint i = 0; i < series->n; i++)
    {
      pid_t pid = -1;
      int status = -1;
      double start;

      series_rest (series);
      start = series_clock ();
      if (posix_spawn (&pid, argv[0], NULL, NULL, (char *const *) argv, environ) != 0)
        g_error ("cannot start %s", argv[0]);
      g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
      series_add (series, start);
      if (status != 0)
        g_error ("%s ended with %d", argv[0], status);
    }
}

void
floor_spawn (Series *series)
{
  static const char *const argv[] = { "/bin/true", NULL };

  run (series, argv);
}

void
floor_sudo (Series *series)
{
  static const char *const argv[] = { "/usr/bin/sudo", "-n", "/bin/true", NULL };

  run (series, argv);
}

void
floor_pkexec (Series *series)
{
  static const char *const argv[] = { "/usr/bin/pkexec", "/bin/true", NULL };

  run (series, argv);
}
