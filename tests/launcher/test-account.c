/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Users of the system that are the test's own: a list of them that ends as it should, breaks off,
 * or is very long.  Nobody is started as a user whose group may be somebody else's.
 */
#include "service/launcher/account.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#define UID 4000
#define OWNER 1000
#define LONG 1000000 /* entries */

static struct passwd agent = { .pw_name = (char *) "agent-a",
                               .pw_uid = UID,
                               .pw_gid = UID,
                               .pw_dir = (char *) "/home/agent-a",
                               .pw_shell = (char *) "/usr/sbin/nologin" };

/* What the list has: the agent, so many others, perhaps one of its group; and how it ends. */
static struct
{
  guint others;
  gboolean has_same;
  int noise; /* errno with each entry */
  int end;   /* and at the end, 0 for as it was */
  guint at;
} list;

int
getpwuid_r (uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **out)
{
  *entry = agent;
  *out = entry;
  return 0;
}

int
getgrgid_r (gid_t gid, struct group *entry, char *buffer, size_t size, struct group **out)
{
  static char *nobody[] = { NULL };

  *entry = (struct group){ .gr_name = agent.pw_name, .gr_gid = gid, .gr_mem = nobody };
  *out = entry;
  return 0;
}

int
getgrouplist (const char *user, gid_t group, gid_t *groups, int *n)
{
  groups[0] = group;
  *n = 1;
  return 1;
}

void
setpwent (void)
{
  list.at = 0;
}

struct passwd *
getpwent (void)
{
  static struct passwd other = { .pw_name = (char *) "other" };
  const guint at = list.at++;

  if (list.noise != 0)
    errno = list.noise;
  if (at == 0)
    return &agent;
  other.pw_uid = UID + at;
  other.pw_gid = at > list.others ? UID : UID + at;
  if (at <= list.others || (list.has_same && at == list.others + 1))
    return &other;
  if (list.noise != 0)
    errno = 0;
  if (list.end != 0)
    errno = list.end;
  return NULL;
}

void
endpwent (void)
{
}

static void
assert_account (const char *why)
{
  g_autoptr (GError) error = NULL;
  gboolean good = FALSE;

  errno = EIO; /* of something else, before */
  good = account_check (UID, OWNER, "agent-", "a", &error);
  if (why == NULL)
    g_assert_no_error (error);
  g_assert_cmpint (good, ==, why == NULL);
  g_assert_true (why == NULL || (us_error_has_reason (error, US_REASON_IDENTITY) &&
                                 strstr (error->message, why) != NULL));
}

static void
test_breaks_off (void)
{
  static const int numbers[] = { EIO, EAGAIN, EINTR, EMFILE, ENOMEM, ERANGE, ECONNREFUSED, EACCES };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    for (guint others = 0; others < 3; others++)
      {
        list = (typeof (list)){ .others = others, .end = numbers[i] };
        assert_account ("the list of users breaks off: ");
      }
}

/* It is known by then. */
static void
test_found_before (void)
{
  list = (typeof (list)){ .others = 2, .has_same = TRUE, .end = EIO };
  assert_account ("another user's own");
}

static void
test_ends (void)
{
  static const int noises[] = { 0, ERANGE, EAGAIN, EIO };

  for (guint i = 0; i < G_N_ELEMENTS (noises); i++)
    {
      list = (typeof (list)){ .others = 3, .noise = noises[i] };
      assert_account (NULL);
      list = (typeof (list)){ .others = 3, .noise = noises[i], .has_same = TRUE };
      assert_account ("another user's own");
    }
  /* A directory that is not there at all. */
  list = (typeof (list)){ .others = 3, .end = ENOENT };
  assert_account (NULL);
}

/* Also where it is the last of very many. */
static void
test_long (void)
{
  list = (typeof (list)){ .others = LONG };
  assert_account (NULL);
  g_assert_cmpuint (list.at, ==, LONG + 2);
  list.has_same = TRUE;
  assert_account ("another user's own");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/launcher-account/breaks-off", test_breaks_off);
  g_test_add_func ("/launcher-account/found-before", test_found_before);
  g_test_add_func ("/launcher-account/ends", test_ends);
  g_test_add_func ("/launcher-account/long", test_long);
  return g_test_run ();
}
