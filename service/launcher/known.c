/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bounds what a caller can have read.  Called by launcher.c. */
#include "service/launcher/known.h"

#define READERS_MAX 256

struct Known
{
  const PolicySource *source;
  Policy *policy;      /* (nullable) */
  GError *error;       /* (nullable): why there is none */
  GHashTable *readers; /* uid → when it was last read for it */
};

Known *
known_new (const PolicySource *source)
{
  Known *known = g_new0 (Known, 1);

  known->source = source;
  known->readers = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  return known;
}

void
known_free (Known *known)
{
  if (known == NULL)
    return;
  g_clear_pointer (&known->policy, policy_free);
  g_clear_error (&known->error);
  g_hash_table_unref (known->readers);
  g_free (known);
}

static gboolean
is_past (gpointer uid, gpointer when, gpointer now)
{
  return *(const gint64 *) now - *(const gint64 *) when >= KNOWN_PERIOD;
}

/* Whether it is to be read for @uid; from now on it was. */
static gboolean
reading_is_due (Known *known, uid_t uid, gint64 now)
{
  const gint64 *last = g_hash_table_lookup (known->readers, GUINT_TO_POINTER (uid));

  if (last != NULL && now - *last < KNOWN_PERIOD)
    return FALSE;
  if (g_hash_table_size (known->readers) >= READERS_MAX)
    g_hash_table_foreach_remove (known->readers, is_past, &now);
  g_hash_table_replace (known->readers, GUINT_TO_POINTER (uid), g_memdup2 (&now, sizeof now));
  return TRUE;
}

const Policy *
known_policy (Known *known, uid_t uid, gint64 now, GError **error)
{
  if (reading_is_due (known, uid, now))
    {
      g_clear_pointer (&known->policy, policy_free);
      g_clear_error (&known->error);
      known->policy = policy_read (known->source, &known->error);
    }
  if (known->policy == NULL)
    g_propagate_error (error, g_error_copy (known->error));
  return known->policy;
}

Policy *
policy_read (const PolicySource *source, GError **error)
{
  g_autoptr (GBytes) image = policy_snapshot (source, error);

  return image != NULL ? policy_parse (image, &policy_names_system, error) : NULL;
}
