/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Starts a program the way a socket unit does: descriptors from 3 on listen, LISTEN_FDS and LISTEN_PID
 * say so.  For tests only; aborts on any failure of the system.
 */
#include "tests/lib/activated.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ENVIRONMENT 32

static int
listen_at (const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

  g_assert_cmpuint (strlen (path), <, sizeof address.sun_path);
  strcpy (address.sun_path, path);
  g_assert_cmpint (bind (fd, (const struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (fd, 128), ==, 0);
  return fd;
}

Activated *
activated_new (void)
{
  Activated *activated = g_new0 (Activated, 1);

  activated->dir = g_dir_make_tmp ("undersign-test-XXXXXX", NULL);
  g_assert_nonnull (activated->dir);
  activated->path = g_build_filename (activated->dir, "socket", NULL);
  activated->log = g_build_filename (activated->dir, "log", NULL);
  activated->listener = listen_at (activated->path);
  activated->second = -1;
  return activated;
}

void
activated_add_second (Activated *activated)
{
  activated->second_path = g_build_filename (activated->dir, "second", NULL);
  activated->second = listen_at (activated->second_path);
}

static void
remove_tree (const char *path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  const char *name = NULL;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      if (unlink (child) < 0)
        remove_tree (child);
    }
  g_clear_pointer (&dir, g_dir_close);
  (void) rmdir (path);
}

void
activated_free (Activated *activated)
{
  if (activated->pid != 0)
    (void) activated_stop (activated);
  close (activated->listener);
  if (activated->second >= 0)
    close (activated->second);
  remove_tree (activated->dir);
  g_free (activated->log);
  g_free (activated->path);
  g_free (activated->second_path);
  g_free (activated->dir);
  g_free (activated);
}

static G_NORETURN void
become (Activated *activated, const char *const *argv, const char *const *env)
{
  gboolean two = activated->second >= 0;
  const char *all[MAX_ENVIRONMENT + 4] = { two ? "LISTEN_FDS=2" : "LISTEN_FDS=1" };
  int listener = fcntl (activated->listener, F_DUPFD_CLOEXEC, 10);
  int second = two ? fcntl (activated->second, F_DUPFD_CLOEXEC, 10) : -1;
  g_autofree char *pid = g_strdup_printf ("LISTEN_PID=%d", getpid ());
  int log = open (activated->log, O_CREAT | O_APPEND | O_WRONLY, 0600);
  guint n = 1;

  all[n++] = pid;
  all[n++] = "ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0";
  for (guint i = 0; env != NULL && env[i] != NULL && i < MAX_ENVIRONMENT; i++)
    all[n++] = env[i];

  /* Nothing outlives a test that aborts. */
  (void) prctl (PR_SET_PDEATHSIG, SIGTERM);
  if (log >= 0 && dup2 (log, STDOUT_FILENO) >= 0 && dup2 (log, STDERR_FILENO) >= 0 &&
      dup2 (listener, 3) >= 0 && (!two || dup2 (second, 4) >= 0))
    execve (argv[0], (char *const *) argv, (char *const *) all);
  _exit (127);
}

void
activated_start (Activated *activated, const char *const *argv, const char *const *env)
{
  g_assert_cmpint (activated->pid, ==, 0);
  activated->pid = fork ();
  g_assert_cmpint (activated->pid, >=, 0);
  if (activated->pid == 0)
    become (activated, argv, env);
}

int
activated_wait (Activated *activated, guint seconds)
{
  gint64 end = g_get_monotonic_time () + seconds * G_USEC_PER_SEC;
  int status = 0;
  pid_t pid = 0;

  while ((pid = waitpid (activated->pid, &status, WNOHANG)) == 0 || (pid < 0 && errno == EINTR))
    {
      if (g_get_monotonic_time () > end)
        {
          g_autofree char *log = activated_log (activated);

          kill (activated->pid, SIGKILL);
          g_error ("%d does not end; it said: %s", activated->pid, log);
        }
      g_usleep (5000);
    }
  g_assert_cmpint (pid, ==, activated->pid);
  activated->pid = 0;
  return status;
}

int
activated_stop (Activated *activated)
{
  g_assert_cmpint (kill (activated->pid, SIGTERM), ==, 0);
  return activated_wait (activated, 60);
}

int
activated_connect (Activated *activated, guint seconds)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  struct timeval timeout = { .tv_sec = seconds };
  int sock = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

  strcpy (address.sun_path, activated->path);
  g_assert_cmpint (connect (sock, (const struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (setsockopt (sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), ==, 0);
  return sock;
}

char *
activated_log (Activated *activated)
{
  char *content = NULL;

  (void) g_file_get_contents (activated->log, &content, NULL, NULL);
  return content != NULL ? content : g_strdup ("");
}
