/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who gets the places of a kind.  The executor of this test takes every connection and answers
 * none until it is told to, so that what is taken is what holds a place.
 */
#include "service/broker/executor.h"

#include "service/base/fd.h"
#include "service/base/wire.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

typedef struct
{
  char *dir, *path;
  int listen_fd;
  Executor *executor;
  GArray *taken; /* (element-type Taken), in the order in which they came */
  guint begun, ended;
} Fixture;

typedef struct
{
  int sock;
  guint32 agent;
  guint32 number; /* of the call, from 0 */
} Taken;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  fixture->dir = g_dir_make_tmp ("undersign-lanes-XXXXXX", NULL);
  fixture->path = g_build_filename (fixture->dir, "sock", NULL);
  fixture->taken = g_array_new (FALSE, FALSE, sizeof (Taken));
  g_assert_cmpuint (strlen (fixture->path), <, sizeof address.sun_path);
  strcpy (address.sun_path, fixture->path);
  fixture->listen_fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  g_assert_cmpint (
      bind (fixture->listen_fd, (const struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (fixture->listen_fd, 256), ==, 0);
  fixture->executor = executor_new (fixture->path);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  executor_free (fixture->executor);
  for (guint i = 0; i < fixture->taken->len; i++)
    fd_clear (&g_array_index (fixture->taken, Taken, i).sock);
  g_array_unref (fixture->taken);
  fd_clear (&fixture->listen_fd);
  g_unlink (fixture->path);
  g_rmdir (fixture->dir);
  g_free (fixture->path);
  g_free (fixture->dir);
}

static void
ended (const Handover *reply, const GError *error, gpointer data)
{
  ((Fixture *) data)->ended++;
}

/* Its body says whose it is, and which. */
static void
begin_of (Fixture *fixture, HandoverKind kind, uid_t agent, const char *module)
{
  executor_call_module (fixture->executor, kind, agent, module,
                        g_variant_new ("(uu)", (guint32) agent, (guint32) fixture->begun++), NULL,
                        0, WIRE_EMPTY, NULL, ended, fixture);
}

static void
begin (Fixture *fixture, HandoverKind kind, uid_t agent)
{
  begin_of (fixture, kind, agent, "mail");
}

static void
take_waiting (Fixture *fixture)
{
  Taken taken = { -1, 0, 0 };

  while ((taken.sock = accept4 (fixture->listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
    {
      g_auto (Handover) handover = { 0 };
      autofd body = -1;

      g_assert_true (handover_receive (taken.sock, &handover, &body, NULL));
      g_assert_true (handover_decode (&handover, body, "(uu)", NULL));
      g_variant_get (handover.body, "(uu)", &taken.agent, &taken.number);
      g_array_append_val (fixture->taken, taken);
    }
}

/* Until so many have come; what comes beyond them comes within the time that follows. */
static void
expect_taken (Fixture *fixture, guint n)
{
  gint64 end = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;
  gint64 still = 0;

  while (still == 0 || g_get_monotonic_time () < still)
    {
      g_assert_cmpint (g_get_monotonic_time (), <, end);
      if (!g_main_context_iteration (NULL, FALSE))
        g_usleep (500);
      take_waiting (fixture);
      if (still == 0 && fixture->taken->len >= n)
        still = g_get_monotonic_time () + 50000;
    }
  g_assert_cmpuint (fixture->taken->len, ==, n);
}

static guint
count_of (const Fixture *fixture, uid_t agent)
{
  guint n = 0;

  for (guint i = 0; i < fixture->taken->len; i++)
    n += g_array_index (fixture->taken, Taken, i).agent == agent;
  return n;
}

/* Ends the first that is under way for @agent, without an answer. */
static void
end_one (Fixture *fixture, uid_t agent)
{
  for (guint i = 0; i < fixture->taken->len; i++)
    {
      Taken *taken = &g_array_index (fixture->taken, Taken, i);

      if (taken->agent == agent && taken->sock >= 0)
        {
          fd_clear (&taken->sock);
          return;
        }
    }
  g_assert_not_reached ();
}

static guint32
last_taken (const Fixture *fixture)
{
  return g_array_index (fixture->taken, Taken, fixture->taken->len - 1).agent;
}

static guint32
last_number (const Fixture *fixture)
{
  return g_array_index (fixture->taken, Taken, fixture->taken->len - 1).number;
}

static void
test_one_agent (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    HandoverKind kind;
    guint each;
  } lanes[] = {
    { HANDOVER_PREPARE, EXECUTOR_PREPARES_EACH },
    { HANDOVER_EXECUTE, EXECUTOR_EXECUTES_EACH },
  };
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (lanes); i++)
    {
      for (guint j = 0; j < 30; j++)
        begin (fixture, lanes[i].kind, 1);
      n += lanes[i].each;
      expect_taken (fixture, n);
      /* Another agent is served all the same. */
      begin (fixture, lanes[i].kind, 2);
      expect_taken (fixture, ++n);
      g_assert_cmpuint (last_taken (fixture), ==, 2);
    }
  /* What is quick is not held up. */
  begin (fixture, HANDOVER_CLOSE, EXECUTOR_NO_AGENT);
  expect_taken (fixture, ++n);
  g_assert_cmpuint (fixture->ended, ==, 0);
}

/* Who looks all the time has one place, and neither answers nor other people wait for it. */
static void
test_one_person (Fixture *fixture, gconstpointer data)
{
  guint n = 0;

  for (guint i = 0; i < 30; i++)
    begin (fixture, i % 2 == 0 ? HANDOVER_RECEIPT : HANDOVER_MAY_PAUSE, 1);
  expect_taken (fixture, n += EXECUTOR_LOOKS_EACH);
  begin (fixture, HANDOVER_RECEIPT, 2);
  expect_taken (fixture, ++n);
  g_assert_cmpuint (last_taken (fixture), ==, 2);

  /* However many people look, a denial gets through. */
  for (uid_t uid = 3; uid < 33; uid++)
    begin (fixture, HANDOVER_RECEIPT, uid);
  expect_taken (fixture, n = EXECUTOR_LOOKS);
  begin (fixture, HANDOVER_CLOSE, EXECUTOR_NO_AGENT);
  expect_taken (fixture, ++n);
  g_assert_cmpuint (last_taken (fixture), ==, (guint32) EXECUTOR_NO_AGENT);
  begin (fixture, HANDOVER_ANSWER, EXECUTOR_NO_AGENT);
  expect_taken (fixture, ++n);
  g_assert_cmpuint (fixture->ended, ==, 0);
}

/* A passkey counts: what one person has signed reaches the ledger in the order in which it was
 * sent, each after the answer to the last.  Nobody waits for another person's. */
static void
test_answers_in_turn (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 4; i++)
    begin_of (fixture, HANDOVER_ANSWER, 1, "");
  expect_taken (fixture, 1);
  begin_of (fixture, HANDOVER_ANSWER, 2, "");
  expect_taken (fixture, 2);
  g_assert_cmpuint (last_taken (fixture), ==, 2);
  begin_of (fixture, HANDOVER_CLOSE, EXECUTOR_NO_AGENT, "");
  expect_taken (fixture, 3);

  for (guint i = 1; i < 4; i++)
    {
      end_one (fixture, 1);
      /* One that comes as the place becomes free is not quicker than those that wait. */
      begin_of (fixture, HANDOVER_ANSWER, 1, "");
      expect_taken (fixture, 3 + i);
      g_assert_cmpuint (last_number (fixture), ==, i);
    }
}

/* A place that becomes free goes to who has none, not to who waits with many. */
static void
test_fair (Fixture *fixture, gconstpointer data)
{
  guint n = EXECUTOR_PREPARES;

  for (uid_t agent = 1; agent <= 3; agent++)
    for (guint i = 0; i < 10; i++)
      begin (fixture, HANDOVER_PREPARE, agent);
  expect_taken (fixture, n);
  g_assert_cmpuint (count_of (fixture, 1), ==, 3);
  g_assert_cmpuint (count_of (fixture, 2), ==, 3);
  g_assert_cmpuint (count_of (fixture, 3), ==, 2);

  begin (fixture, HANDOVER_PREPARE, 4);
  expect_taken (fixture, n);
  end_one (fixture, 1);
  expect_taken (fixture, ++n);
  g_assert_cmpuint (last_taken (fixture), ==, 4);
  /* 1 and 3 hold two each; of these 1 waits longer. */
  end_one (fixture, 4);
  expect_taken (fixture, ++n);
  g_assert_cmpuint (last_taken (fixture), ==, 1);
}

/* Nobody is forgotten: as places become free, all that waited come. */
static void
test_all_come (Fixture *fixture, gconstpointer data)
{
  guint n = EXECUTOR_PREPARES_EACH;

  for (guint i = 0; i < 10; i++)
    begin (fixture, HANDOVER_PREPARE, 1);
  expect_taken (fixture, n);
  while (n < 10)
    {
      end_one (fixture, 1);
      expect_taken (fixture, ++n);
    }
  for (guint i = 0; i < EXECUTOR_PREPARES_EACH; i++)
    end_one (fixture, 1);
  while (fixture->ended < 10)
    g_main_context_iteration (NULL, TRUE);
  expect_taken (fixture, n);
  g_assert_cmpuint (fixture->ended, ==, 10);
}

/* Places that become free in one turn of the loop are all taken again. */
static void
test_two_at_once (Fixture *fixture, gconstpointer data)
{
  guint n = EXECUTOR_PREPARES;

  for (uid_t agent = 1; agent <= 4; agent++)
    for (guint i = 0; i < 4; i++)
      begin (fixture, HANDOVER_PREPARE, agent);
  expect_taken (fixture, n);
  for (uid_t agent = 1; agent <= 3; agent++)
    end_one (fixture, agent);
  expect_taken (fixture, n + 3);
}

/* However many agents keep a module busy, and each way of it, another module is called at once,
 * for these agents too. */
static void
test_modules (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    HandoverKind kind;
    guint places;
  } lanes_of[] = {
    { HANDOVER_PREPARE, EXECUTOR_PREPARES },
    { HANDOVER_EXECUTE, EXECUTOR_EXECUTES },
  };
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (lanes_of); i++)
    {
      for (uid_t agent = 1; agent <= 6; agent++)
        for (guint j = 0; j < 4; j++)
          begin_of (fixture, lanes_of[i].kind, agent, "slow");
      expect_taken (fixture, n += lanes_of[i].places);
      begin_of (fixture, lanes_of[i].kind, 7, "mail");
      expect_taken (fixture, ++n);
      g_assert_cmpuint (last_taken (fixture), ==, 7);
      begin_of (fixture, lanes_of[i].kind, 1, "mail");
      expect_taken (fixture, ++n);
      g_assert_cmpuint (last_taken (fixture), ==, 1);
      /* What waited longest for the other module does not take a place that this one leaves. */
      end_one (fixture, 7);
      expect_taken (fixture, n);
    }
  /* A place of the slow module goes to who waits for it. */
  end_one (fixture, 2);
  expect_taken (fixture, ++n);
}

