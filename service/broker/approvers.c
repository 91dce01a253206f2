/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asking the executor for a person's passkeys, and keeping the answer for seconds: long enough that
 * a card does not ask for each call, and that a uid without any can't make it ask all the time.
 */
#include "service/broker/approvers.h"

#include "service/base/clock.h"
#include "service/base/wire.h"

#define FRESH (10 * (guint64) G_USEC_PER_SEC)     /* with passkeys */
#define FRESH_NONE (2 * (guint64) G_USEC_PER_SEC) /* a person who just enrolled is soon seen */
#define KEPT_MAX 1024

typedef struct
{
  ApproversCallback callback;
  gpointer data;
  gboolean anew; /* what is remembered is no answer */
} Waiting;

typedef struct
{
  Approvers *approvers;
  uid_t uid;
  GVariant *credentials; /* NULL until the executor answered */
  guint64 until;
  gboolean asking;
  GArray *waiting; /* (element-type Waiting) */
  GArray *later;   /* (element-type Waiting): for the answer after the one that is under way */
} Person;

struct Approvers
{
  Executor *executor;
  GHashTable *people; /* uid → Person */
};

static void
person_free (gpointer data)
{
  Person *person = data;

  g_clear_pointer (&person->credentials, g_variant_unref);
  g_array_unref (person->waiting);
  g_array_unref (person->later);
  g_free (person);
}

Approvers *
approvers_new (Executor *executor)
{
  Approvers *approvers = g_new0 (Approvers, 1);

  approvers->executor = executor;
  approvers->people = g_hash_table_new_full (NULL, NULL, NULL, person_free);
  return approvers;
}

void
approvers_free (Approvers *approvers)
{
  if (approvers == NULL)
    return;
  g_hash_table_unref (approvers->people);
  g_free (approvers);
}

static gboolean
person_is_stale (gpointer key, gpointer value, gpointer data)
{
  const Person *person = value;

  return !person->asking && person->until <= *(const guint64 *) data;
}

static void person_answered (const Handover *reply, const GError *error, gpointer data);

static void
person_ask (Person *person)
{
  person->asking = TRUE;
  executor_call (person->approvers->executor, HANDOVER_APPROVER, EXECUTOR_NO_AGENT,
                 g_variant_new (WIRE_APPROVER_QUERY, (guint32) person->uid), NULL, 0,
                 WIRE_APPROVER_REPLY, NULL, person_answered, person);
}

static void
person_answered (const Handover *reply, const GError *error, gpointer data)
{
  Person *person = data;
  g_autoptr (GArray) waiting = g_steal_pointer (&person->waiting);
  g_autoptr (GVariant) credentials = NULL;

  person->waiting = g_steal_pointer (&person->later);
  person->later = g_array_new (FALSE, FALSE, sizeof (Waiting));
  person->asking = FALSE;
  person->until = 0;
  if (reply != NULL)
    {
      g_clear_pointer (&person->credentials, g_variant_unref);
      person->credentials = g_variant_get_child_value (reply->body, 0);
      person->until =
          clock_boottime () + (g_variant_n_children (person->credentials) > 0 ? FRESH : FRESH_NONE);
    }
  else if (!executor_error_is_silence (error))
    g_clear_pointer (&person->credentials, g_variant_unref);

  /* While the executor is away nobody can be enrolled or revoked either: who was known may still
   * look and deny, and nothing can be approved. */
  if (person->credentials != NULL)
    credentials = g_variant_ref (person->credentials);
  if (person->waiting->len > 0)
    person_ask (person);

  for (guint i = 0; i < waiting->len; i++)
    {
      const Waiting *one = &g_array_index (waiting, Waiting, i);
      gboolean known = credentials != NULL && (reply != NULL || !one->anew);

      one->callback (known ? credentials : NULL, known ? NULL : error, one->data);
    }
}

static Person *
person_get (Approvers *approvers, uid_t uid, guint64 now)
{
  Person *person = g_hash_table_lookup (approvers->people, GUINT_TO_POINTER (uid));

  if (person != NULL)
    return person;
  if (g_hash_table_size (approvers->people) >= KEPT_MAX)
    g_hash_table_foreach_remove (approvers->people, person_is_stale, &now);

  person = g_new0 (Person, 1);
  person->approvers = approvers;
  person->uid = uid;
  person->waiting = g_array_new (FALSE, FALSE, sizeof (Waiting));
  person->later = g_array_new (FALSE, FALSE, sizeof (Waiting));
  g_hash_table_insert (approvers->people, GUINT_TO_POINTER (uid), person);
  return person;
}

void
approvers_lookup (Approvers *approvers, uid_t uid, ApproversCallback callback, gpointer data)
{
  guint64 now = clock_boottime ();
  Person *person = person_get (approvers, uid, now);
  Waiting one = { callback, data, FALSE };

  if (person->credentials != NULL && person->until > now)
    {
      g_autoptr (GVariant) credentials = g_variant_ref (person->credentials);

      callback (credentials, NULL, data);
      return;
    }

  g_array_append_val (person->waiting, one);
  if (person->asking)
    return;
  person_ask (person);
}

void
approvers_ask (Approvers *approvers, uid_t uid, ApproversCallback callback, gpointer data)
{
  Person *person = person_get (approvers, uid, clock_boottime ());
  Waiting one = { callback, data, TRUE };

  g_array_append_val (person->asking ? person->later : person->waiting, one);
  if (!person->asking)
    person_ask (person);
}
