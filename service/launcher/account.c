/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps launch-own from being a way to a person's account, or to what a group may.  Called by
 * order.c for the user of an agent's file, which an administrator may have named by mistake.
 */
#include "service/launcher/account.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>

#define ENTRY_BYTES 4096

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

/* Its group is nobody else's. */
static gboolean
check_group (const struct passwd *user, GError **error)
{
  struct group entry, *found = NULL;
  char buffer[ENTRY_BYTES];

  if (getgrgid_r (user->pw_gid, &entry, buffer, sizeof buffer, &found) != 0 || found == NULL)
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

gboolean
account_check (uid_t uid, uid_t owner, GError **error)
{
  struct passwd entry, *found = NULL;
  char buffer[ENTRY_BYTES];

  if (getpwuid_r (uid, &entry, buffer, sizeof buffer, &found) != 0 || found == NULL)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY, "uid %u has no name",
                         (guint) uid);
  if (uid == 0 || uid == owner || entry.pw_gid == 0)
    return refuse (error, entry.pw_name, "it is root, in root's group, or the owner");
  if (!g_strv_contains (no_login, entry.pw_shell))
    return refuse (error, entry.pw_name, "its shell is neither nologin nor false");
  return check_group (&entry, error) && check_groups (&entry, error);
}
