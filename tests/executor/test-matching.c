/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Persons and places: as many as is possible at all, nobody twice; held against trying everything.
 */
#include "service/executor/matching.h"

#include <string.h>

/* best: by trying everybody for each place in turn. */
static guint
best (const gboolean *may, guint n_persons, guint n_places, guint place, guint used)
{
  guint most = 0;

  if (place == n_places)
    return 0;
  most = best (may, n_persons, n_places, place + 1, used);
  for (guint i = 0; i < n_persons; i++)
    if ((used & (1u << i)) == 0 && may[i * n_places + place])
      most = MAX (most, 1 + best (may, n_persons, n_places, place + 1, used | (1u << i)));
  return most;
}

static void
solve (const gboolean *may, guint n_persons, guint n_places)
{
  int person[MATCHING_MAX_PLACES];
  guint taken = matching_solve (may, n_persons, n_places, person);
  guint counted = 0;
  guint used = 0;

  g_assert_cmpuint (taken, ==, best (may, n_persons, n_places, 0, 0));
  for (guint i = 0; i < n_places; i++)
    if (person[i] >= 0)
      {
        g_assert_true (may[(guint) person[i] * n_places + i]);
        g_assert_false (used & (1u << person[i]));
        used |= 1u << person[i];
        counted++;
      }
  g_assert_cmpuint (counted, ==, taken);
}

static void
test_greedy_fails (void)
{
  /* the first person may take both places, the second only the first one */
  const gboolean may[] = { TRUE, TRUE, TRUE, FALSE };
  int person[2];

  g_assert_cmpuint (matching_solve (may, 2, 2, person), ==, 2);
  g_assert_cmpint (person[0], ==, 1);
  g_assert_cmpint (person[1], ==, 0);
}

static void
test_one_person_one_place (void)
{
  const gboolean may[] = { TRUE, TRUE, TRUE };
  int person[3];

  g_assert_cmpuint (matching_solve (may, 1, 3, person), ==, 1);
  g_assert_cmpuint (matching_solve (NULL, 0, 3, person), ==, 0);
  g_assert_cmpint (person[0], ==, -1);
}

static void
test_against_trying_all (void)
{
  for (guint round = 0; round < 2000; round++)
    {
      guint n_persons = (guint) g_test_rand_int_range (0, 6);
      guint n_places = (guint) g_test_rand_int_range (1, 6);
      gboolean may[36] = { FALSE };

      for (guint i = 0; i < n_persons * n_places; i++)
        may[i] = g_test_rand_int_range (0, 3) == 0;
      solve (may, n_persons, n_places);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/executor/matching/greedy-fails", test_greedy_fails);
  g_test_add_func ("/executor/matching/one-person-one-place", test_one_person_one_place);
  g_test_add_func ("/executor/matching/against-trying-all", test_against_trying_all);
  return g_test_run ();
}
