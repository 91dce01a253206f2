/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign passkey revoke: the service first, then what is kept here: a key that is gone from here
 * but still enrolled could not be told from a stolen one.
 */
#include "module/card/tty/program.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/key/software.h"
#include "module/card/tty/admin.h"
#include "service/base/encode.h"

#include <string.h>

#define PREFIX_MIN 6
#define CREDENTIAL_MAX 1023

static gboolean
begins_with (const KeyInfo *info, const char *text)
{
  g_autofree char *id = NULL;
  gsize len;
  const guint8 *data = NULL;

  if (info->credential == NULL)
    return FALSE;
  data = g_bytes_get_data (info->credential, &len);
  id = base64url_encode (data, len);
  return g_str_has_prefix (id, text);
}

/* A passkey that is kept here and begins with @text, or any whole credential id.
 * @key: (nullable)
 * @unlisted: (inout): why nobody can tell what is kept here; it keeps nobody from revoking a whole id. */
static GBytes *
find (Key *key, const char *text, GError **unlisted, GError **error)
{
  g_autoptr (GPtrArray) infos = key != NULL ? key_list (key, unlisted) : NULL;
  g_autoptr (GBytes) found = NULL;
  guint n = 0;

  for (guint i = 0; strlen (text) >= PREFIX_MIN && infos != NULL && i < infos->len; i++)
    {
      const KeyInfo *info = g_ptr_array_index (infos, i);

      if (!begins_with (info, text) || (found != NULL && g_bytes_equal (found, info->credential)))
        continue;
      n++;
      g_clear_pointer (&found, g_bytes_unref);
      found = g_bytes_ref (info->credential);
    }
  if (n == 0 && strlen (text) >= 2 * PREFIX_MIN)
    found = base64url_decode (text, CREDENTIAL_MAX);
  if (n <= 1 && found != NULL)
    return g_steal_pointer (&found);
  if (*unlisted != NULL)
    g_propagate_error (error, g_steal_pointer (unlisted));
  else
    us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_CREDENTIAL_UNKNOWN,
                  n > 1 ? "more than one passkey begins with that"
                        : "name it by its credential id, or the first 6 or more letters of it");
  return NULL;
}

/* @unlisted: (inout): with it what the service does not know may be the beginning of an id. */
static gboolean
tell_service (Admin *admin, GBytes *credential, GError **unlisted, gboolean *out_known, GError **error)
{
  g_autoptr (GError) local = NULL;

  /* what was revoked before may still be kept here */
  *out_known = admin_revoke (admin, credential, &local) ||
               us_error_has_reason (local, US_REASON_CREDENTIAL_REVOKED);
  if (*out_known)
    return TRUE;
  if (us_error_has_reason (local, US_REASON_CREDENTIAL_UNKNOWN))
    {
      if (*unlisted == NULL)
        return TRUE;
      g_clear_error (&local);
      local = g_steal_pointer (unlisted);
    }
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

/* Nothing was revoked: it may be the beginning of an id that is not listed here. */
static int
nobody_knows (GError **error)
{
  us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_CREDENTIAL_UNKNOWN,
                "no passkey of this id is enrolled or kept here: a security key's is named by all of it%s",
                software_key_unseen ());
  return EXIT_REFUSED;
}

int
verb_passkey_revoke (const Trust *trust, int argc, char **argv, GError **error)
{
  g_autoptr (Key) key = NULL;
  g_autoptr (Admin) admin = NULL;
  g_autoptr (GBytes) credential = NULL;
  g_autoptr (GError) unlisted = NULL, kept = NULL;
  gboolean known = FALSE, removed = FALSE;

  if (!program_parse (
          "passkey revoke", "CREDENTIAL",
          "Revokes a passkey: approvals by it that are not yet used are void.  Where it "
          "is kept here it is removed.  An administrator has to agree.",
          NULL, 1, &argc, &argv, error))
    return EXIT_USAGE;
  key = program_key (NULL, FALSE, &unlisted);
  credential = find (key, argv[1], &unlisted, error);
  admin = credential != NULL ? admin_open (trust, error) : NULL;
  if (admin == NULL)
    return EXIT_REFUSED;

  if (!tell_service (admin, credential, &unlisted, &known, error))
    return EXIT_REFUSED;
  if (key == NULL)
    kept = g_steal_pointer (&unlisted);
  removed = key != NULL && key_forget (key, credential, &kept);
  if (!known && !removed && us_error_has_reason (kept, US_REASON_CREDENTIAL_UNKNOWN))
    return nobody_knows (error);
  if (!removed && !us_error_has_reason (kept, US_REASON_CREDENTIAL_UNKNOWN))
    {
      if (known)
        us_error_about (&kept, "it is revoked, but may be kept here still");
      g_propagate_error (error, g_steal_pointer (&kept));
      return EXIT_REFUSED;
    }
  say (known ? "Revoked." : "It was not enrolled; it is no longer kept here.");
  return EXIT_OK;
}
