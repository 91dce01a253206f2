/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether somebody could still approve.  A person without a card open is reachable; one whose
 * passkeys are all revoked is not, and when too few are left nobody needs to wait for the deadline.
 * The executor looks again at each approval; this only tells the agent earlier.
 */
#include "service/broker/reach.h"

#include "service/base/wire.h"

/* One look: the people of all pending requests, asked one after the other. */
typedef struct
{
  Broker *broker;
  GHashTable *active; /* uid → GVariant, an array of WIRE_CREDENTIAL: who was asked */
  GArray *people;     /* (element-type uid_t): who is still to be asked */
  GHashTable *judged; /* id → requirements, as they were then */
} Look;

static void look_next (Look *look);

static void
look_free (Look *look)
{
  g_hash_table_unref (look->active);
  g_array_unref (look->people);
  g_hash_table_unref (look->judged);
  g_free (look);
}

static gboolean
has_credential (GVariant *active, GVariant *id)
{
  gsize n = g_variant_n_children (active);

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) credential = g_variant_get_child_value (active, i);
      g_autoptr (GVariant) its_id = g_variant_get_child_value (credential, 0);

      if (g_variant_equal (its_id, id))
        return TRUE;
    }
  return FALSE;
}

/* Whether any of the credentials that a requirement lists for a person is active; one who was not
 * asked counts, since only what is known to be gone is gone. */
static gboolean
can_answer (const Look *look, uid_t uid, GVariant *credentials)
{
  GVariant *active = g_hash_table_lookup (look->active, GUINT_TO_POINTER (uid));
  gsize n = g_variant_n_children (credentials);

  if (active == NULL)
    return TRUE;
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) credential = g_variant_get_child_value (credentials, i);
      g_autoptr (GVariant) id = g_variant_get_child_value (credential, 0);

      if (has_credential (active, id))
        return TRUE;
    }
  return FALSE;
}

static gboolean
is_reachable (const Look *look, const Request *request)
{
  gsize n = g_variant_n_children (request->requirements);

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) approvers = NULL;
      guint32 count = 0;
      guint left = 0;

      g_variant_get_child (request->requirements, i, "(&su@a" WIRE_APPROVER ")", NULL, &count,
                           &approvers);
      for (gsize j = 0; j < g_variant_n_children (approvers); j++)
        {
          g_autoptr (GVariant) credentials = NULL;
          guint32 uid = 0;

          g_variant_get_child (approvers, j, "(&su@a" WIRE_CREDENTIAL ")", NULL, &uid,
                               &credentials);
          left += can_answer (look, uid, credentials);
        }
      if (left < count)
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_waiting (const Request *request)
{
  return request->state == REQUEST_PENDING && request->is_ready;
}

/* One that came, or was prepared anew, after people were asked names passkeys that they did not
 * know of: it is for the next look. */
static gboolean
is_judged (const Look *look, const Request *request)
{
  return is_waiting (request) &&
         g_hash_table_lookup (look->judged, request->id) == request->requirements;
}

static void
look_end (Look *look)
{
  g_autoptr (GList) requests = g_hash_table_get_values (look->broker->requests);

  for (GList *l = requests; l != NULL; l = l->next)
    {
      Request *request = l->data;
      g_autoptr (GError) error = NULL;

      if (is_judged (look, request) && !is_reachable (look, request) &&
          !request_move (request, REQUEST_UNREACHABLE, NULL, &error))
        g_warning ("request %s: %s", request->id, error->message);
    }
  reach_start (look->broker);
  look_free (look);
}

static void
person_asked (GVariant *credentials, const GError *error, gpointer data)
{
  Look *look = data;
  uid_t uid = g_array_index (look->people, uid_t, look->people->len - 1);

  if (credentials != NULL)
    g_hash_table_insert (look->active, GUINT_TO_POINTER (uid), g_variant_ref (credentials));
  g_array_set_size (look->people, look->people->len - 1);
  look_next (look);
}

static void
look_next (Look *look)
{
  if (look->people->len == 0)
    look_end (look);
  else
    approvers_ask (look->broker->approvers,
                   g_array_index (look->people, uid_t, look->people->len - 1), person_asked, look);
}

static void
add_people (Look *look, const Request *request)
{
  GVariantIter iter;
  GVariant *approvers = NULL;

  g_variant_iter_init (&iter, request->requirements);
  while (g_variant_iter_next (&iter, "(&su@a" WIRE_APPROVER ")", NULL, NULL, &approvers))
    {
      g_autoptr (GVariant) owned = approvers;

      for (gsize i = 0; i < g_variant_n_children (owned); i++)
        {
          guint32 uid = 0;
          uid_t person = 0;
          gboolean known = FALSE;

          g_variant_get_child (owned, i, "(&su@a" WIRE_CREDENTIAL ")", NULL, &uid, NULL);
          person = uid;
          for (guint j = 0; j < look->people->len && !known; j++)
            known = g_array_index (look->people, uid_t, j) == person;
          if (!known)
            g_array_append_val (look->people, person);
        }
    }
}

static void
look_begin (gpointer data)
{
  Broker *broker = data;
  Look *look = g_new0 (Look, 1);
  GHashTableIter iter;
  gpointer value = NULL;

  broker->reach_timer = NULL;
  look->broker = broker;
  look->active = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_variant_unref);
  look->people = g_array_new (FALSE, FALSE, sizeof (uid_t));
  look->judged =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_variant_unref);
  g_hash_table_iter_init (&iter, broker->requests);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (is_waiting (value))
      {
        const Request *request = value;

        add_people (look, request);
        g_hash_table_insert (look->judged, g_strdup (request->id),
                             g_variant_ref (request->requirements));
      }
  look_next (look);
}

void
reach_start (Broker *broker)
{
  if (broker->reach_timer == NULL)
    broker->reach_timer =
        expiry_add_seconds (broker->expiry, broker->reach_period, look_begin, broker);
}
