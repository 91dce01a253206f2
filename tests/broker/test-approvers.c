/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the broker remembers of a person's passkeys, and when that is not asked. */
#include "service/broker/approvers.h"

#include "tests/broker/bed.h"

typedef void (*Question) (Approvers *approvers,
                          uid_t uid,
                          ApproversCallback callback,
                          gpointer data);

typedef struct
{
  gboolean done;
  int n; /* of passkeys; -1: nobody said */
} Answer;

static void
answered (GVariant *credentials, const GError *error, gpointer data)
{
  Answer *answer = data;

  g_assert_true ((credentials == NULL) == (error != NULL));
  answer->n = credentials != NULL ? (int) g_variant_n_children (credentials) : -1;
  answer->done = TRUE;
}

static gboolean
is_done (gpointer data)
{
  return ((const Answer *) data)->done;
}

static int
ask (Bed *bed, Question question)
{
  Answer answer = { FALSE, 0 };

  question (bed->broker->approvers, FAKE_JONES, answered, &answer);
  bed_wait (is_done, &answer);
  return answer.n;
}

/* What was just heard is older than what changed since. */
static void
test_anew (Bed *bed, gconstpointer config)
{
  for (guint i = 0; i < 20; i++)
    {
      fake_passkey (bed->fake, FAKE_JONES, i % 2 == 1);
      g_assert_cmpint (ask (bed, approvers_ask), ==, i % 2);
      g_assert_cmpint (ask (bed, approvers_lookup), ==, i % 2);
    }
}

/* The answer to a question that was asked before is none, either. */
static void
test_under_way (Bed *bed, gconstpointer config)
{
  for (guint i = 0; i < 20; i++)
    {
      Answer first = { FALSE, 0 };
      Answer second = { FALSE, 0 };
      guint before = fake_asked (bed->fake);

      fake_passkey (bed->fake, FAKE_JONES, i % 2 == 0);
      approvers_ask (bed->broker->approvers, FAKE_JONES, answered, &first);
      while (fake_asked (bed->fake) == before)
        {
          g_main_context_iteration (NULL, FALSE);
          for (guint j = 0; j < 20 && fake_asked (bed->fake) == before; j++)
            g_usleep (1000); /* what it says is not heard meanwhile */
        }
      fake_passkey (bed->fake, FAKE_JONES, i % 2 == 1);
      approvers_ask (bed->broker->approvers, FAKE_JONES, answered, &second);
      bed_wait (is_done, &second);
      g_assert_true (first.done);
      g_assert_cmpint (first.n, ==, (i + 1) % 2);
      g_assert_cmpint (second.n, ==, i % 2);
    }
}

/* Silence is no answer; who only looks is given what is remembered. */
static void
test_silence (Bed *bed, gconstpointer config)
{
  for (guint i = 0; i < 2; i++)
    {
      fake_passkey (bed->fake, FAKE_JONES, i == 1);
      g_assert_cmpint (ask (bed, approvers_ask), ==, i);
      fake_away (bed->fake, TRUE);
      g_assert_cmpint (ask (bed, approvers_ask), ==, -1);
      g_assert_cmpint (ask (bed, approvers_lookup), ==, i);
      fake_away (bed->fake, FALSE);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  bed_test ("/approvers/anew", NULL, test_anew);
  bed_test ("/approvers/under-way", NULL, test_under_way);
  bed_test ("/approvers/silence", NULL, test_silence);
  return g_test_run ();
}
