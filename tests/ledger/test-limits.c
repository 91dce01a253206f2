/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits: what they count, and that no spelling, outcome or clock makes them forget. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/ledger/private.h"
#include "tests/ledger/fixture.h"

#include <sqlite3.h>

static gboolean
consume (Fixture *fixture, guint n, const Record *record, GPtrArray *limits, GError **error)
{
  g_autofree char *id = g_strdup_printf ("%032u", n);
  g_autoptr (GPtrArray) answers = fixture_answers ();
  Consumption consumption = {
    .request = id,
    .record = record,
    .answers = answers,
    .limits = limits,
    .deadline = clock_boottime () + 60 * G_USEC_PER_SEC,
  };

  return ledger_consume (fixture->ledger, &consumption, error) &&
         ledger_finish (fixture->ledger, id, n % 2 == 0 ? "done" : "failed", "", error);
}

static void
consume_good (Fixture *fixture, guint n, const Record *record, GPtrArray *limits)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (consume (fixture, n, record, limits, &error));
  g_assert_no_error (error);
}

static void
assert_limited (Fixture *fixture, const Record *record, GPtrArray *limits)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (ledger_check_limits (fixture->ledger, record, limits, &error));
  g_assert_true (g_error_matches (error, US_ERROR, US_ERROR_LIMIT_EXCEEDED));
  fixture_assert_reason (&error, US_REASON_LIMIT);
  g_assert_false (consume (fixture, 999, record, limits, &error));
  fixture_assert_reason (&error, US_REASON_LIMIT);
}

static void
assert_free (Fixture *fixture, const Record *record, GPtrArray *limits)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (ledger_check_limits (fixture->ledger, record, limits, &error));
  g_assert_no_error (error);
}

static void
test_by_agent_and_action (Fixture *fixture, gconstpointer data)
{
  const char *to[] = { "a@example.com", NULL };
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Record) other_agent = fixture_record (FIXTURE_AGENT + 1, "mail.send", to);
  g_autoptr (Record) other_action = fixture_record (FIXTURE_AGENT, "mail.draft", to);
  g_autoptr (GPtrArray) limits = fixture_limits ();
  g_autoptr (GPtrArray) all = fixture_limits ();

  fixture_limit (limits, 2, NULL, FALSE);
  fixture_limit (all, 3, NULL, TRUE);
  consume_good (fixture, 1, record, limits); /* a failed one counts, too */
  consume_good (fixture, 2, record, limits);
  assert_limited (fixture, record, limits);
  assert_free (fixture, other_agent, limits);
  assert_free (fixture, other_action, limits);

  consume_good (fixture, 3, other_agent, all);
  assert_limited (fixture, record, all);
  assert_limited (fixture, other_agent, all);
  assert_free (fixture, other_action, all);
}

static void
test_every_limit_applies (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (GPtrArray) limits = fixture_limits ();

  fixture_limit (limits, 5, NULL, FALSE);
  fixture_limit (limits, 1, NULL, FALSE);
  consume_good (fixture, 1, record, limits);
  assert_limited (fixture, record, limits);
}

static void
test_none_is_none (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (GPtrArray) limits = fixture_limits ();

  fixture_limit (limits, 0, NULL, FALSE);
  assert_limited (fixture, record, limits);
}

static void
test_per_item (Fixture *fixture, gconstpointer data)
{
  const char *both[] = { "b@example.com", "a@example.com", NULL };
  const char *none[] = { NULL };
  g_autoptr (Record) a = fixture_record_to ("a@example.com");
  g_autoptr (Record) b = fixture_record_to ("b@example.com");
  g_autoptr (Record) a_and_b = fixture_record (FIXTURE_AGENT, "mail.send", both);
  g_autoptr (Record) nobody = fixture_record (FIXTURE_AGENT, "mail.send", none);
  g_autoptr (GPtrArray) limits = fixture_limits ();
  g_autoptr (GPtrArray) unknown = fixture_limits ();

  fixture_limit (limits, 1, "to", FALSE);
  consume_good (fixture, 2, a, limits);
  assert_limited (fixture, a, limits);
  assert_limited (fixture, a_and_b, limits); /* more recipients do not start a new count */
  assert_free (fixture, b, limits);
  consume_good (fixture, 4, nobody, limits);
  assert_limited (fixture, nobody, limits);

  fixture_limit (unknown, 1, "absent", FALSE);
  assert_limited (fixture, b, unknown);
}

/* One mailbox has many spellings; what is no address has one. */
static void
test_per_address (Fixture *fixture, gconstpointer data)
{
  const char *both[] = { "other@example.com", "BoSS@example.com", NULL };
  g_autoptr (Record) upper = fixture_record_to ("Boss@example.com");
  g_autoptr (Record) lower = fixture_record_to ("boss@example.com");
  g_autoptr (Record) list = fixture_record (FIXTURE_AGENT, "mail.send", both);
  g_autoptr (Record) line = fixture_record_of_line ("Boss");
  g_autoptr (Record) other_line = fixture_record_of_line ("boss");
  g_autoptr (GPtrArray) limits = fixture_limits ();

  fixture_limit (limits, 1, "to", FALSE);
  consume_good (fixture, 1, upper, limits);
  assert_limited (fixture, upper, limits);
  assert_limited (fixture, lower, limits);
  assert_limited (fixture, list, limits);
  consume_good (fixture, 2, line, limits);
  assert_limited (fixture, line, limits);
  assert_free (fixture, other_line, limits);
}

static void
shift_time (Fixture *fixture, const char *sql)
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
test_time (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (GPtrArray) limits = fixture_limits ();

  fixture_limit (limits, 1, NULL, FALSE);
  consume_good (fixture, 2, record, limits);
  shift_time (fixture, "UPDATE request SET created = created - 86000");
  assert_limited (fixture, record, limits);
  shift_time (fixture, "UPDATE request SET created = created - 1000");
  assert_free (fixture, record, limits);
  /* the clock was set back by a year: what was done then still counts */
  shift_time (fixture, "UPDATE request SET created = created + 31536000");
  assert_limited (fixture, record, limits);
}

/* What was consumed in a busy day is counted without looking at each row. */
static void
test_counts_by_index (Fixture *fixture, gconstpointer data)
{
  g_autofree char *sql = g_strconcat ("EXPLAIN QUERY PLAN ", sql_limit, NULL);
  sqlite3_stmt *query = NULL;

  g_assert_cmpint (sqlite3_prepare_v2 (fixture->ledger->db, sql, -1, &query, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_step (query), ==, SQLITE_ROW);
  g_assert_nonnull (strstr ((const char *) sqlite3_column_text (query, 3),
                            "USING COVERING INDEX request_action"));
  sqlite3_finalize (query);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_test ("/ledger/limits/by-agent-and-action", test_by_agent_and_action);
  fixture_test ("/ledger/limits/every-limit-applies", test_every_limit_applies);
  fixture_test ("/ledger/limits/none-is-none", test_none_is_none);
  fixture_test ("/ledger/limits/per-item", test_per_item);
  fixture_test ("/ledger/limits/per-address", test_per_address);
  fixture_test ("/ledger/limits/time", test_time);
  fixture_test ("/ledger/limits/counts-by-index", test_counts_by_index);
  return g_test_run ();
}
