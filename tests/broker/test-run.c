/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs: whose they are, how long they last, and who opened them. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/broker/run.h"

#include <string.h>

#define DAY (24 * 60 * 60)

typedef struct
{
  guint saved, dropped;
  gboolean fails;
} Kept;

static gboolean
save (const Run *run, gpointer data, GError **error)
{
  Kept *kept = data;

  if (kept->fails)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "no space");
  kept->saved++;
  return TRUE;
}

static gboolean
drop (const char *id, gpointer data, GError **error)
{
  Kept *kept = data;

  if (kept->fails)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "no space");
  kept->dropped++;
  return TRUE;
}

static Kept kept;
static const RunHooks hooks = { save, drop, &kept };

static char *
open_as (Runs *runs, uid_t uid, const char *label, const char *part, const char *who, gint64 now)
{
  g_autoptr (GError) error = NULL;
  const char *id = runs_open (runs, uid, label, part, who, who != NULL ? 3001 : 0, now, &error);

  g_assert_no_error (error);
  g_assert_true (id_is_valid (id));
  return g_strdup (id);
}

static void
test_same (void)
{
  Runs *runs = runs_new (&hooks);
  g_autofree char *first = open_as (runs, 2001, "a", "main", NULL, 1000);
  g_autofree char *same = open_as (runs, 2001, "a", "main", NULL, 1000 + DAY);
  g_autofree char *label = open_as (runs, 2001, "b", "main", NULL, 1000);
  g_autofree char *part = open_as (runs, 2001, "a", "licences", NULL, 1000);
  g_autofree char *agent = open_as (runs, 2002, "a", "main", NULL, 1000);

  g_assert_cmpstr (first, ==, same);
  g_assert_cmpstr (first, !=, label);
  g_assert_cmpstr (first, !=, part);
  g_assert_cmpstr (first, !=, agent);
  runs_free (runs);
}

