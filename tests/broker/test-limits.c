/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one agent may use: each limit at its edge, for each uid, root included. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/broker/limits.h"

#include <string.h>

#define SECOND ((guint64) G_USEC_PER_SEC)

static const LimitsConfig small = {
  .pending = 3,
  .pending_all = 5,
  .pending_reserve = 1,
  .submits_per_minute = 2,
  .runs_per_minute = 2,
  .spool_bytes = 100,
  .spool_bytes_all = 150,
  .denials = 3,
  .denial_period = 600,
  .denial_pause = 60,
};

static void
assert_limit (GError **error, const char *names)
{
  g_assert_error (*error, US_ERROR, US_ERROR_LIMIT_EXCEEDED);
  g_assert_true (us_error_has_reason (*error, US_REASON_LIMIT));
  g_assert_nonnull (strstr ((*error)->message, names));
  g_clear_error (error);
}

static void
test_submits (void)
{
  Limits *limits = limits_new (&small);
  g_autoptr (GError) error = NULL;

  for (uid_t uid = 0; uid < 2; uid++)
    {
      g_assert_true (limits_submit (limits, uid, 100 * SECOND, &error));
      g_assert_true (limits_submit (limits, uid, 130 * SECOND, &error));
      g_assert_false (limits_submit (limits, uid, 159 * SECOND, &error));
      assert_limit (&error, "SubmitsPerMinute is 2");
      /* The first is a minute old. */
      g_assert_true (limits_submit (limits, uid, 160 * SECOND, &error));
      g_assert_false (limits_submit (limits, uid, 189 * SECOND, &error));
      assert_limit (&error, "SubmitsPerMinute");
    }
  limits_free (limits);
}

/* The same, and neither counts for the other. */
static void
test_runs (void)
{
  Limits *limits = limits_new (&small);
  g_autoptr (GError) error = NULL;

  for (uid_t uid = 0; uid < 2; uid++)
    {
      g_assert_true (limits_run (limits, uid, 100 * SECOND, &error));
      g_assert_true (limits_run (limits, uid, 130 * SECOND, &error));
      g_assert_false (limits_run (limits, uid, 159 * SECOND, &error));
      assert_limit (&error, "RunsPerMinute is 2");
      g_assert_true (limits_submit (limits, uid, 159 * SECOND, &error));
      g_assert_true (limits_run (limits, uid, 160 * SECOND, &error));
    }
  limits_free (limits);
}

/* One uid's asking takes nothing from another's. */
static void
test_asking (void)
{
  Limits *limits = limits_new (&small);

  for (uid_t uid = 0; uid < 2; uid++)
    {
      g_assert_true (limits_ask (limits, uid, SECOND / 2));
      g_assert_false (limits_ask (limits, uid, SECOND));
      g_assert_true (limits_ask (limits, uid, 3 * SECOND / 2));
      g_assert_false (limits_ask (limits, uid, 2 * SECOND));
    }
  limits_free (limits);
}

static gboolean
reserve (Limits *limits, uid_t uid, guint64 bytes, GError **error)
{
  static const uid_t agents[] = { 0, 1, 2 };

  return limits_reserve (limits, uid, bytes, agents, G_N_ELEMENTS (agents), error);
}

static void
test_pending (void)
{
  Limits *limits = limits_new (&small);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 3; i++)
    g_assert_true (reserve (limits, 0, 0, &error));
  g_assert_false (reserve (limits, 0, 0, &error));
  assert_limit (&error, "Pending is 3");
  limits_release (limits, 0, 0);
  g_assert_true (reserve (limits, 0, 0, &error));
  g_assert_cmpuint (limits_pending (limits, 0), ==, 3);
  g_assert_cmpuint (limits_pending (limits, 1), ==, 0);
  limits_free (limits);
}

/* The last places are the reserves of those that have none pending. */
static void
test_reserve (void)
{
  Limits *limits = limits_new (&small);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 3; i++)
    g_assert_true (reserve (limits, 0, 0, &error));
  g_assert_true (reserve (limits, 1, 0, &error));
  g_assert_false (reserve (limits, 1, 0, &error));
  assert_limit (&error, "PendingAll is 5");
  g_assert_true (reserve (limits, 2, 0, &error));
  g_assert_false (reserve (limits, 2, 0, &error));
  assert_limit (&error, "PendingAll is 5");
  g_assert_cmpuint (limits_pending_all (limits), ==, 5);
  /* A new agent's reserve does not make room that is not there. */
  g_assert_false (limits_reserve (limits, 9, 0, NULL, 0, &error));
  assert_limit (&error, "PendingAll");
  limits_free (limits);
}