/* So many calls hold up neither who wants another module nor who asks for nothing slow. */
static void
test_many_modules (Fixture *fixture, gconstpointer data)
{
  guint n = 0, busy = 0;

  for (uid_t agent = 1; agent <= 12; agent++)
    for (guint i = 0; i < 8; i++)
      {
        g_autofree char *module = g_strdup_printf ("m%u", (guint) agent);

        begin_of (fixture, HANDOVER_EXECUTE, agent * 100 + i, module);
      }
  /* So many are kept busy; each of the others is called once all the same. */
  busy = (EXECUTOR_SLOW_ALL - EXECUTOR_SLOW_FIRST) / EXECUTOR_EXECUTES;
  expect_taken (fixture, n = busy * EXECUTOR_EXECUTES + (12 - busy));
  g_assert_cmpuint (last_taken (fixture), ==, 1200);
  begin (fixture, HANDOVER_CLOSE, EXECUTOR_NO_AGENT);
  expect_taken (fixture, ++n);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, function) g_test_add (path, Fixture, NULL, set_up, function, tear_down)
  ADD ("/executor/one-agent", test_one_agent);
  ADD ("/executor/one-person", test_one_person);
  ADD ("/executor/answers-in-turn", test_answers_in_turn);
  ADD ("/executor/fair", test_fair);
  ADD ("/executor/all-come", test_all_come);
  ADD ("/executor/two-at-once", test_two_at_once);
  ADD ("/executor/modules", test_modules);
  ADD ("/executor/many-modules", test_many_modules);
  return g_test_run ();
}
