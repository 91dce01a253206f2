/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Those who want the same go on one at a time, in the order in which they came. */
#include "service/broker/turns.h"

#define THOUSANDS 5000

typedef struct
{
  Turns *turns;
  GString *begun;
  guint depth, deepest; /* of one that begins within another's beginning */
} Fixture;

typedef struct
{
  Fixture *fixture;
  const char *what, *name;
  gboolean leaves; /* as soon as it begins */
} Walker;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->turns = turns_new ();
  fixture->begun = g_string_new (NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  turns_free (fixture->turns);
  g_string_free (fixture->begun, TRUE);
}

static void
begin (gpointer data)
{
  Walker *walker = data;
  Fixture *fixture = walker->fixture;

  g_string_append (fixture->begun, walker->name);
  fixture->depth++;
  fixture->deepest = MAX (fixture->deepest, fixture->depth);
  if (walker->leaves)
    turns_leave (fixture->turns, walker->what, walker);
  fixture->depth--;
}

static gboolean
take (Walker *walker)
{
  return turns_take (walker->fixture->turns, walker->what, begin, walker);
}

static void
leave (Walker *walker)
{
  turns_leave (walker->fixture->turns, walker->what, walker);
}

static void
test_in_order (Fixture *fixture, gconstpointer data)
{
  Walker a = { fixture, "x", "a", FALSE };
  Walker b = { fixture, "x", "b", FALSE };
  Walker c = { fixture, "x", "c", FALSE };
  Walker other = { fixture, "y", "other", FALSE };

  g_assert_true (turns_is_empty (fixture->turns));
  g_assert_true (take (&a));
  g_assert_false (take (&b));
  g_assert_false (take (&c));
  g_assert_true (take (&other));
  g_assert_cmpuint (turns_waiting (fixture->turns), ==, 2);
  leave (&a);
  g_assert_cmpstr (fixture->begun->str, ==, "b");
  leave (&b);
  leave (&other);
  g_assert_cmpstr (fixture->begun->str, ==, "bc");
  g_assert_false (turns_is_empty (fixture->turns));
  leave (&c);
  g_assert_true (turns_is_empty (fixture->turns));

  /* Nothing is left of a row that was empty. */
  g_assert_true (take (&b));
  leave (&b);
  g_assert_cmpstr (fixture->begun->str, ==, "bc");
}

/* One that waits and leaves is not called, and calls nobody. */
static void
test_leaves_early (Fixture *fixture, gconstpointer data)
{
  Walker a = { fixture, "x", "a", FALSE };
  Walker b = { fixture, "x", "b", FALSE };
  Walker c = { fixture, "x", "c", FALSE };

  g_assert_true (take (&a));
  g_assert_false (take (&b));
  g_assert_false (take (&c));
  leave (&b);
  g_assert_cmpstr (fixture->begun->str, ==, "");
  leave (&a);
  g_assert_cmpstr (fixture->begun->str, ==, "c");
  leave (&c);
  g_assert_true (turns_is_empty (fixture->turns));
}

/* Each ends as soon as it begins, the last of them within the first one's leaving. */
static void
test_at_once (Fixture *fixture, gconstpointer data)
{
  Walker a = { fixture, "x", "a", FALSE };
  Walker b = { fixture, "x", "b", TRUE };
  Walker c = { fixture, "x", "c", TRUE };

  g_assert_true (take (&a));
  g_assert_false (take (&b));
  g_assert_false (take (&c));
  leave (&a);
  g_assert_cmpstr (fixture->begun->str, ==, "bc");
  g_assert_true (turns_is_empty (fixture->turns));
}

/* However many end as soon as they begin, none begins within another: the stack does not grow. */
static void
test_thousands (Fixture *fixture, gconstpointer data)
{
  g_autofree Walker *walkers = g_new0 (Walker, THOUSANDS);

  for (guint i = 0; i < THOUSANDS; i++)
    {
      walkers[i] = (Walker){ fixture, "x", "w", i > 0 };
      g_assert_cmpint (take (&walkers[i]), ==, i == 0);
    }
  leave (&walkers[0]);
  g_assert_cmpuint (fixture->begun->len, ==, THOUSANDS - 1);
  g_assert_cmpuint (fixture->deepest, ==, 1);
  g_assert_true (turns_is_empty (fixture->turns));
}

/* One that leaves as it begins comes again at once: its turn is the last, or now where nobody waits. */
static void
comes_again (gpointer data)
{
  Walker *walker = data;
  Fixture *fixture = walker->fixture;

  g_string_append (fixture->begun, walker->name);
  turns_leave (fixture->turns, walker->what, walker);
  if (turns_take (fixture->turns, walker->what, begin, walker))
    g_string_append (fixture->begun, "!");
}

static void
test_comes_again (Fixture *fixture, gconstpointer data)
{
  Walker a = { fixture, "x", "a", FALSE };
  Walker b = { fixture, "x", "b", FALSE };
  Walker c = { fixture, "x", "c", FALSE };

  g_assert_true (take (&a));
  g_assert_false (turns_take (fixture->turns, "x", comes_again, &b));
  leave (&a);
  g_assert_cmpstr (fixture->begun->str, ==, "b!");
  g_assert_cmpuint (turns_waiting (fixture->turns), ==, 0);
  g_assert_false (turns_take (fixture->turns, "x", comes_again, &c));
  g_assert_false (take (&a));
  leave (&b);
  g_assert_cmpstr (fixture->begun->str, ==, "b!ca");
  g_assert_cmpuint (turns_waiting (fixture->turns), ==, 1);
  leave (&a);
  g_assert_cmpstr (fixture->begun->str, ==, "b!cac");
  leave (&c);
  g_assert_true (turns_is_empty (fixture->turns));
}

#define ADD(path, function) g_test_add (path, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  ADD ("/turns/in-order", test_in_order);
  ADD ("/turns/leaves-early", test_leaves_early);
  ADD ("/turns/at-once", test_at_once);
  ADD ("/turns/thousands", test_thousands);
  ADD ("/turns/comes-again", test_comes_again);
  return g_test_run ();
}
