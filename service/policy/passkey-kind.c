/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words of Passkeys= and the bits they stand for.  A word that is not here is no kind. */
#include "service/policy/policy.h"

#include <string.h>

static const struct
{
  const char *word;
  PasskeyKinds kind;
} kinds[] = {
  { "hardware", PASSKEY_HARDWARE }, { "unattested", PASSKEY_UNATTESTED },
  { "synced", PASSKEY_SYNCED },     { "phone", PASSKEY_PHONE },
  { "software", PASSKEY_SOFTWARE },
};

gboolean
passkey_kind_parse (const char *word, PasskeyKinds *out_kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i].word, word) == 0)
      {
        *out_kind = kinds[i].kind;
        return TRUE;
      }
  return FALSE;
}

const char *
passkey_kind_name (PasskeyKinds kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kinds[i].kind == kind)
      return kinds[i].word;
  return "unknown";
}
