/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kuhn's algorithm: each place looks for a person, asking persons who have a place to move to
 * another one.  Greedy assignment would refuse approvals that suffice: the person whom two rules
 * accept may have been counted for the rule that had somebody else.
 */
#include "service/executor/matching.h"

typedef struct
{
  const gboolean *may;
  guint n_persons, n_places;
  int *place_of;  /* of each person, or -1 */
  gboolean *seen; /* persons asked in this round */
} Search;

/* The depth is at most the number of places. */
static gboolean
place_find (Search *search, guint place)
{
  for (guint person = 0; person < search->n_persons; person++)
    {
      if (!search->may[person * search->n_places + place] || search->seen[person])
        continue;
      search->seen[person] = TRUE;
      if (search->place_of[person] < 0 || place_find (search, (guint) search->place_of[person]))
        {
          search->place_of[person] = (int) place;
          return TRUE;
        }
    }
  return FALSE;
}

guint
matching_solve (const gboolean *may, guint n_persons, guint n_places, int *out_person)
{
  g_autofree int *place_of = g_new (int, n_persons + 1);
  g_autofree gboolean *seen = g_new0 (gboolean, n_persons + 1);
  Search search = { may, n_persons, n_places, place_of, seen };
  guint taken = 0;

  for (guint person = 0; person < n_persons; person++)
    place_of[person] = -1;
  for (guint place = 0; place < n_places; place++)
    {
      for (guint person = 0; person < n_persons; person++)
        seen[person] = FALSE;
      if (place_find (&search, place))
        taken++;
    }

  for (guint place = 0; place < n_places; place++)
    out_person[place] = -1;
  for (guint person = 0; person < n_persons; person++)
    if (place_of[person] >= 0)
      out_person[place_of[person]] = (int) person;
  return taken;
}
