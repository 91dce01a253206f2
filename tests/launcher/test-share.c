/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which folders an owner may share, as far as a plain user can tell: mounting takes root. */
#include "service/launcher/share.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Both looks at a folder, as one. */
static Share *
share_given (int fd, ShareAccess access, uid_t owner, const char *home, GError **error)
{
  g_autoptr (Share) share = share_new (fd, access, error);

  return share != NULL && share_look (share, owner, home, error) ? g_steal_pointer (&share) : NULL;
}

typedef struct
{
  char *top, *home, *project;
  gboolean can_map; /* the file system of the tests */
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Share) share = NULL;
  g_autoptr (GError) error = NULL;

  fixture->top = g_dir_make_tmp ("undersign-share-XXXXXX", NULL);
  g_assert_nonnull (fixture->top);
  fixture->home = g_build_filename (fixture->top, "home", NULL);
  fixture->project = g_build_filename (fixture->home, "project", NULL);
  g_assert_cmpint (g_mkdir_with_parents (fixture->project, 0700), ==, 0);
  share = share_given (open (fixture->project, O_PATH), SHARE_READ_WRITE, getuid (), fixture->home,
                       &error);
  fixture->can_map = share != NULL;
  if (share == NULL)
    g_assert_true (us_error_has_reason (error, US_REASON_NO_IDMAP));
  else
    g_assert_cmpstr (share->path, ==, fixture->project);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_rmdir (fixture->project);
  g_rmdir (fixture->home);
  g_rmdir (fixture->top);
  g_free (fixture->project);
  g_free (fixture->home);
  g_free (fixture->top);
}

/* Where nothing of the file system can be shared, that is the reason for all of it. */
static void
assert_refused (Fixture *fixture, const char *path, int flags, uid_t owner, const char *home)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Share) share = share_given (open (path, flags), SHARE_READ_WRITE, owner, home, &error);

  g_assert_null (share);
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_SHARE) ||
                 (us_error_has_reason (error, US_REASON_NO_IDMAP) && !fixture->can_map));
}

static void
test_refused (Fixture *fixture, gconstpointer data)
{
  g_autofree char *file = g_build_filename (fixture->top, "file", NULL);
  g_autofree char *link = g_build_filename (fixture->top, "link", NULL);
  g_autofree char *spaced = g_build_filename (fixture->top, "a :b", NULL);
  g_autofree char *control = g_build_filename (fixture->top, "a\nb", NULL);

  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  g_assert_cmpint (symlink (fixture->project, link), ==, 0);
  g_assert_cmpint (g_mkdir (control, 0700), ==, 0);
  g_assert_cmpint (g_mkdir (spaced, 0700), ==, 0);
  assert_refused (fixture, file, O_PATH, getuid (), fixture->home);
  assert_refused (fixture, link, O_PATH | O_NOFOLLOW, getuid (), fixture->home);
  assert_refused (fixture, control, O_PATH, getuid (), fixture->home);
  /* Another's. */
  assert_refused (fixture, fixture->project, O_PATH, getuid () + 1, fixture->home);
  /* The home, by either of two names, and what holds it. */
  assert_refused (fixture, fixture->project, O_PATH, getuid (), fixture->project);
  assert_refused (fixture, fixture->project, O_PATH, getuid (), link);
  assert_refused (fixture, fixture->top, O_PATH, getuid (), fixture->home);
  assert_refused (fixture, spaced, O_PATH, getuid (), fixture->home);
  g_unlink (file);
  g_unlink (link);
  g_rmdir (spaced);
  g_rmdir (control);
}

static void
assert_project (Fixture *fixture, ShareAccess access, gboolean good)
{
  g_autoptr (GError) error = NULL;
  autofd fd = open (fixture->project, O_PATH);
  const Share share = { .fd = fd, .access = access, .path = fixture->project };

  g_assert_cmpint (share_look (&share, getuid (), fixture->home, &error), ==, good);
  g_assert_true (good || us_error_has_reason (error, US_REASON_BAD_SHARE));
  /* Who is refused is told what else there is. */
  g_assert_true (
      good || (strstr (error->message, ":git") != NULL && strstr (error->message, ":ro") != NULL));
}

/* Makes what @names say: "a/" a folder, "a>" a link, "a" a file; or takes it away again. */
static void
make_files (Fixture *fixture, const char *const *names, gboolean away)
{
  const guint n = g_strv_length ((char **) names);

  for (guint i = 0; i < n; i++)
    {
      const char *name = names[away ? n - 1 - i : i];
      const gsize len = strcspn (name, ">");
      g_autofree char *plain = g_strndup (name, len);
      g_autofree char *path = g_build_filename (fixture->project, plain, NULL);

      if (away)
        g_assert_cmpint (g_remove (path), ==, 0);
      else if (name[len] == '>')
        g_assert_cmpint (symlink ("elsewhere", path), ==, 0);
      else if (g_str_has_suffix (name, "/"))
        g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
      else
        g_assert_true (g_file_set_contents (path, "gitdir: ./.bare\n", -1, NULL));
    }
}

