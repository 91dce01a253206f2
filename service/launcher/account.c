/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps launch-own from being a way to a person's account, or to what a group may.  Called by
 * order.c for the user of an agent's file, which an administrator may have named by mistake.  All
 * directories of users are asked, and one may not answer: account_check() is for a child of look.h.
 */
#include "service/launcher/account.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include "service/launcher/unit.h"
#include "service/launcher/users.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#define ENTRY_MIN 1024
#define ENTRY_MAX (1024 * 1024)

static const char *const no_login[] = { "/usr/sbin/nologin",
                                        "/sbin/nologin",
                                        "/usr/bin/nologin",
                                        "/bin/nologin",
                                        "/usr/bin/false",
                                        "/bin/false",
                                        NULL };

static gboolean
refuse (GError **error, const char *user, const char *why)
{
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY,
                       "nothing is started as %s, which is no agent's own user: %s", user, why);
}

gboolean
account_read (uid_t uid, struct passwd *out, char **out_buffer, GError **error)
{
  for (gsize size = ENTRY_MIN; size <= ENTRY_MAX; size *= 4)
    {
      g_autofree char *buffer = g_malloc (size);
      struct passwd *found = NULL;
      const int status = getpwuid_r (uid, out, buffer, size, &found);

      if (status == 0 && found != NULL)
        {
          *out_buffer = g_steal_pointer (&buffer);
          return TRUE;
        }
      if (status != ERANGE && status != EINTR)
        break;
    }
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY, "uid %u has no name",
                       (guint) uid);
}

static gboolean
group_read (gid_t gid, struct group *out, char **out_buffer)
{
  for (gsize size = ENTRY_MIN; size <= ENTRY_MAX; size *= 4)
    {
      g_autofree char *buffer = g_malloc (size);
      struct group *found = NULL;
      const int status = getgrgid_r (gid, out, buffer, size, &found);

      if (status == 0 && found != NULL)
        {
          *out_buffer = g_steal_pointer (&buffer);
          return TRUE;
        }
      if (status != ERANGE && status != EINTR)
        break;
    }
  return FALSE;
}

static gboolean
has_same_group (const struct passwd *entry, gconstpointer data)
{
  const struct passwd *user = data;

  return entry->pw_gid == user->pw_gid && entry->pw_uid != user->pw_uid;
}

/* A group's entry does not name those whose own group it is. */
static gboolean
check_others (const struct passwd *user, GError **error)
{
  gboolean found = TRUE;

  if (!users_find (has_same_group, user, &found, error))
    {
      g_autofree char *what = g_strdup_printf (
          "nothing is started as %s: whether its group is another user's own, too, is not known",
          user->pw_name);

      us_error_about (error, what);
      return FALSE;
    }
  return !found || refuse (error, user->pw_name, "its group is another user's own, too");
}

/* Its group is nobody else's. */
static gboolean
check_group (const struct passwd *user, GError **error)
{
  g_autofree char *buffer = NULL;
  struct group entry;

  if (!group_read (user->pw_gid, &entry, &buffer))
    return refuse (error, user->pw_name, "its group cannot be read");
  if (strcmp (entry.gr_name, user->pw_name) != 0)
    return refuse (error, user->pw_name, "its group has another name");
  for (guint i = 0; entry.gr_mem[i] != NULL; i++)
    if (strcmp (entry.gr_mem[i], user->pw_name) != 0)
      return refuse (error, user->pw_name, "its group has other members");
  return TRUE;
}

static gboolean
check_groups (const struct passwd *user, GError **error)
{
  gid_t groups[2] = { 0 };
  int n = G_N_ELEMENTS (groups);

  if (getgrouplist (user->pw_name, user->pw_gid, groups, &n) != 1 || groups[0] != user->pw_gid)
    return refuse (error, user->pw_name, "it is in more groups than its own");
  return TRUE;
}

/* A service's user may be all that besides; its files would be the owner's to use. */
static gboolean
is_made_for (const struct passwd *user, const char *prefix, const char *agent)
{
  g_autofree char *name = g_strconcat (prefix, agent, NULL);
  g_autofree char *home = unit_home (agent);

  return strcmp (user->pw_name, name) == 0 || strcmp (user->pw_dir, home) == 0;
}

gboolean
account_check (uid_t uid, uid_t owner, const char *prefix, const char *agent, GError **error)
{
  g_autofree char *buffer = NULL;
  struct passwd entry;

  if (!account_read (uid, &entry, &buffer, error))
    return FALSE;
  if (uid == 0 || uid == owner || entry.pw_gid == 0)
    return refuse (error, entry.pw_name, "it is root, in root's group, or the owner");
  if (!g_strv_contains (no_login, entry.pw_shell))
    return refuse (error, entry.pw_name, "its shell is neither nologin nor false");
  if (!is_made_for (&entry, prefix, agent))
    return refuse (error, entry.pw_name,
                   "it is neither called agent- and the agent's name, nor is its home that of the "
                   "agent's commands");
  return check_group (&entry, error) && check_groups (&entry, error) &&
         check_others (&entry, error);
}