/* A run of another uid is not found, whatever its id. */
static void
test_foreign (void)
{
  Runs *runs = runs_new (&hooks);
  g_autofree char *id = open_as (runs, 2001, "a", "main", NULL, 1000);
  g_autoptr (GError) error = NULL;

  g_assert_null (runs_use (runs, 2002, id, 1000, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
  g_clear_error (&error);
  g_assert_false (runs_close (runs, 2002, id, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
  g_clear_error (&error);
  g_assert_null (runs_use (runs, 2001, "00000000000000000000000000000000", 1000, &error));
  g_assert_error (error, US_ERROR, US_ERROR_NOT_FOUND);
  g_assert_nonnull (runs_use (runs, 2001, id, 1000, NULL));
  runs_free (runs);
}

static void
test_idle (void)
{
  Runs *runs = runs_new (&hooks);
  g_autofree char *id = open_as (runs, 2001, "a", "main", NULL, 1000);
  g_autofree char *later = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_nonnull (runs_use (runs, 2001, id, 1000 + DAY, NULL));
  g_assert_nonnull (runs_use (runs, 2001, id, 1000 + 2 * DAY, NULL));
  g_assert_null (runs_use (runs, 2001, id, 1001 + 3 * DAY, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
  later = open_as (runs, 2001, "a", "main", NULL, 1001 + 3 * DAY);
  g_assert_cmpstr (later, !=, id);

  kept.dropped = 0;
  runs_expire (runs, 1001 + 3 * DAY);
  g_assert_cmpuint (kept.dropped, ==, 1);
  g_assert_nonnull (runs_use (runs, 2001, later, 1001 + 3 * DAY, NULL));
  runs_free (runs);
}

/* The kept time of use is never more than a quarter of an hour behind. */
static void
test_use_is_kept (void)
{
  Runs *runs = runs_new (&hooks);
  g_autofree char *id = open_as (runs, 2001, "a", "main", NULL, 0);

  kept.saved = 0;
  for (gint64 now = 0; now <= 60 * 60; now += 60)
    g_assert_nonnull (runs_use (runs, 2001, id, now, NULL));
  g_assert_cmpuint (kept.saved, ==, 3);
  runs_free (runs);
}

static void
test_close (void)
{
  Runs *runs = runs_new (&hooks);
  g_autofree char *id = open_as (runs, 2001, "a", "main", NULL, 1000);
  g_autofree char *next = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (runs_close (runs, 2001, id, &error));
  g_assert_no_error (error);
  g_assert_null (runs_use (runs, 2001, id, 1000, NULL));
  next = open_as (runs, 2001, "a", "main", NULL, 1000);
  g_assert_cmpstr (next, !=, id);
  runs_free (runs);
}

static void
test_initiator (void)
{
  Runs *runs = runs_new (&hooks);
  g_autofree char *own = open_as (runs, 2001, "a", "main", NULL, 1000);
  g_autofree char *started = open_as (runs, 2001, "a", "main", "hr.jones", 1000);
  g_autofree char *joined = NULL;
  g_autofree char *again = NULL;
  g_autoptr (GError) error = NULL;
  const Run *run = NULL;

  /* The agent's own run gave way; from then on both have the initiator's. */
  g_assert_cmpstr (own, !=, started);
  g_assert_null (runs_use (runs, 2001, own, 1000, NULL));
  joined = open_as (runs, 2001, "a", "main", NULL, 1000);
  again = open_as (runs, 2001, "a", "main", "hr.jones", 1000);
  g_assert_cmpstr (joined, ==, started);
  g_assert_cmpstr (again, ==, started);
  run = runs_use (runs, 2001, started, 1000, NULL);
  g_assert_cmpstr (run->initiator, ==, "hr.jones");
  g_assert_cmpuint (run->initiator_uid, ==, 3001);

  g_assert_null (runs_open (runs, 2001, "a", "main", "hr.kim", 3002, 1000, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_WRONG_STATE));
  /* The same name with another uid is another person. */
  g_clear_error (&error);
  g_assert_null (runs_open (runs, 2001, "a", "main", "hr.jones", 3002, 1000, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_WRONG_STATE));
  runs_free (runs);
}

static void
test_labels (void)
{
  static const struct
  {
    const char *label, *reason;
  } bad[] = {
    { "", US_REASON_BAD_VALUE },
    { "a\nb", US_REASON_BAD_VALUE },
    { "a\x1b[2K", US_REASON_BAD_VALUE },
    { "a\xe2\x80\xae", US_REASON_BAD_VALUE },
  };
  Runs *runs = runs_new (&hooks);
  g_autofree char *longest = g_strnfill (RUN_LABEL_MAX, 'x');
  g_autofree char *longer = g_strnfill (RUN_LABEL_MAX + 1, 'x');
  g_autofree char *id = open_as (runs, 2001, longest, "main", NULL, 1000);
  g_autoptr (GError) error = NULL;

  g_assert_null (runs_open (runs, 2001, longer, "main", NULL, 0, 1000, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_clear_error (&error);
      g_assert_null (runs_open (runs, 2001, bad[i].label, "main", NULL, 0, 1000, &error));
      g_assert_error (error, US_ERROR, US_ERROR_INVALID_ARGUMENT);
      g_assert_true (us_error_has_reason (error, bad[i].reason));
    }
  runs_free (runs);
}

static void
test_many (void)
{
  Runs *runs = runs_new (&hooks);
  g_autofree char *first = open_as (runs, 2001, "0", "main", NULL, 1000);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < RUNS_MAX; i++)
    {
      g_autofree char *label = g_strdup_printf ("%u", i);
      g_autofree char *id = open_as (runs, 2001, label, "main", NULL, 1000);
    }
  g_assert_null (runs_open (runs, 2001, "more", "main", NULL, 0, 1000, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
  g_free (open_as (runs, 2002, "more", "main", NULL, 1000));
  g_clear_error (&error);
  /* An agent keeps nobody from opening one for it, nor does anybody keep another from that. */
  for (guint i = 0; i < RUNS_MAX; i++)
    {
      g_autofree char *label = g_strdup_printf ("for %u", i);

      g_free (open_as (runs, 2001, label, "main", "hr.jones", 1000));
    }
  g_assert_null (runs_open (runs, 2001, "for more", "main", "hr.jones", 3001, 1000, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
  /* Nor is one that it opened closed for one that cannot be. */
  g_clear_error (&error);
  g_assert_null (runs_open (runs, 2001, "0", "main", "hr.jones", 3001, 1000, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
  g_clear_error (&error);
  g_assert_cmpstr (runs_open (runs, 2001, "0", "main", NULL, 0, 1000, &error), ==, first);
  g_assert_nonnull (runs_open (runs, 2001, "of another", "main", "hr.kim", 3002, 1000, &error));
  g_assert_no_error (error);
  /* Those that were idle for a day do not count. */
  g_free (open_as (runs, 2001, "more", "main", NULL, 1001 + DAY));
  runs_free (runs);
}

static void
test_not_kept (void)
{
  Runs *runs = runs_new (&hooks);
  g_autofree char *id = open_as (runs, 2001, "a", "main", NULL, 1000);
  g_autoptr (GError) error = NULL;

  kept.fails = TRUE;
  g_assert_null (runs_open (runs, 2001, "b", "main", NULL, 0, 1000, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_INTERNAL));
  g_clear_error (&error);
  g_assert_false (runs_close (runs, 2001, id, &error));
  g_assert_nonnull (runs_use (runs, 2001, id, 1000, NULL));
  kept.fails = FALSE;
  runs_free (runs);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/run/same", test_same);
  g_test_add_func ("/run/foreign", test_foreign);
  g_test_add_func ("/run/idle", test_idle);
  g_test_add_func ("/run/use-is-kept", test_use_is_kept);
  g_test_add_func ("/run/close", test_close);
  g_test_add_func ("/run/initiator", test_initiator);
  g_test_add_func ("/run/labels", test_labels);
  g_test_add_func ("/run/many", test_many);
  g_test_add_func ("/run/not-kept", test_not_kept);
  return g_test_run ();
}
