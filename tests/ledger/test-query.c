/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statements are kept and taken again.  However two of one text are used beside each other, each
 * has the rows of what was bound to it.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "tests/ledger/fixture.h"

/* Two rows: the value, and what follows it. */
#define TEXT "SELECT ?1 UNION ALL SELECT ?1 + 1"

static sqlite3_stmt *
make (Fixture *fixture, gint64 value)
{
  g_autoptr (GError) error = NULL;
  sqlite3_stmt *query = query_new (fixture->ledger, &error, TEXT, "i", value);

  g_assert_no_error (error);
  return query;
}

/* -1 for no row. */
static void
assert_next (Fixture *fixture, sqlite3_stmt *query, gint64 value)
{
  g_autoptr (GError) error = NULL;
  gboolean row = FALSE;

  g_assert_true (query_next (fixture->ledger, query, &row, &error));
  g_assert_no_error (error);
  g_assert_cmpint (row ? sqlite3_column_int64 (query, 0) : -1, ==, value);
}

static guint
count (Fixture *fixture)
{
  sqlite3_stmt *query = NULL;
  guint n = 0;

  while ((query = sqlite3_next_stmt (fixture->ledger->db, query)) != NULL)
    n++;
  return n;
}

/* The second is made before the first was stepped. */
static void
test_not_stepped (Fixture *fixture, gconstpointer data)
{
  g_autoptr (sqlite3_stmt) one = make (fixture, 10);
  g_autoptr (sqlite3_stmt) two = make (fixture, 20);

  assert_next (fixture, one, 10);
  assert_next (fixture, two, 20);
  assert_next (fixture, one, 11);
  assert_next (fixture, two, 21);
  assert_next (fixture, one, -1);
  assert_next (fixture, two, -1);
}

/* The first has been stepped to its end, and is ended while the second is under way. */
static void
test_ended_late (Fixture *fixture, gconstpointer data)
{
  sqlite3_stmt *one = make (fixture, 10);
  g_autoptr (sqlite3_stmt) two = NULL;

  assert_next (fixture, one, 10);
  assert_next (fixture, one, 11);
  assert_next (fixture, one, -1);
  two = make (fixture, 20);
  assert_next (fixture, two, 20);
  query_end (one);
  assert_next (fixture, two, 21);
  assert_next (fixture, two, -1);
}

/* One that is under way is left, and another is made: it begins at its beginning. */
static void
test_left (Fixture *fixture, gconstpointer data)
{
  for (gint64 i = 0; i < 3; i++)
    {
      g_autoptr (sqlite3_stmt) query = make (fixture, i);

      assert_next (fixture, query, i);
    }
}

/* Kept: they are prepared as often as they are used at a time, and not at all a second time. */
static void
test_kept (Fixture *fixture, gconstpointer data)
{
  const guint before = count (fixture);

  for (gint64 i = 0; i < 10; i++)
    {
      g_autoptr (sqlite3_stmt) one = make (fixture, i);
      g_autoptr (sqlite3_stmt) two = make (fixture, -i - 5);

      assert_next (fixture, two, -i - 5);
      assert_next (fixture, one, i);
    }
  g_assert_cmpuint (count (fixture), ==, before + 2);
}

/* Where one more is used than can be, it is an error and nothing of another. */
static void
test_too_many (Fixture *fixture, gconstpointer data)
{
  sqlite3_stmt *all[QUERY_MAX];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < QUERY_MAX; i++)
    all[i] = make (fixture, 100 * i);
  g_assert_null (query_new (fixture->ledger, &error, TEXT, "i", (gint64) 1));
  g_assert_true (us_error_has_reason (error, US_REASON_LEDGER));
  for (guint i = 0; i < QUERY_MAX; i++)
    {
      assert_next (fixture, all[i], 100 * i);
      query_end (all[i]);
    }
  query_end (make (fixture, 1));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_test ("/ledger/query/not-stepped", test_not_stepped);
  fixture_test ("/ledger/query/ended-late", test_ended_late);
  fixture_test ("/ledger/query/left", test_left);
  fixture_test ("/ledger/query/kept", test_kept);
  fixture_test ("/ledger/query/too-many", test_too_many);
  return g_test_run ();
}
