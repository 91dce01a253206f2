/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arming of a card.  Every renderer asks arming_take() before it sends an approval and nothing
 * else decides that.  Starts dead, and every event but the passing of time keeps it dead or makes
 * it so.
 */
#include "module/card/model/arming.h"

void
arming_init (Arming *arming, gboolean barred)
{
  *arming = (Arming){ .barred = barred };
}

void
arming_content (Arming *arming, gboolean barred, guint64 now)
{
  arming->barred = barred;
  arming->shown = TRUE;
  arming->seen = FALSE;
  arming->since = now;
}

void
arming_focus (Arming *arming, gboolean focused, guint64 now)
{
  if (!!arming->focused == !!focused)
    return;
  arming->focused = focused;
  arming->since = now;
}

void
arming_moved (Arming *arming, guint64 now)
{
  arming->since = now;
}

void
arming_seen (Arming *arming)
{
  if (arming->shown)
    arming->seen = TRUE;
}

guint64
arming_wait (const Arming *arming, guint64 now)
{
  guint64 passed = 0;

  if (arming->barred || !arming->shown || !arming->focused || !arming->seen)
    return G_MAXUINT64;
  if (now >= arming->since)
    passed = now - arming->since;
  return passed >= ARMING_DELAY ? 0 : ARMING_DELAY - passed;
}

gboolean
arming_is_armed (const Arming *arming, guint64 now)
{
  return arming_wait (arming, now) == 0;
}

gboolean
arming_take (Arming *arming, guint64 now)
{
  if (!arming_is_armed (arming, now))
    return FALSE;
  arming->shown = FALSE;
  arming->seen = FALSE;
  arming->since = now;
  return TRUE;
}
