/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A target says of each refusal that it meets which one it was.  The replay program listens, so
 * that a corpus file can be held to the refusal that it is there for; libFuzzer's does not.
 */
#pragma once

#include <glib.h>

void refusal_note (const GError *error) __attribute__ ((weak));

/* refusal_seen: @error: (nullable): the refusal, NULL for none */
static inline void
refusal_seen (const GError *error)
{
  if (error != NULL && refusal_note != NULL)
    refusal_note (error);
}
