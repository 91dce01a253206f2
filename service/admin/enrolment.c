/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps open enrolments in memory alone: a restart ends them, which costs a person one more try.
 * It decides nothing about keys; the executor checks the registration.
 */
#include "service/admin/enrolment.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/json.h"

#include <string.h>

struct Enrolments
{
  GPtrArray *open; /* (element-type Enrolment): oldest first */
};

void
enrolment_free (Enrolment *enrolment)
{
  if (enrolment == NULL)
    return;
  g_free (enrolment->id);
  g_free (enrolment->sender);
  g_free (enrolment->user);
  g_free (enrolment->kind);
  g_free (enrolment->label);
  g_free (enrolment->rp);
  g_free (enrolment->origin);
  g_free (enrolment);
}

Enrolments *
enrolments_new (void)
{
  Enrolments *enrolments = g_new0 (Enrolments, 1);

  enrolments->open = g_ptr_array_new_with_free_func ((GDestroyNotify) enrolment_free);
  return enrolments;
}

void
enrolments_free (Enrolments *enrolments)
{
  if (enrolments == NULL)
    return;
  g_ptr_array_unref (enrolments->open);
  g_free (enrolments);
}

guint
enrolments_open (Enrolments *enrolments)
{
  guint64 now = clock_boottime ();

  for (guint i = enrolments->open->len; i > 0; i--)
    {
      const Enrolment *enrolment = g_ptr_array_index (enrolments->open, i - 1);

      if (enrolment->deadline <= now)
        g_ptr_array_remove_index (enrolments->open, i - 1);
    }
  return enrolments->open->len;
}

gboolean
enrolments_room (Enrolments *enrolments, const char *sender, GError **error)
{
  guint all = enrolments_open (enrolments), own = 0;

  for (guint i = 0; i < enrolments->open->len; i++)
    {
      const Enrolment *enrolment = g_ptr_array_index (enrolments->open, i);

      if (strcmp (enrolment->sender, sender) == 0)
        own++;
    }
  if (all >= ENROLMENTS_MAX || own >= ENROLMENTS_MAX_PER_CALLER)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "too many enrolments are open (%u, %u of this caller)", all, own);
  return TRUE;
}

/* The challenge names what is enrolled; the random id makes it unpredictable and unique. */
static void
enrolment_make_challenge (Enrolment *enrolment)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  g_autoptr (GBytes) bytes = NULL;
  g_autofree char *uid = g_strdup_printf ("%u", (guint) enrolment->uid);
  g_autofree char *nonce = random_id ();

  json_tree_add_string (tree, "format", "undersign.enrolment/1");
  json_tree_add_string (tree, "id", enrolment->id);
  json_tree_add_string (tree, "nonce", nonce);
  json_tree_add_string (tree, "user", enrolment->user);
  json_tree_add_string (tree, "uid", uid);
  json_tree_add_string (tree, "kind", enrolment->kind);
  json_tree_add_string (tree, "label", enrolment->label);
  json_tree_add_string (tree, "rp", enrolment->rp);
  json_tree_add_string (tree, "origin", enrolment->origin);
  bytes = json_tree_write (tree);
  pae_sha256 (PAE_TYPE_ENROLMENT, bytes, enrolment->challenge);
}

const Enrolment *
enrolments_add (Enrolments *enrolments, Enrolment *enrolment, guint seconds)
{
  enrolment->id = random_id ();
  enrolment->deadline = clock_boottime () + seconds * (guint64) G_USEC_PER_SEC;
  enrolment_make_challenge (enrolment);
  g_ptr_array_add (enrolments->open, enrolment);
  return enrolment;
}

Enrolment *
enrolments_take (Enrolments *enrolments, const char *id, const char *sender, GError **error)
{
  enrolments_open (enrolments);
  for (guint i = 0; i < enrolments->open->len; i++)
    {
      const Enrolment *enrolment = g_ptr_array_index (enrolments->open, i);

      if (strcmp (enrolment->id, id) == 0 && strcmp (enrolment->sender, sender) == 0)
        return g_ptr_array_steal_index (enrolments->open, i);
    }
  us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                "no such enrolment is open for this caller");
  return NULL;
}
