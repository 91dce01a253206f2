/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks characters up in the generated table.  GLib's own predicates are not asked: they miss
 * invisible letters and symbols and change with the installed version.
 */
#include "service/record/unicode.h"

#include <string.h>

typedef struct
{
  guint32 first;
  guint32 last;
  guint8 flags;
  guint8 script;
} UnicodeRange;

#include "service/record/unicode-table.h"

guint
char_flags (gunichar c, guint8 *out_script)
{
  gsize low = 0;
  gsize high = G_N_ELEMENTS (ranges);

  if (c < G_N_ELEMENTS (ascii))
    {
      if (out_script != NULL)
        *out_script = ascii[c] & CHAR_LETTER ? SCRIPT_LATIN : 0;
      return ascii[c];
    }
  if (out_script != NULL)
    *out_script = 0;

  while (low < high)
    {
      gsize middle = low + (high - low) / 2;
      const UnicodeRange *range = &ranges[middle];

      if (c > range->last)
        low = middle + 1;
      else if (c < range->first)
        high = middle;
      else
        {
          if (out_script != NULL)
            *out_script = range->script;
          return range->flags;
        }
    }

  return 0;
}

const char *
script_name (guint8 script)
{
  if (script >= G_N_ELEMENTS (script_names))
    return script_names[0];
  return script_names[script];
}

guint8
script_find (const char *name)
{
  for (guint i = 1; i < G_N_ELEMENTS (script_names); i++)
    if (strcmp (script_names[i], name) == 0)
      return (guint8) i;
  return 0;
}

const char *
unicode_version (void)
{
  return UNICODE_VERSION;
}
