/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A service for test-prefork: `prefork-service DIR MAX` listens, `prefork-service DIR worker` is
 * its worker.  A worker does what the packet it gets says; files in DIR make it fail on its way.
 * DIR also keeps pids: one line a start, and one each time that there was nothing to share.
 */
#include "service/base/fd.h"
#include "service/base/file.h"
#include "service/base/memfd.h"
#include "service/base/prefork.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

static gboolean
exists (int dir, const char *name)
{
  return faccessat (dir, name, F_OK, 0) == 0;
}

/* Returns: whether it is the first line. */
static gboolean
note (int dir, const char *name)
{
  autofd fd = openat (dir, name, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
  gboolean first = lseek (fd, 0, SEEK_END) == 0;

  dprintf (fd, "%d\n", getpid ());
  return first;
}

static void
say (int sock, const char *text)
{
  (void) !send (sock, text, strlen (text), MSG_NOSIGNAL);
}

static void
say_shared (int sock)
{
  g_autoptr (GBytes) bytes = memfd_read (PREFORK_FD_SHARED, 100, NULL);
  g_autofree char *content = NULL;
  g_autofree char *text = NULL;

  if (bytes != NULL)
    content = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  text = g_strdup_printf ("%d %s", getpid (), content != NULL ? content : "nothing");
  say (sock, text);
}

static void
say_limits (int sock)
{
  struct rlimit core = { 1, 1 };
  struct rlimit files = { 0 };
  struct rlimit cpu = { 0 };
  struct rlimit space = { 0 };
  mode_t mask = umask (0);
  g_autofree char *text = NULL;

  getrlimit (RLIMIT_CORE, &core);
  getrlimit (RLIMIT_NOFILE, &files);
  getrlimit (RLIMIT_CPU, &cpu);
  getrlimit (RLIMIT_AS, &space);
  text = g_strdup_printf ("dumpable %d nonewprivs %d umask %03o core %d files %d cpu %d space %d "
                          "listen %d",
                          prctl (PR_GET_DUMPABLE), prctl (PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
                          (guint) mask, (int) core.rlim_max, (int) files.rlim_max,
                          (int) cpu.rlim_max, space.rlim_max == RLIM_INFINITY ? 0 : 1,
                          fcntl (PREFORK_FD_LISTEN, F_GETFD) >= 0);
  say (sock, text);
}

static void
serve (int sock)
{
  g_autoptr (GError) error = NULL;
  char word[32] = { 0 };

  if (recv (sock, word, sizeof word - 1, 0) <= 0)
    return;
  if (strcmp (word, "die") == 0)
    abort ();
  if (strcmp (word, "hold") == 0)
    {
      say (sock, "holding");
      (void) !recv (sock, word, sizeof word - 1, 0);
    }
  else if (strcmp (word, "reload") == 0)
    {
      say (sock, prefork_request_reload (&error) ? "reloaded" : error->message);
      return;
    }
  else if (strcmp (word, "lease") == 0)
    {
      say (sock, memfd_is_leased (PREFORK_FD_SHARED) ? "leased" : "not leased");
      if (recv (sock, word, sizeof word - 1, 0) > 0)
        say (sock, memfd_is_leased (PREFORK_FD_SHARED) ? "leased" : "not leased");
      return;
    }
  else if (strcmp (word, "ending") == 0)
    {
      say (sock, prefork_is_ending () ? "ending" : "not ending");
      for (guint i = 0; i < 6000 && !prefork_is_ending (); i++)
        g_usleep (10000);
      say (sock, prefork_is_ending () ? "ending" : "not ending");
      return;
    }
  else if (strcmp (word, "limits") == 0)
    {
      say_limits (sock);
      return;
    }
  say_shared (sock);
}

static int
run_worker (int dir)
{
  g_autoptr (GError) error = NULL;
  autofd sock = -1;
  gboolean first = FALSE;

  first = note (dir, "starts");
  if (exists (dir, "crash") || (!first && exists (dir, "crash-but-first")))
    abort ();
  if (exists (dir, "fail"))
    return EXIT_FAILURE;
  while (exists (dir, "hang"))
    g_usleep (10000);

  sock = prefork_accept (&error);
  if (sock < 0)
    return error == NULL ? EXIT_SUCCESS : EXIT_FAILURE;
  serve (sock);
  return EXIT_SUCCESS;
}

static int
make_shared (gpointer data, GError **error)
{
  int *dir = data;
  g_autoptr (GBytes) bytes = file_read_trusted (*dir, "shared", getuid (), 100, error);

  if (bytes == NULL)
    {
      note (*dir, "failures");
      return -1;
    }
  return memfd_new_sealed ("shared", g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                           error);
}

int
main (int argc, char **argv)
{
  const char *const worker[] = { argv[0], argv[1], "worker", NULL };
  int dir = open (argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  PreforkConfig config = { .argv = worker, .data = &dir };

  if (argc != 3 || dir < 0 || !process_harden (NULL))
    return EXIT_FAILURE;
  if (strcmp (argv[2], "worker") == 0)
    return run_worker (dir);

  config.max_workers = (guint) strtoul (argv[2], NULL, 10);
  /* a time-out only for who is to hit it */
  config.start_seconds = exists (dir, "hang") ? 1 : 60;
  config.ready_workers = exists (dir, "two-ready") ? 2 : 0;
  config.make_shared = exists (dir, "without-shared") ? NULL : make_shared;
  return prefork_run (&config);
}
