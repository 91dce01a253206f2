/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A prefork listener beside its callers: a worker that serves hears of a stop, and where many wait, no
 * more workers are started than can serve them.
 */
#include "service/base/fd.h"
#include "tests/lib/activated.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void
put (Activated *service, const char *name, const char *content)
{
  g_autofree char *path = g_build_filename (service->dir, name, NULL);

  g_assert_true (
      g_file_set_contents_full (path, content, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

/* @file: (nullable): one more that changes how it works, see prefork-service.c */
static Activated *
service_new (const char *max_workers, const char *file)
{
  Activated *service = activated_new ();
  const char *argv[] = { g_getenv ("PREFORK_SERVICE"), service->dir, max_workers, NULL };

  g_assert_nonnull (argv[0]);
  put (service, "shared", "one");
  if (file != NULL)
    put (service, file, "");
  activated_start (service, argv, NULL);
  return service;
}

static void
tell (int sock, const char *word)
{
  g_assert_cmpint (send (sock, word, strlen (word), MSG_NOSIGNAL), ==, (gssize) strlen (word));
}

static void
expect (int sock, const char *text)
{
  char heard[64] = { 0 };

  g_assert_cmpint (recv (sock, heard, sizeof heard - 1, 0), >, 0);
  g_assert_cmpstr (heard, ==, text);
}

/* Who serves is told of a stop, too: nobody may come after. */
static void
test_stop_is_told (void)
{
  g_autoptr (Activated) service = service_new ("4", NULL);
  autofd busy = activated_connect (service, 60);

  tell (busy, "ending");
  expect (busy, "not ending");
  g_assert_cmpint (kill (service->pid, SIGTERM), ==, 0);
  expect (busy, "ending");
  g_assert_cmpint (activated_wait (service, 60), ==, 0);
}

/* With two kept ready and everybody waiting, workers are started beside each other. */
static void
test_many_at_once (void)
{
  g_autoptr (Activated) service = service_new ("8", "two-ready");
  g_autoptr (GHashTable) answered = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree char *path = g_build_filename (service->dir, "starts", NULL);
  g_autofree char *starts = NULL;
  guint n = 0;
  int socks[40];

  for (guint i = 0; i < G_N_ELEMENTS (socks); i++)
    {
      socks[i] = activated_connect (service, 60);
      tell (socks[i], "echo");
    }
  for (guint i = 0; i < G_N_ELEMENTS (socks); i++)
    {
      char heard[64] = { 0 };

      g_assert_cmpint (recv (socks[i], heard, sizeof heard - 1, 0), >, 0);
      g_assert_true (g_hash_table_add (answered, g_strdup (heard))); /* each by another worker */
      close (socks[i]);
    }
  g_assert_cmpint (activated_stop (service), ==, 0);

  g_assert_true (g_file_get_contents (path, &starts, NULL, NULL));
  for (const char *c = starts; *c != '\0'; c++)
    n += *c == '\n' ? 1 : 0;
  g_assert_cmpuint (n, <=, G_N_ELEMENTS (socks) + 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/prefork-callers/stop-is-told", test_stop_is_told);
  g_test_add_func ("/base/prefork-callers/many-at-once", test_many_at_once);
  return g_test_run ();
}
