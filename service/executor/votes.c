/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See votes.h.  Persons are told apart by uid: two passkeys of one person are one person, so that
 * distinct persons bring distinct credentials, too.
 */
#include "service/executor/votes.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/executor/matching.h"

/* places_of: the requirement of each place; NULL where there are too many or none. */
static GArray *
places_of (GPtrArray *requirements, GError **error)
{
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < requirements->len; i++)
    {
      const PolicyRequirement *requirement = g_ptr_array_index (requirements, i);
      guint count = MAX (requirement->count, 1);

      if (count > MATCHING_MAX_PLACES - places->len)
        {
          us_error_set (error, US_ERROR_REFUSED, US_REASON_NOT_APPROVED,
                        "more than %d approvals would be needed", MATCHING_MAX_PLACES);
          return NULL;
        }
      for (guint k = 0; k < count; k++)
        g_array_append_val (places, i);
    }
  if (places->len == 0)
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_NOT_APPROVED,
                    "no rule says who may approve");
      return NULL;
    }
  return g_steal_pointer (&places);
}

/* persons_of: the distinct uids. */
static GArray *
persons_of (GArray *votes)
{
  GArray *persons = g_array_new (FALSE, FALSE, sizeof (uid_t));

  for (guint i = 0; i < votes->len; i++)
    {
      const Vote *vote = &g_array_index (votes, Vote, i);
      gboolean known = FALSE;

      for (guint k = 0; k < persons->len; k++)
        known = known || g_array_index (persons, uid_t, k) == vote->uid;
      if (!known)
        g_array_append_val (persons, vote->uid);
    }
  return persons;
}

static gpointer
vote_item (GArray *votes, uid_t uid, guint requirement)
{
  for (guint i = 0; i < votes->len; i++)
    {
      const Vote *vote = &g_array_index (votes, Vote, i);

      if (vote->uid == uid && vote->requirement == requirement)
        return vote->item;
    }
  return NULL;
}

gboolean
votes_match (GArray *votes,
             GPtrArray *requirements,
             GPtrArray **out_items,
             guint *out_taken,
             guint *out_needed,
             GError **error)
{
  g_autoptr (GArray) places = places_of (requirements, error);
  g_autoptr (GArray) persons = persons_of (votes);
  g_autoptr (GPtrArray) items = g_ptr_array_new ();
  g_autofree gboolean *may = NULL;
  g_autofree int *person = NULL;

  if (places == NULL)
    return FALSE;

  may = g_new0 (gboolean, (gsize) persons->len * places->len + 1);
  for (guint i = 0; i < persons->len; i++)
    for (guint k = 0; k < places->len; k++)
      may[i * places->len + k] = vote_item (votes, g_array_index (persons, uid_t, i),
                                            g_array_index (places, guint, k)) != NULL;

  person = g_new (int, places->len);
  *out_taken = matching_solve (may, persons->len, places->len, person);
  *out_needed = places->len;
  if (*out_taken != places->len)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_NOT_APPROVED,
                         "%u of %u approvals, each of a person of its own", *out_taken,
                         *out_needed);

  for (guint k = 0; k < places->len; k++)
    g_ptr_array_add (items, vote_item (votes, g_array_index (persons, uid_t, person[k]),
                                       g_array_index (places, guint, k)));
  if (out_items != NULL)
    *out_items = g_steal_pointer (&items);
  return TRUE;
}

gboolean
votes_of (Executor *executor,
          const Record *record,
          GPtrArray *requirements,
          const Passkey *passkey,
          gpointer item,
          GArray *votes,
          GError **error)
{
  g_autoptr (GError) first = NULL;
  PasskeyKinds kind = 0;
  gboolean any = FALSE;

  if (!passkey_kind_parse (passkey->kind, &kind))
    return us_error_set (error, US_ERROR_NOT_APPROVER, US_REASON_CREDENTIAL_KIND,
                         "the passkey is of no known kind");

  for (guint i = 0; i < requirements->len; i++)
    {
      const PolicyRequirement *requirement = g_ptr_array_index (requirements, i);
      Vote vote = { passkey->uid, i, item };

      if (policy_may_approve (executor->policy, requirement, record, passkey->name, passkey->uid,
                              kind, first == NULL ? &first : NULL))
        {
          g_array_append_val (votes, vote);
          any = TRUE;
        }
    }
  if (any)
    return TRUE;
  if (first != NULL)
    g_propagate_error (error, g_steal_pointer (&first));
  else
    us_error_set (error, US_ERROR_NOT_APPROVER, US_REASON_NOT_ELIGIBLE,
                  "nothing is to be approved");
  return FALSE;
}