static void
test_bytes (void)
{
  Limits *limits = limits_new (&small);
  g_autoptr (GError) error = NULL;

  g_assert_true (reserve (limits, 0, 60, &error));
  g_assert_false (reserve (limits, 0, 41, &error));
  assert_limit (&error, "SpoolBytes is 100");
  g_assert_false (reserve (limits, 1, 101, &error));
  assert_limit (&error, "SpoolBytes is 100");
  g_assert_false (reserve (limits, 1, G_MAXUINT64, &error));
  assert_limit (&error, "SpoolBytes is 100");
  /* 25 of the 150 are kept for each of the three. */
  g_assert_false (reserve (limits, 1, 66, &error));
  assert_limit (&error, "SpoolBytesAll is 150");
  g_assert_true (reserve (limits, 1, 65, &error));
  g_assert_false (reserve (limits, 0, 1, &error));
  assert_limit (&error, "SpoolBytesAll is 150");
  g_assert_false (reserve (limits, 2, 26, &error));
  assert_limit (&error, "SpoolBytesAll is 150");
  g_assert_true (reserve (limits, 2, 25, &error));
  /* What was refused has taken nothing. */
  limits_release (limits, 0, 60);
  limits_release (limits, 1, 65);
  limits_release (limits, 2, 25);
  g_assert_cmpuint (limits_pending_all (limits), ==, 0);
  g_assert_true (reserve (limits, 0, 100, &error));
  limits_free (limits);
}

static void
test_denials (void)
{
  Limits *limits = limits_new (&small);
  guint64 until = 0;

  g_assert_false (limits_denied (limits, 7, 1000 * SECOND, &until));
  g_assert_false (limits_denied (limits, 7, 1200 * SECOND, &until));
  g_assert_false (limits_denied (limits, 8, 1200 * SECOND, &until));
  /* The first is older than ten minutes. */
  g_assert_false (limits_denied (limits, 7, 1600 * SECOND, &until));
  g_assert_false (limits_paused (limits, 7, 1600 * SECOND, NULL));
  g_assert_true (limits_denied (limits, 7, 1700 * SECOND, &until));
  g_assert_cmpuint (until, ==, 1760 * SECOND);
  g_assert_true (limits_paused (limits, 7, 1759 * SECOND, &until));
  g_assert_false (limits_paused (limits, 8, 1759 * SECOND, &until));
  g_assert_false (limits_paused (limits, 7, 1760 * SECOND, &until));
  /* They count once. */
  g_assert_false (limits_denied (limits, 7, 1770 * SECOND, &until));
  limits_free (limits);
}

/* Each person has a pause of his own, so nobody shortens another's. */
static void
test_pauses (void)
{
  Limits *limits = limits_new (&small);
  guint64 until = 0;

  limits_pause (limits, 7, 3001, 500 * SECOND);
  limits_pause (limits, 7, 3002, 300 * SECOND);
  g_assert_true (limits_paused (limits, 7, 100 * SECOND, &until));
  g_assert_cmpuint (until, ==, 500 * SECOND);
  limits_pause (limits, 7, 3002, 0);
  g_assert_true (limits_paused (limits, 7, 499 * SECOND, &until));
  g_assert_true (limits_paused_by (limits, 7, 3001, 100 * SECOND));
  g_assert_false (limits_paused_by (limits, 7, 3001, 500 * SECOND));
  g_assert_false (limits_paused_by (limits, 7, 3002, 100 * SECOND));
  limits_pause (limits, 7, 3001, 0);
  g_assert_false (limits_paused (limits, 7, 100 * SECOND, &until));
  limits_free (limits);
}

/* However much the others use, an agent has its share; without files nobody is refused for bytes. */
static void
test_bytes_of_many (void)
{
  LimitsConfig config = limits_default;
  uid_t agents[8] = { 0 };
  guint64 share = config.spool_bytes_all / 2 / G_N_ELEMENTS (agents);
  g_autoptr (GError) error = NULL;
  Limits *limits = NULL;

  config.pending = config.pending_all = 1000;
  limits = limits_new (&config);
  for (guint i = 0; i < G_N_ELEMENTS (agents); i++)
    agents[i] = 100 + i;
  /* Each takes all that it gets, in the largest requests that there are and then in small ones. */
  for (guint i = 0; i < 7; i++)
    for (guint64 bytes = 64 * 1024 * 1024; bytes >= 1024 * 1024; bytes /= 2)
      while (limits_reserve (limits, agents[i], bytes, agents, G_N_ELEMENTS (agents), NULL))
        ;
  g_assert_true (limits_reserve (limits, agents[0], 0, agents, G_N_ELEMENTS (agents), &error));
  g_assert_true (limits_reserve (limits, agents[7], share, agents, G_N_ELEMENTS (agents), &error));
  g_assert_no_error (error);
  g_assert_false (limits_reserve (limits, agents[7], 1, agents, G_N_ELEMENTS (agents), &error));
  assert_limit (&error, "SpoolBytesAll is 1073741824");
  /* A policy with more agents makes no room that is not there. */
  g_assert_false (limits_reserve (limits, 9, 1, NULL, 0, &error));
  assert_limit (&error, "SpoolBytesAll is 1073741824");
  limits_free (limits);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/limits/submits", test_submits);
  g_test_add_func ("/limits/runs", test_runs);
  g_test_add_func ("/limits/asking", test_asking);
  g_test_add_func ("/limits/pending", test_pending);
  g_test_add_func ("/limits/reserve", test_reserve);
  g_test_add_func ("/limits/bytes", test_bytes);
  g_test_add_func ("/limits/bytes-of-many", test_bytes_of_many);
  g_test_add_func ("/limits/denials", test_denials);
  g_test_add_func ("/limits/pauses", test_pauses);
  return g_test_run ();
}
