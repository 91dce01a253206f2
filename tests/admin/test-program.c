/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of a mechanism's program: it serves where nothing is said, and nowhere else. */
#include "service/mechanism/mechanism.h"

#include "service/base/usage.h"

#include <stdio.h>

static void
test_serves (void)
{
  char *argv[] = { (char *) "/usr/libexec/undersign-x", NULL };
  int status = 7;

  g_assert_true (mechanism_may_serve (1, argv, "undersign-x", &status));
  g_assert_cmpint (status, ==, 7);
}

static void
test_version (void)
{
  char *argv[] = { (char *) "x", (char *) "--version", NULL };
  int status = 7;

  if (g_test_subprocess ())
    {
      g_assert_false (mechanism_may_serve (2, argv, "undersign-x", &status));
      g_assert_cmpint (status, ==, 0);
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout ("*undersign-x *.*.*\n*");
}

static void
test_usage (void)
{
  static const char *const lines[][3] = {
    { "x", "--more", NULL }, { "x", "", NULL }, { "x", "--version", "more" }, { NULL, NULL, NULL }
  };

  if (g_test_subprocess ())
    {
      for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
        {
          int argc = lines[i][0] == NULL ? 0 : lines[i][2] == NULL ? 2 : 3;
          int status = 7;

          g_assert_false (mechanism_may_serve (argc, (char **) lines[i], "undersign-x", &status));
          g_assert_cmpint (status, ==, USAGE_STATUS);
        }
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr ("*undersign-x: bad-value: expected \"undersign-x\" alone\n"
                             "Try \"undersign-x --help\".\n*");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mechanism/program/serves", test_serves);
  g_test_add_func ("/mechanism/program/version", test_version);
  g_test_add_func ("/mechanism/program/usage", test_usage);
  return g_test_run ();
}
