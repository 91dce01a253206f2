/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Goes through the directories of users that nsswitch.conf(5) names, one after the other.  Called by
 * account.c.  getpwent(3) itself goes on with the next one where one breaks off, and then nobody
 * hears of it: so each is asked as if there were no other.
 */
#include "service/launcher/users.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/launcher/look.h"

#include <errno.h>
#include <nss.h>
#include <string.h>

#define CONFIGURATION "/etc/nsswitch.conf"
#define DATABASE "passwd"

static char **
words_split (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_autoptr (GStrvBuilder) found = g_strv_builder_new ();

  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0')
      g_strv_builder_add (found, words[i]);
  return g_strv_builder_end (found);
}

/* Without what is to be done where one has or has not answered, which stands in brackets. */
static char **
words_of (char *text)
{
  gboolean is_action = FALSE;

  for (char *at = text; *at != '\0'; at++)
    {
      const gboolean ends = *at == ']';

      is_action |= *at == '[';
      if (is_action || g_ascii_isspace (*at))
        *at = ' ';
      is_action &= !ends;
    }
  return words_split (text);
}

/* The directories' names; as the C library has it where nothing is said. */
static char **
directories_of (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *line = g_strstrip (lines[i]);
      char *rest = NULL;

      line[strcspn (line, "#")] = '\0';
      if (!g_str_has_prefix (line, DATABASE))
        continue;
      rest = g_strchug (line + strlen (DATABASE));
      if (rest[0] == ':')
        return words_of (rest + 1);
    }
  return g_strsplit ("files", " ", -1);
}

static char **
directories_read (GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autofree char *text = NULL;

  if (g_file_get_contents (CONFIGURATION, &text, NULL, &local) ||
      g_error_matches (local, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return directories_of (text != NULL ? text : "");
  us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY, "%s", local->message);
  return NULL;
}

/* What errno is with an entry says nothing; where a directory is not there, it is ENOENT, or of systemd's
 * EHOSTDOWN. */
static gboolean
find_in (const char *directory,
         gboolean (*is_it) (const struct passwd *entry, gconstpointer data),
         gconstpointer data,
         gboolean *out_found,
         GError **error)
{
  const struct passwd *entry = NULL;
  int number = ENOSYS;

  if (__nss_configure_lookup (DATABASE, directory) == 0)
    {
      setpwent ();
      do
        {
          look_goes_on ();
          errno = 0;
          entry = getpwent ();
          number = errno;
        }
      while (entry != NULL && !is_it (entry, data));
      endpwent ();
    }
  *out_found = entry != NULL;
  return entry != NULL || number == 0 || number == ENOENT || number == EHOSTDOWN ||
         us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY,
                       "the list of users breaks off in \"%s\": %s", directory,
                       g_strerror (number));
}

gboolean
users_find (gboolean (*is_it) (const struct passwd *entry, gconstpointer data),
            gconstpointer data,
            gboolean *out_found,
            GError **error)
{
  g_auto (GStrv) directories = directories_read (error);
  g_autofree char *all = directories != NULL ? g_strjoinv (" ", directories) : NULL;
  gboolean good = directories != NULL;

  *out_found = FALSE;
  for (guint i = 0; good && directories[i] != NULL && !*out_found; i++)
    good = find_in (directories[i], is_it, data, out_found, error);
  if (all != NULL)
    __nss_configure_lookup (DATABASE, all);
  return good;
}
