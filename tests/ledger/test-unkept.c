/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the ledger said that it could not keep is not there for who opens it after a crash: whoever was
 * told so was told the truth. */
#include "tests/broker/disk.h"
#include "tests/ledger/fixture.h"

#include "dbus/reason.h"

/* As one finds it that begins when all others were killed. */
static void
crash (Fixture *fixture)
{
  g_assert_true (disk_heal ());
  ledger_leave_log (fixture->ledger);
  fixture_reopen (fixture);
}

static void
test_passkey (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = fixture_passkey ("hr.jones", 1001, 0);
  g_autoptr (GError) error = NULL;

  disk_fail (DISK_UNSYNCED, 0, TRUE);
  g_assert_false (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
  crash (fixture);
  g_assert_false (ledger_revoke_passkey (fixture->ledger, passkey->credential, 0, &error));
  g_clear_error (&error);
  g_assert_true (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
}

/* What stood still stands still. */
static void
test_resume (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (ledger_halt (fixture->ledger, 0, "stop", &error));
  disk_fail (DISK_UNSYNCED, 0, TRUE);
  g_assert_false (ledger_resume (fixture->ledger, 0, "go", &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
  crash (fixture);
  g_assert_false (ledger_check_running (fixture->ledger, &error));
  fixture_assert_reason (&error, US_REASON_HALTED);
  g_assert_true (ledger_resume (fixture->ledger, 0, "go", &error));
  g_assert_true (ledger_check_running (fixture->ledger, &error));
}

/* A copy of an older ledger, accepted in words that the disk did not take. */
static void
test_accepted (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (GError) error = NULL;

  fixture_backup (fixture);
  g_assert_true (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  fixture_restore (fixture);
  g_assert_false (ledger_check_running (fixture->ledger, NULL));
  disk_fail (DISK_UNSYNCED, 0, TRUE);
  g_assert_false (ledger_resume (fixture->ledger, 0, "go", &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
  crash (fixture);
  g_assert_false (ledger_check_running (fixture->ledger, &error));
  g_clear_error (&error);
  g_assert_true (ledger_resume (fixture->ledger, 0, "go", &error));
}

static void
test_consumption (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (GError) error = NULL;

  disk_fail (DISK_UNSYNCED, 0, TRUE);
  g_assert_false (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
  fixture_assert_reason (&error, US_REASON_LEDGER);
  crash (fixture);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_NONE);
  g_assert_true (fixture_consume (fixture, FIXTURE_REQUEST, record, &error));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  disk_install ();
  fixture_test ("/ledger/unkept/passkey", test_passkey);
  fixture_test ("/ledger/unkept/resume", test_resume);
  fixture_test ("/ledger/unkept/accepted", test_accepted);
  fixture_test ("/ledger/unkept/consumption", test_consumption);
  return g_test_run ();
}
