/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Judges paths by their text, and by who can change what they lead to.  Called by share.c. */
#include "service/launcher/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What ProtectHome=tmpfs and PrivateTmp=yes of unit.c empty. */
static const char *const homes[] = { "/home", "/root", "/run/user", NULL };
static const char *const emptied[] = { "/home", "/root", "/run/user", "/tmp", "/var/tmp", NULL };

char *
path_flaw (const char *path)
{
  if (path[0] != '/')
    return g_strdup ("is not absolute");
  if (!g_utf8_validate (path, -1, NULL))
    return g_strdup ("is no UTF-8");
  for (const char *c = path; *c != '\0'; c = g_utf8_next_char (c))
    {
      const gunichar found = g_utf8_get_char (c);

      if (found < 0x80 && strchr ("\\\"':;%$", (int) found) != NULL)
        return g_strdup_printf ("has the character %c (U+%04X)", (char) found, (guint) found);
      if (!g_unichar_isprint (found) || g_unichar_isspace (found))
        return g_strdup_printf ("has the character U+%04X", (guint) found);
    }
  return NULL;
}

/* Asks no file system that a person may serve. */
static gboolean
is_of_root (const char *folder)
{
  struct statx status;

  return statx (AT_FDCWD, folder, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_BASIC_STATS,
                &status) == 0 &&
         S_ISDIR (status.stx_mode) && status.stx_uid == 0 && (status.stx_mode & 022) == 0;
}

gboolean
path_is_steady (const char *path)
{
  if (path[0] != '/' || !is_of_root ("/"))
    return FALSE;
  for (const char *end = strchr (path + 1, '/'); end != NULL; end = strchr (end + 1, '/'))
    {
      g_autofree char *folder = g_strndup (path, (gsize) (end - path));

      if (!is_of_root (folder))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_in (const char *path, const char *folder)
{
  const gsize len = strlen (folder);

  return strncmp (path, folder, len) == 0 && path[len] == '/';
}

gboolean
home_is_elsewhere (const char *home)
{
  g_autofree char *path = g_canonicalize_filename (home, "/");

  for (guint i = 0; homes[i] != NULL; i++)
    if (is_in (path, homes[i]))
      return FALSE;
  return strcmp (path, "/") != 0;
}

char *
home_flaw (const char *home)
{
  g_autofree char *flaw = path_flaw (home);

  if (flaw == NULL && !path_is_steady (home))
    flaw = g_strdup ("is in a folder that is not root's, or that others write");
  if (flaw == NULL && !g_file_test (home, G_FILE_TEST_IS_DIR))
    flaw = g_strdup ("leads to no folder, so that it cannot be kept from the agent");
  return g_steal_pointer (&flaw);
}

gboolean
path_is_hidden (const char *path, const char *home)
{
  for (guint i = 0; emptied[i] != NULL; i++)
    {
      /* systemd follows a link in its place, as in /home to /var/home. */
      char *real = realpath (emptied[i], NULL);
      const gboolean is_there = real != NULL && is_in (path, real);

      free (real);
      if (is_there)
        return TRUE;
    }
  return home_is_elsewhere (home) && is_in (path, home);
}
