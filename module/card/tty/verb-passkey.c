/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersign passkey: its verbs. */
#include "module/card/tty/program.h"

static const VerbEntry verbs[] = {
  { "enrol", verb_passkey_enrol, "make a passkey, here or on a security key, and enrol it" },
  { "list", verb_passkey_list, "list the passkeys that are kept on this computer" },
  { "revoke", verb_passkey_revoke, "revoke a passkey and remove it from this computer" },
  { NULL, NULL, NULL },
};

int
verb_passkey (const Trust *trust, int argc, char **argv, GError **error)
{
  return program_dispatch ("passkey", verbs, trust, argc, argv, error);
}
