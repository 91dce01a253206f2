/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the runner's listener says by itself: to the executor alone, whatever the workers do, and
 * without a call of the module.
 */
#include "service/base/fd.h"
#include "service/base/wire.h"
#include "tests/lib/runner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is not to time out has more time than it takes on the slowest machine. */
#define PATIENCE 60 /* seconds */

static Runner *
start (uid_t peer)
{
  Runner *runner = runner_new ();

  runner_install (runner, g_getenv ("NULL_MODULE"), "null");
  runner_credential (runner, "work-smtp", "x");
  runner_start (runner, "null", getuid (), peer, PATIENCE);
  return runner;
}

static int
compare_strings (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* state: what the runner says unasked: the names of its credentials, in order, or its error. */
static char *
state (Runner *runner)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) names = NULL;
  autofd sock = handover_connect (runner->service->second_path, PATIENCE, &error);

  g_assert_no_error (error);
  if (!handover_receive_reply (sock, WIRE_MODULE_STATE, &reply, &error))
    return g_strdup (error->message);
  g_variant_get (reply.body, "(^as)", &names);
  qsort (names, g_strv_length (names), sizeof *names, compare_strings);
  return g_strjoinv (" ", names);
}

static void
check_state (Runner *runner, const char *text)
{
  g_autofree char *told = state (runner);

  g_assert_cmpstr (told, ==, text);
}

/* What execution would not take for a credential is none. */
static void
test_state (void)
{
  g_autoptr (Runner) runner = start (getuid ());
  g_autofree char *link = g_build_filename (runner->credentials_dir, "link", NULL);
  g_autofree char *open_path = g_build_filename (runner->credentials_dir, "open", NULL);
  g_autofree char *marker = NULL;

  check_state (runner, "work-smtp");
  runner_credential (runner, "another", "x");
  runner_credential (runner, ".hidden", "x");
  runner_credential (runner, "open", "x");
  g_assert_cmpint (chmod (open_path, 0444), ==, 0);
  g_assert_cmpint (symlink ("work-smtp", link), ==, 0);
  check_state (runner, "another work-smtp");
  marker = runner_marker (runner);
  g_assert_cmpstr (marker, ==, "");
}

/* A module that cannot be loaded, and then can; nobody restarts anything. */
static void
test_state_impaired (void)
{
  g_autoptr (Runner) runner = runner_new ();
  g_autofree char *told = NULL;

  runner_credential (runner, "work-smtp", "x");
  runner_start (runner, "null", getuid (), getuid (), PATIENCE);
  for (guint i = 0; i < 3; i++)
    check_state (runner, "unreachable: module null cannot be loaded");
  runner_install (runner, g_getenv ("NULL_MODULE"), "null");
  for (guint i = 0; i < PATIENCE * 100 && g_strcmp0 (told, "work-smtp") != 0; i++)
    {
      g_free (told);
      told = state (runner);
      g_usleep (10 * 1000);
    }
  g_assert_cmpstr (told, ==, "work-smtp");
}

static void
test_state_wrong_peer (void)
{
  g_autoptr (Runner) runner = start (getuid () + 1);
  g_autofree char *told = state (runner);

  g_assert_true (g_str_has_prefix (told, "bad-peer: "));
}

/* More calls than workers, each of which waits for its message for as long as the test likes, and
 * many who asked and went. */
static void
test_state_while_busy (void)
{
  g_autoptr (Runner) runner = start (getuid ());
  int busy[12];

  check_state (runner, "work-smtp");
  for (guint i = 0; i < G_N_ELEMENTS (busy); i++)
    busy[i] = handover_connect (runner->service->path, PATIENCE, NULL);
  for (guint i = 0; i < 200; i++)
    {
      autofd gone = handover_connect (runner->service->second_path, PATIENCE, NULL);

      g_assert_cmpint (gone, >=, 0);
    }
  check_state (runner, "work-smtp");
  for (guint i = 0; i < G_N_ELEMENTS (busy); i++)
    close (busy[i]);
  g_assert_cmpint (activated_stop (runner->service), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runner/state", test_state);
  g_test_add_func ("/runner/state/impaired", test_state_impaired);
  g_test_add_func ("/runner/state/wrong-peer", test_state_wrong_peer);
  g_test_add_func ("/runner/state/while-busy", test_state_while_busy);
  return g_test_run ();
}
