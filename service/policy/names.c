/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * User names, uids and groups, as the system knows them.  Whatever cannot be found out, in time or
 * at all, is "there is none"; membership of a group is therefore only ever a reason to let someone
 * in, never to keep someone out.
 */
#include "service/policy/policy.h"

#include "service/policy/child.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#define BUFFER_MAX (1024 * 1024)
#define GROUPS_MAX 65536
#define LOOKUP_MS 2000 /* one question about a group */
#define WINDOW_MS 5000 /* all of them, in one minute */
#define WINDOW_US (60 * G_USEC_PER_SEC)

/* --- users --- */

typedef struct
{
  struct passwd entry;
  char *buffer;
} UserEntry;

static void
user_entry_clear (UserEntry *user)
{
  g_clear_pointer (&user->buffer, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (UserEntry, user_entry_clear)

/* @name: NULL: by @uid */
static gboolean
read_user (const char *name, uid_t uid, UserEntry *user)
{
  for (gsize size = 1024; size <= BUFFER_MAX; size *= 4)
    {
      struct passwd *found = NULL;
      int rc;

      user->buffer = g_realloc (user->buffer, size);
      do
        rc = name != NULL ? getpwnam_r (name, &user->entry, user->buffer, size, &found)
                          : getpwuid_r (uid, &user->entry, user->buffer, size, &found);
      while (rc == EINTR);
      if (rc != ERANGE)
        return rc == 0 && found != NULL;
    }
  return FALSE;
}

static gboolean
system_user_by_name (const char *name, uid_t *out_uid)
{
  g_auto (UserEntry) user = { 0 };

  if (!read_user (name, 0, &user))
    return FALSE;
  *out_uid = user.entry.pw_uid;
  return TRUE;
}

static gboolean
system_user_by_uid (uid_t uid, char **out_name)
{
  g_auto (UserEntry) user = { 0 };

  if (!read_user (NULL, uid, &user))
    return FALSE;
  *out_name = g_strdup (user.entry.pw_name);
  return TRUE;
}

/* --- groups --- */

static gboolean
read_group (const char *name, gid_t *out_gid)
{
  g_autofree char *buffer = NULL;

  for (gsize size = 4096; size <= BUFFER_MAX; size *= 4)
    {
      struct group entry, *found = NULL;
      int rc;

      buffer = g_realloc (buffer, size);
      do
        rc = getgrnam_r (name, &entry, buffer, size, &found);
      while (rc == EINTR);
      if (rc == ERANGE)
        continue;
      if (rc != 0 || found == NULL)
        return FALSE;
      *out_gid = entry.gr_gid;
      return TRUE;
    }
  return FALSE;
}

static gboolean
is_member (const char *user_name, const char *group)
{
  g_auto (UserEntry) user = { 0 };
  g_autofree gid_t *groups = NULL;
  int n = 64, size;
  gid_t gid;

  if (!read_group (group, &gid) || !read_user (user_name, 0, &user))
    return FALSE;
  do
    {
      size = n;
      groups = g_renew (gid_t, groups, (gsize) size);
      if (getgrouplist (user_name, user.entry.pw_gid, groups, &n) < 0 && n <= size)
        n = size * 2;
    }
  while (n > size && n <= GROUPS_MAX);
  for (int i = 0; i < MIN (n, size); i++)
    if (groups[i] == gid)
      return TRUE;
  return FALSE;
}

typedef struct
{
  const char *user, *group;
} Membership;

static gboolean
membership_holds (const void *data)
{
  const Membership *membership = data;

  return is_member (membership->user, membership->group);
}

/* Once directories have cost WINDOW_MS in a minute, every further answer in it is no. */
static gboolean
system_user_in_group (const char *user, const char *group)
{
  static gint64 window, spent;
  const Membership membership = { user, group };
  gint64 start = g_get_monotonic_time ();
  gint64 left;
  gboolean member;

  if (window == 0 || start - window > WINDOW_US)
    {
      window = start;
      spent = 0;
    }
  left = WINDOW_MS - spent / 1000;
  if (left <= 0)
    return FALSE;
  member = child_says_yes (membership_holds, &membership, (int) MIN (left, LOOKUP_MS));
  spent += g_get_monotonic_time () - start;
  return member;
}

const PolicyNames policy_names_system = {
  .user_by_name = system_user_by_name,
  .user_by_uid = system_user_by_uid,
  .user_in_group = system_user_in_group,
};

/* --- for a tree whose users are not on this machine --- */

#define INVENTED_FIRST_UID 100000

static GPtrArray *
invented_names (void)
{
  static GPtrArray *names;

  if (names == NULL)
    names = g_ptr_array_new_with_free_func (g_free);
  return names;
}

static gboolean
invented_user_by_name (const char *name, uid_t *out_uid)
{
  GPtrArray *names = invented_names ();
  guint i = 0;

  if (strcmp (name, "root") == 0)
    {
      *out_uid = 0;
      return TRUE;
    }
  while (i < names->len && strcmp (g_ptr_array_index (names, i), name) != 0)
    i++;
  if (i == names->len)
    g_ptr_array_add (names, g_strdup (name));
  *out_uid = INVENTED_FIRST_UID + i;
  return TRUE;
}

static gboolean
invented_user_by_uid (uid_t uid, char **out_name)
{
  GPtrArray *names = invented_names ();

  if (uid == 0)
    *out_name = g_strdup ("root");
  else if (uid >= INVENTED_FIRST_UID && uid - INVENTED_FIRST_UID < names->len)
    *out_name = g_strdup (g_ptr_array_index (names, uid - INVENTED_FIRST_UID));
  else
    return FALSE;
  return TRUE;
}

static gboolean
invented_user_in_group (const char *user, const char *group)
{
  return FALSE;
}

const PolicyNames policy_names_invented = {
  .user_by_name = invented_user_by_name,
  .user_by_uid = invented_user_by_uid,
  .user_in_group = invented_user_in_group,
};
