/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is between a command and whoever had it started: who is told, and who can't be any more. */
#include "service/launcher/ends.h"

#include "service/base/fd.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void
make_link (int *near, int *far)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (ends_link (near, far, &error));
  g_assert_no_error (error);
}

static void
test_nobody (void)
{
  autofd near = -1, far = -1;

  make_link (&near, &far);
  fd_clear (&far);
  g_assert_false (ends_say (near, "exited 0\n"));
}

/* Who leaves shuts the end before it is closed: what was not said by then never is. */
static void
test_left (void)
{
  autofd near = -1, far = -1;
  char byte = 0;

  make_link (&near, &far);
  g_assert_cmpint (shutdown (far, SHUT_RDWR), ==, 0);
  g_assert_false (ends_say (near, "exited 0\n"));
  g_assert_cmpint (read (far, &byte, 1), ==, 0);
}

/* And what was said is there, also for who shuts it then. */
static void
test_told (void)
{
  autofd near = -1, far = -1;
  char word[16] = "";

  make_link (&near, &far);
  g_assert_true (ends_say (near, "exited 0\n"));
  g_assert_cmpint (shutdown (far, SHUT_RDWR), ==, 0);
  g_assert_cmpint (read (far, word, sizeof word - 1), ==, 9);
  g_assert_cmpstr (word, ==, "exited 0\n");
}

static void
test_terminal (void)
{
  autofd master = -1, slave = -1;
  g_autoptr (GError) error = NULL;
  struct winsize size = { 0 };

  g_assert_true (ends_terminal (24, 80, &master, &slave, &error));
  g_assert_no_error (error);
  g_assert_cmpint (ioctl (slave, TIOCGWINSZ, &size), ==, 0);
  g_assert_cmpuint (size.ws_row, ==, 24);
  g_assert_cmpuint (size.ws_col, ==, 80);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/launcher-ends/nobody", test_nobody);
  g_test_add_func ("/launcher-ends/left", test_left);
  g_test_add_func ("/launcher-ends/told", test_told);
  g_test_add_func ("/launcher-ends/terminal", test_terminal);
  return g_test_run ();
}
