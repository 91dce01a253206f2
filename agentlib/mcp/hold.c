/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the calls that wait for each request; it asks and withdraws nothing itself. */
#include "agentlib/mcp/hold.h"

static Hold *
hold_get (GHashTable *holds, const char *path)
{
  Hold *hold = g_hash_table_lookup (holds, path);

  if (hold == NULL)
    {
      hold = g_new0 (Hold, 1);
      hold->since = g_get_real_time () / G_USEC_PER_SEC;
      g_hash_table_insert (holds, g_strdup (path), hold);
    }
  return hold;
}

void
hold_join (GHashTable *holds, const char *path, gboolean ours)
{
  Hold *hold = hold_get (holds, path);

  hold->waiters++;
  hold->ours = hold->ours || ours;
}

void
hold_deliver (GHashTable *holds, const char *path)
{
  Hold *hold = g_hash_table_lookup (holds, path);

  if (hold != NULL)
    hold->delivered = TRUE;
}

gboolean
hold_leave (GHashTable *holds, const char *path, HoldEnd end)
{
  Hold *hold = hold_get (holds, path);
  gboolean withdraw;

  g_assert (hold->waiters > 0);
  hold->waiters--;
  if (end == HOLD_PENDING)
    hold->delivered = TRUE;
  withdraw = end == HOLD_GAVE_UP && hold->waiters == 0 && hold->ours && !hold->delivered;
  if (hold->waiters == 0 && (end == HOLD_ENDED || withdraw))
    g_hash_table_remove (holds, path);
  return withdraw;
}
