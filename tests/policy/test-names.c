/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names as the system knows them, and that a lookup cannot hold us. */
#include "service/policy/child.h"
#include "service/policy/policy.h"

#include <grp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static gboolean
say_yes (const void *data)
{
  return TRUE;
}

static gboolean
say_no (const void *data)
{
  return FALSE;
}

static gboolean
hang (const void *data)
{
  pause ();
  return TRUE;
}

static gboolean
crash (const void *data)
{
  raise (SIGKILL);
  return TRUE;
}

static gboolean
leave (const void *data)
{
  _exit (0);
}

/* Whether a descriptor of the parent is open in the child. */
static gboolean
holds (const void *data)
{
  return dup (*(const int *) data) >= 0;
}

static void
test_child (void)
{
  int ends[2];

  g_assert_cmpint (pipe (ends), ==, 0);
  g_assert_false (child_says_yes (hang, NULL, 50));
  g_assert_false (child_says_yes (crash, NULL, 10000));
  g_assert_false (child_says_yes (leave, NULL, 10000));
  g_assert_false (child_says_yes (say_no, NULL, 10000));
  g_assert_false (child_says_yes (holds, &ends[1], 10000));
  g_assert_true (child_says_yes (say_yes, NULL, 10000));
  close (ends[0]);
  close (ends[1]);
}

static void
test_users (void)
{
  const PolicyNames *names = &policy_names_system;
  g_autofree char *name = NULL, *none = NULL;
  uid_t uid = 7;

  g_assert_false (names->user_by_name ("no such user", &uid));
  g_assert_false (names->user_by_name ("", &uid));
  g_assert_cmpuint (uid, ==, 7);
  g_assert_false (names->user_by_uid ((uid_t) -7, &none));
  g_assert_null (none);
  g_assert_true (names->user_by_name ("root", &uid));
  g_assert_cmpuint (uid, ==, 0);
  g_assert_true (names->user_by_uid (0, &name));
  g_assert_cmpstr (name, ==, "root");
}

static void
test_groups (void)
{
  const PolicyNames *names = &policy_names_system;
  const struct group *root = getgrgid (0);

  g_assert_false (names->user_in_group ("root", "no such group"));
  g_assert_false (names->user_in_group ("no such user", root->gr_name));
  g_assert_true (names->user_in_group ("root", root->gr_name));
}

static void
test_invented (void)
{
  const PolicyNames *names = &policy_names_invented;
  g_autofree char *name = NULL;
  uid_t a = 0, again = 0, b = 0, root = 1;

  g_assert_true (names->user_by_name ("a", &a));
  g_assert_true (names->user_by_name ("b", &b));
  g_assert_true (names->user_by_name ("a", &again));
  g_assert_true (names->user_by_name ("root", &root));
  g_assert_cmpuint (a, ==, again);
  g_assert_cmpuint (a, !=, b);
  g_assert_cmpuint (root, ==, 0);
  g_assert_true (names->user_by_uid (b, &name));
  g_assert_cmpstr (name, ==, "b");
  g_assert_false (names->user_by_uid (b + 1, &name));
  g_assert_false (names->user_in_group ("a", "a"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/names/child", test_child);
  g_test_add_func ("/policy/names/users", test_users);
  g_test_add_func ("/policy/names/groups", test_groups);
  g_test_add_func ("/policy/names/invented", test_invented);
  return g_test_run ();
}
