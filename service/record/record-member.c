/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the members of a record and of a statement that are not typed values are spelled: names, ids,
 * uids, digests.  Only the record layer calls this.  Policy and broker check the same things
 * earlier and may be stricter; nothing that fails here is ever shown or signed.
 */
#include "dbus/error.h"
#include "service/base/pae.h"
#include "service/record/record-private.h"
#include "service/record/type-private.h"

#include <string.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

gboolean
member_is_name (const char *text)
{
  gsize len = strlen (text);

  return len <= RECORD_MAX_NAME && g_ascii_islower (text[0]) &&
         strspn (text, LOWER DIGITS "_-") == len;
}

gboolean
member_is_action (const char *text)
{
  gsize len = strlen (text);

  if (len > RECORD_MAX_ACTION || strspn (text, LOWER DIGITS "_-.") != len ||
      strchr (text, '.') == NULL)
    return FALSE;
  if (!g_ascii_islower (text[0]))
    return FALSE;
  for (const char *dot = strchr (text, '.'); dot != NULL; dot = strchr (dot + 1, '.'))
    if (!g_ascii_islower (dot[1]))
      return FALSE;
  return TRUE;
}

gboolean
member_is_credential (const char *text)
{
  gsize len = strlen (text);

  return len <= RECORD_MAX_NAME && (g_ascii_islower (text[0]) || g_ascii_isdigit (text[0])) &&
         strspn (text, LOWER DIGITS "._-") == len;
}

gboolean
member_is_user (const char *text)
{
  return text[0] != '\0' && type_check_string (type_find ("account"), "", text, NULL);
}

gboolean
member_is_label (const char *text)
{
  return text[0] != '\0' && strlen (text) <= RECORD_MAX_LABEL &&
         type_check_string (type_find ("line"), "", text, NULL);
}

gboolean
member_is_effect (const char *text)
{
  return strcmp (text, "irreversible") == 0 || strcmp (text, "reversible") == 0 ||
         strcmp (text, "read") == 0;
}

gboolean
member_is_digest (const char *text)
{
  guint8 digest[PAE_DIGEST_SIZE];

  return digest_from_string (text, digest);
}

gboolean
member_parse_uid (const char *text, guint32 *out_uid)
{
  guint64 uid;

  if (!g_ascii_isdigit (text[0]) || (text[0] == '0' && text[1] != '\0') ||
      !g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT32 - 1, &uid, NULL))
    return FALSE;
  if (out_uid != NULL)
    *out_uid = (guint32) uid;
  return TRUE;
}

gboolean
member_check_names (const JsonTree *object,
                    const char *where,
                    const char *const *required,
                    const char *const *optional,
                    const char *reason,
                    GError **error)
{
  if (json_tree_kind (object) != JSON_TREE_OBJECT)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, reason, "%s is not an object", where);
  for (guint i = 0; required[i] != NULL; i++)
    if (json_tree_member (object, required[i]) == NULL)
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, reason, "%s has no member %s", where,
                           required[i]);
  for (guint i = 0; i < json_tree_length (object); i++)
    {
      const char *name = json_tree_name (object, i);

      if (!g_strv_contains (required, name) && !g_strv_contains (optional, name))
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, reason, "%s has a member too many",
                             where);
    }
  return TRUE;
}
