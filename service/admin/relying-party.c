/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A relying party of browsers is a file named after its domain, whose one line `Origin=https://…`
 * is the origin that its ceremonies must have.  Keys on the desktop use `undersign:HOST`, which no
 * browser can claim.
 */
#include "service/admin/relying-party.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/file.h"
#include "service/base/host.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX 1024
#define KEY "Origin=https://"

static gboolean
is_domain (const char *rp)
{
  g_autoptr (JsonTree) tree = NULL;

  if (rp[0] == '\0' || !g_utf8_validate (rp, -1, NULL))
    return FALSE;
  tree = json_tree_new_string (rp);
  return type_check (type_find ("hostname"), "rp", tree, NULL);
}

static char *
origin_read (const AdminConfig *config, const char *rp, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autofree char *text = NULL;
  int dir = dir_open_trusted (AT_FDCWD, config->relying_party_dir, config->policy.owner, &reason);

  if (dir >= 0)
    {
      bytes = file_read_trusted (dir, rp, config->policy.owner, FILE_MAX, &reason);
      close (dir);
    }
  if (bytes == NULL)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "\"rp\" is not configured in %s: %s", config->relying_party_dir,
                    reason->message);
      return NULL;
    }
  text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  g_strchomp (text);
  if (!g_str_has_prefix (text, KEY) || text[strlen (KEY)] == '\0' || strpbrk (text, " \t\r\n"))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "%s/%s must hold one line, Origin=https://…", config->relying_party_dir, rp);
      return NULL;
    }
  return g_strdup (text + strlen ("Origin="));
}

gboolean
relying_party_find (
    const AdminConfig *config, const char *rp, char **out_rp, char **out_origin, GError **error)
{
  g_autofree char *host = host_id (error);
  g_autofree char *own = NULL;
  char *origin = NULL;

  if (host == NULL)
    return FALSE;
  own = g_strconcat ("undersign:", host, NULL);
  if (rp == NULL || strcmp (rp, own) == 0)
    {
      *out_rp = g_strdup (own);
      *out_origin = g_strdup ("");
      return TRUE;
    }
  if (!is_domain (rp))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "\"rp\" must be a domain");
  origin = origin_read (config, rp, error);
  if (origin == NULL)
    return FALSE;
  *out_rp = g_strdup (rp);
  *out_origin = origin;
  return TRUE;
}
