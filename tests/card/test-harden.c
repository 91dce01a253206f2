/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What undersign(1) does before it does anything: neither a core nor another process of its user
 * gets at what its person types.
 */
#include "module/card/tty/program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What it was started with, if anybody can be. */
static void
loosen (void)
{
  struct rlimit core = { 0 };

  g_assert_cmpint (prctl (PR_SET_DUMPABLE, 1), ==, 0);
  g_assert_cmpint (getrlimit (RLIMIT_CORE, &core), ==, 0);
  core.rlim_cur = core.rlim_max;
  g_assert_cmpint (setrlimit (RLIMIT_CORE, &core), ==, 0);
  umask (0);
}

typedef struct
{
  int is_dumpable;
  struct rlimit core;
  mode_t mask;
} Found;

/* In a child: what is given up there does not come back. */
static void G_GNUC_NORETURN
run (char *word, int fd)
{
  char *argv[] = { (char *) "undersign", word, NULL };
  const Trust trust = { .service_uid = 1, .admin_uid = 1 };
  Found found = { .is_dumpable = -1 };
  const int null = open ("/dev/null", O_WRONLY | O_CLOEXEC);

  if (null < 0 || dup2 (null, STDOUT_FILENO) < 0 || dup2 (null, STDERR_FILENO) < 0)
    _exit (1);
  loosen ();
  program_run (&trust, 2, argv);
  found.is_dumpable = prctl (PR_GET_DUMPABLE);
  found.mask = umask (0);
  if (getrlimit (RLIMIT_CORE, &found.core) != 0)
    _exit (1);
  _exit (write (fd, &found, sizeof found) == sizeof found ? 0 : 1);
}

/* Whatever it is asked for, and where that is nothing that it knows. */
static void
test_harden (gconstpointer data)
{
  Found found = { .is_dumpable = -1 };
  int ends[2] = { -1, -1 }, status = -1;
  pid_t pid = -1;

  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  pid = fork ();
  if (pid == 0)
    run ((char *) data, ends[1]);
  g_assert_cmpint (pid, >, 0);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (status, ==, 0);
  g_assert_cmpint (read (ends[0], &found, sizeof found), ==, sizeof found);
  g_assert_cmpint (found.is_dumpable, ==, 0);
  g_assert_cmpuint (found.core.rlim_cur, ==, 0);
  g_assert_cmpuint (found.core.rlim_max, ==, 0);
  g_assert_cmpuint (found.mask, ==, 077);
  close (ends[0]);
  close (ends[1]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/harden/version", "--version", test_harden);
  g_test_add_data_func ("/harden/help", "--help", test_harden);
  g_test_add_data_func ("/harden/unknown", "unheard-of", test_harden);
  return g_test_run ();
}
