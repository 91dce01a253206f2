/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign passkey revoke: the service first, then what is kept here: a key that is gone from here
 * but still enrolled could not be told from a stolen one.
 */
#include "module/card/tty/program.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/tty/admin.h"
#include "service/base/encode.h"

#include <string.h>

#define PREFIX_MIN 6
#define CREDENTIAL_MAX 1023

/* A passkey that is kept here and begins with @text, or any whole credential id. */
static GBytes *
find (Key *key, const char *text, GError **error)
{
  g_autoptr (GPtrArray) infos = key_list (key, error);
  g_autoptr (GBytes) found = NULL;
  guint n = 0;

  if (infos == NULL)
    return NULL;
  for (guint i = 0; strlen (text) >= PREFIX_MIN && i < infos->len; i++)
    {
      const KeyInfo *info = g_ptr_array_index (infos, i);
      gsize len;
      const guint8 *data = g_bytes_get_data (info->credential, &len);
      g_autofree char *id = base64url_encode (data, len);

      if (g_str_has_prefix (id, text))
        {
          n++;
          g_clear_pointer (&found, g_bytes_unref);
          found = g_bytes_ref (info->credential);
        }
    }
  if (n == 0 && strlen (text) >= 2 * PREFIX_MIN)
    found = base64url_decode (text, CREDENTIAL_MAX);
  if (n > 1 || found == NULL)
    {
      us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_CREDENTIAL_UNKNOWN,
                    n > 1 ? "more than one passkey begins with that"
                          : "name it by its credential id, or the first 6 or more letters of it");
      return NULL;
    }
  return g_steal_pointer (&found);
}

int
verb_passkey_revoke (const Trust *trust, int argc, char **argv, GError **error)
{
  g_autoptr (Key) key = NULL;
  g_autoptr (Admin) admin = NULL;
  g_autoptr (GBytes) credential = NULL;
  g_autoptr (GError) local = NULL, kept = NULL;

  if (!program_parse (
          "passkey revoke", "ID",
          "Revokes a passkey: approvals by it that are not yet used are void.  Where it "
          "is kept here it is removed.  An administrator has to agree.",
          NULL, 1, &argc, &argv, error))
    return EXIT_USAGE;
  key = program_key (NULL, FALSE, error);
  credential = key != NULL ? find (key, argv[1], error) : NULL;
  admin = credential != NULL ? admin_open (trust, error) : NULL;
  if (admin == NULL)
    return EXIT_REFUSED;

  if (!admin_revoke (admin, credential, &local) &&
      !us_error_has_reason (local, US_REASON_CREDENTIAL_UNKNOWN))
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return EXIT_REFUSED;
    }
  if (!key_forget (key, credential, &kept) &&
      !us_error_has_reason (kept, US_REASON_CREDENTIAL_UNKNOWN))
    {
      g_propagate_error (error, g_steal_pointer (&kept));
      return EXIT_REFUSED;
    }
  say (local == NULL ? "Revoked." : "It was not enrolled; it is no longer kept here.");
  return EXIT_OK;
}
