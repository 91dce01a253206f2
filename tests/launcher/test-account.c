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
#include <nss.h>
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
  const char *breaks; /* the directory whose end it is, NULL for each */
  guint at;
} list;

static const char *configuration = "passwd: files systemd\n";
static char *asked; /* the directories, in their order */
static const char *directory = "";

gboolean
g_file_get_contents (const char *path, char **text, gsize *len, GError **error)
{
  g_assert_cmpstr (path, ==, "/etc/nsswitch.conf");
  *text = g_strdup (configuration);
  return *text != NULL ||
         us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "it cannot be read");
}

int
__nss_configure_lookup (const char *database, const char *name)
{
  g_autofree char *before = g_steal_pointer (&asked);

  g_assert_cmpstr (database, ==, "passwd");
  asked = g_strconcat (before != NULL ? before : "", before != NULL ? " | " : "", name, NULL);
  directory = name;
  return 0;
}

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
  if (list.end != 0 && (list.breaks == NULL || g_str_has_prefix (directory, list.breaks)))
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

  g_clear_pointer (&asked, g_free);
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
        assert_account ("the list of users breaks off in \"files\": ");
      }
}

/* Each directory is asked by itself: another that ends as it should hides none that breaks off. */
static void
test_each_directory (void)
{
  static const struct
  {
    const char *text, *asked;
  } cases[] = {
    { "passwd: broken files\n", "broken | broken files" },
    { "# passwd: files\npasswd:files broken systemd\n",
      "files | broken | files broken systemd" },
    { "group: broken\n\tpasswd :\tfiles [NOTFOUND=continue SUCCESS=merge] broken # sss\n",
      "files | broken | files broken" },
    { "passwd: systemd[!UNAVAIL=return]broken files", "systemd | broken | systemd broken files" },
    { "passwdx: broken\npasswd: files # broken\n", NULL },
    { "", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      configuration = cases[i].text;
      list = (typeof (list)){ .others = 2, .end = EIO, .breaks = "broken" };
      assert_account (cases[i].asked != NULL ? "the list of users breaks off in \"broken\": " : NULL);
      g_assert_cmpstr (asked, ==, cases[i].asked != NULL ? cases[i].asked : "files | files");
    }
  configuration = NULL;
  list = (typeof (list)){ .others = 2 };
  assert_account ("it cannot be read");
  configuration = "passwd: files systemd\n";
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
  g_assert_cmpuint (list.at, ==, LONG + 2); /* of the last directory */
  list.has_same = TRUE;
  assert_account ("another user's own");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/launcher-account/breaks-off", test_breaks_off);
  g_test_add_func ("/launcher-account/each-directory", test_each_directory);
  g_test_add_func ("/launcher-account/found-before", test_found_before);
  g_test_add_func ("/launcher-account/ends", test_ends);
  g_test_add_func ("/launcher-account/long", test_long);
  return g_test_run ();
}