/* What leads to somewhere else, from .git or from its place, stays the agent's to write. */
static void
test_git (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *names[5];
    gboolean good;
  } cases[] = {
    { { ".git>" }, FALSE },
    { { ".git" }, FALSE },
    { { ".git", ".bare/" }, FALSE },
    { { ".git/", ".git/commondir" }, FALSE },
    { { ".git/", ".git/commondir>" }, FALSE },
    { { ".git/", ".git/hooks>" }, FALSE },
    { { ".git/", ".git/hooks/", ".git/hooks/pre-commit>" }, FALSE },
    { { ".git/", ".git/hooks/", ".git/hooks/a", ".git/hooks/b>" }, FALSE },
    { { ".git/", ".git/modules>" }, FALSE },
    { { ".git/", ".git/config>" }, FALSE },
    { { ".git/", ".git/config.worktree>" }, FALSE },
    { { "HEAD", "objects/", "refs/" }, FALSE },
    { { "HEAD>", "objects>", "refs>" }, FALSE },
    { { ".git/", ".git/config", ".git/hooks/" }, TRUE },
    { { ".git/", ".git/HEAD", ".git/objects/" }, TRUE },
    { { ".git/", ".git/hooks" }, TRUE },
    { { ".git/", ".git/modules/", ".git/modules/a>" }, TRUE },
    { { ".git/", ".git/hooks/", ".git/hooks/pre-commit", ".git/hooks/d/" }, TRUE },
    { { "HEAD", "commondir" }, FALSE },
    { { ".git/", "HEAD", "objects/", "refs/" }, FALSE },
    { { ".git/", ".git/HEAD", "HEAD", "commondir" }, FALSE },
    { { ".git/", "HEAD", "objects/" }, TRUE },
    { { "HEAD", "objects/" }, TRUE },
    { { "objects/", "refs/", "commondir" }, TRUE },
    { { NULL }, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("%s", cases[i].names[0] != NULL ? cases[i].names[0] : "nothing");
      make_files (fixture, cases[i].names, FALSE);
      assert_project (fixture, SHARE_READ_WRITE, cases[i].good);
      assert_project (fixture, SHARE_READ_ONLY, TRUE);
      assert_project (fixture, SHARE_READ_WRITE_GIT, TRUE);
      make_files (fixture, cases[i].names, TRUE);
    }
}

/* As many as anybody has; what nobody reads to its end is refused. */
static void
test_hooks (Fixture *fixture, gconstpointer data)
{
  static const char *const folders[] = { ".git/", ".git/hooks/", NULL };

  make_files (fixture, folders, FALSE);
  for (guint i = 0; i <= 256; i++)
    {
      g_autofree char *name = g_strdup_printf (".git/hooks/%u", i);
      const char *const names[] = { name, NULL };

      assert_project (fixture, SHARE_READ_WRITE, TRUE);
      make_files (fixture, names, FALSE);
    }
  assert_project (fixture, SHARE_READ_WRITE, FALSE);
  for (guint i = 0; i <= 256; i++)
    {
      g_autofree char *name = g_strdup_printf (".git/hooks/%u", i);
      const char *const names[] = { name, NULL };

      make_files (fixture, names, TRUE);
    }
  make_files (fixture, folders, TRUE);
}

static void
test_places (void)
{
  static const char *const paths[] = { "/", "/etc", "/usr", "/proc", "/proc/self", "/dev" };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Share) share =
          share_given (open (paths[i], O_PATH), SHARE_READ_ONLY, 0, "/nowhere", &error);

      g_assert_null (share);
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_SHARE) ||
                     us_error_has_reason (error, US_REASON_NO_IDMAP));
    }
}

static void
test_apart (void)
{
  static const struct
  {
    const char *one, *other;
    gboolean apart;
  } cases[] = {
    { "/a/b", "/a/b", FALSE }, { "/a/b", "/a/b/c", FALSE }, { "/a/b/c", "/a/b", FALSE },
    { "/a/b", "/a/bc", TRUE }, { "/a/b", "/a/c", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Share one = { .fd = -1, .path = (char *) cases[i].one };
      const Share other = { .fd = -1, .path = (char *) cases[i].other };

      g_assert_cmpint (share_is_apart (&one, &other), ==, cases[i].apart);
    }
}

static void
test_words (void)
{
  ShareAccess access = SHARE_READ_ONLY;

  for (guint i = SHARE_READ_ONLY; i <= SHARE_READ_WRITE_GIT; i++)
    {
      g_assert_true (share_access_parse (share_access_name ((ShareAccess) i), &access));
      g_assert_cmpint (access, ==, i);
    }
  g_assert_false (share_access_parse ("", &access));
  g_assert_false (share_access_parse ("read", &access));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/launcher-share/refused", Fixture, NULL, set_up, test_refused, tear_down);
  g_test_add ("/launcher-share/git", Fixture, NULL, set_up, test_git, tear_down);
  g_test_add ("/launcher-share/hooks", Fixture, NULL, set_up, test_hooks, tear_down);
  g_test_add_func ("/launcher-share/places", test_places);
  g_test_add_func ("/launcher-share/apart", test_apart);
  g_test_add_func ("/launcher-share/words", test_words);
  return g_test_run ();
}
