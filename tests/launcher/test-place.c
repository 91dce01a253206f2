/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which paths may stand in a unit, and where systemd may make folders for what is mounted. */
#include "service/launcher/place.h"

#include <glib/gstdio.h>
#include <unistd.h>

static void
test_flaw (void)
{
  static const char *const plain[] = { "/", "/home/a/b-c_d.e", "/srv/\xc3\xa4+~@!,=(#)" };
  static const struct
  {
    const char *path, *flaw;
  } cases[] = {
    { "", "is not absolute" },
    { "a", "is not absolute" },
    { "/a\xff", "is no UTF-8" },
    { "/a\nExecStopPost=+x", "has the character U+000A" },
    { "/a\tb", "has the character U+0009" },
    { "/a\x7f", "has the character U+007F" },
    { "/a /root/x:/y", "has the character U+0020" },
    { "/a\xc2\xa0", "has the character U+00A0" },
    { "/a\xe2\x80\xa8", "has the character U+2028" },
    { "/a\xe2\x80\xae", "has the character U+202E" },
    { "/a:b", "has the character : (U+003A)" },
    { "/a;b", "has the character ; (U+003B)" },
    { "/a%h", "has the character % (U+0025)" },
    { "/a$b", "has the character $ (U+0024)" },
    { "/a\\x20b", "has the character \\ (U+005C)" },
    { "/a\"b", "has the character \" (U+0022)" },
    { "/a'b", "has the character ' (U+0027)" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    {
      g_autofree char *flaw = path_flaw (plain[i]);

      g_assert_cmpstr (flaw, ==, NULL);
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *flaw = path_flaw (cases[i].path);

      g_assert_cmpstr (flaw, ==, cases[i].flaw);
    }
}

static void
test_steady (void)
{
  g_autofree char *top = g_dir_make_tmp ("undersign-place-XXXXXX", NULL);
  g_autofree char *below = g_build_filename (top, "x", NULL);

  g_assert_true (path_is_steady ("/usr/bin/x"));
  g_assert_true (path_is_steady ("/x"));
  g_assert_false (path_is_steady ("x"));
  g_assert_false (path_is_steady ("/nowhere/x"));
  /* A link, and what everybody may write, sticky or not. */
  g_assert_false (path_is_steady ("/proc/self/x"));
  g_assert_false (path_is_steady ("/tmp/x"));
  g_assert_false (path_is_steady (below));
  g_rmdir (top);
}

static void
test_elsewhere (void)
{
  static const char *const known[] = { "/home/a", "/home/a/", "/root/a", "/run/user/1/a", "/", "" };
  static const char *const elsewhere[] = { "/srv/a", "/homes/a", "/home", "/home/../srv/a", "a" };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    g_assert_false (home_is_elsewhere (known[i]));
  for (guint i = 0; i < G_N_ELEMENTS (elsewhere); i++)
    g_assert_true (home_is_elsewhere (elsewhere[i]));
}

static void
test_home_flaw (void)
{
  static const char *const bad[] = { "/usr/not-there", "/etc/passwd", "/tmp/home", "usr", "/usr/a b" };
  g_autofree char *none = home_flaw ("/usr/bin");

  g_assert_null (none);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *flaw = home_flaw (bad[i]);

      g_test_message ("%s %s", bad[i], flaw);
      g_assert_nonnull (flaw);
    }
}

static void
test_hidden (void)
{
  g_assert_true (path_is_hidden ("/home/a/b", "/home/a"));
  g_assert_true (path_is_hidden ("/tmp/b", "/home/a"));
  g_assert_true (path_is_hidden ("/var/tmp/b", "/home/a"));
  g_assert_false (path_is_hidden ("/home", "/home/a"));
  g_assert_false (path_is_hidden ("/homes/b", "/home/a"));
  g_assert_false (path_is_hidden ("/srv/b", "/home/a"));
  /* A home elsewhere, of which one that is not there is refused. */
  g_assert_true (path_is_hidden ("/usr/bin/x", "/usr/bin"));
  g_assert_false (path_is_hidden ("/usr/bin", "/usr/bin"));
  g_assert_true (path_is_hidden ("/nowhere/x", "/nowhere"));
  g_assert_false (path_is_hidden ("/srv/b", "/"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/launcher-place/flaw", test_flaw);
  g_test_add_func ("/launcher-place/steady", test_steady);
  g_test_add_func ("/launcher-place/elsewhere", test_elsewhere);
  g_test_add_func ("/launcher-place/home-flaw", test_home_flaw);
  g_test_add_func ("/launcher-place/hidden", test_hidden);
  return g_test_run ();
}
