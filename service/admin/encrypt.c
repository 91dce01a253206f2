/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs systemd-creds with the secret on its standard input.  The child has a fixed environment and
 * a deadline; what it says on standard error goes into the error, what it was given never does.
 */
#include "service/admin/encrypt.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_SECONDS 30
#define OUTPUT_MAX (4 * 1024 * 1024)
#define MESSAGE_MAX 300

typedef struct
{
  pid_t pid;
  int input;  /* our end of its standard input */
  int output; /* memfds: they cannot fill up and block it */
  int message;
  guint64 deadline;
} Child;

static void
child_clear (Child *child)
{
  if (child->pid > 0)
    {
      kill (child->pid, SIGKILL);
      waitpid (child->pid, NULL, 0);
    }
  if (child->input >= 0)
    close (child->input);
  if (child->output >= 0)
    close (child->output);
  if (child->message >= 0)
    close (child->message);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Child, child_clear)

/* Milliseconds for poll(); 0 when the time is over. */
static int
time_left (const Child *child)
{
  guint64 now = clock_boottime ();

  return now >= child->deadline ? 0 : (int) ((child->deadline - now) / 1000 + 1);
}

static gboolean
child_spawn (Child *child, const char *program, const char *name, GError **error)
{
  static const char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C", NULL };
  g_autofree char *option = g_strconcat ("--name=", name, NULL);
  const char *const argv[] = { program, "encrypt", option, "-", "-", NULL };
  posix_spawn_file_actions_t actions;
  int ends[2] = { -1, -1 }, result = 0;

  child->output = memfd_create ("credential", MFD_CLOEXEC);
  child->message = memfd_create ("message", MFD_CLOEXEC);
  if (child->output < 0 || child->message < 0 || pipe2 (ends, O_CLOEXEC) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "no descriptor: %s",
                         g_strerror (errno));
  child->input = ends[1];
  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_adddup2 (&actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2 (&actions, child->output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2 (&actions, child->message, STDERR_FILENO);
  result = posix_spawn (&child->pid, program, &actions, NULL, (char *const *) argv,
                        (char *const *) environment);
  posix_spawn_file_actions_destroy (&actions);
  close (ends[0]);
  if (result != 0)
    {
      child->pid = 0;
      return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot run %s: %s",
                           program, g_strerror (result));
    }
  return TRUE;
}

static gboolean
child_feed (Child *child, Secret *secret, GError **error)
{
  const guint8 *data = secret_data (secret);
  gsize left = secret_size (secret);

  if (fcntl (child->input, F_SETFL, O_NONBLOCK) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "fcntl: %s",
                         g_strerror (errno));
  while (left > 0)
    {
      struct pollfd poll_fd = { .fd = child->input, .events = POLLOUT };
      ssize_t written = 0;

      if (poll (&poll_fd, 1, time_left (child)) == 0)
        return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                             "systemd-creds took too long");
      written = write (child->input, data, left);
      if (written < 0 && errno != EINTR && errno != EAGAIN)
        break; /* it gave up early: its exit status and message say why */
      if (written > 0)
        {
          data += written;
          left -= (gsize) written;
        }
    }
  close (child->input);
  child->input = -1;
  return TRUE;
}

static GBytes *
memfd_content (int fd, gsize max)
{
  off_t size = lseek (fd, 0, SEEK_END);
  g_autofree guint8 *data = NULL;
  gsize len = size < 0 ? 0 : MIN ((gsize) size, max);

  data = g_malloc (len + 1);
  if (pread (fd, data, len, 0) != (ssize_t) len)
    len = 0;
  return g_bytes_new_take (g_steal_pointer (&data), len);
}

/* The last words of the program, fit for one line. */
static char *
child_message (const Child *child)
{
  g_autoptr (GBytes) bytes = memfd_content (child->message, MESSAGE_MAX);
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));

  g_strstrip (text);
  return text[0] != '\0' ? g_strescape (text, NULL) : g_strdup ("it did not say why");
}

static gboolean
child_wait (Child *child, GError **error)
{
  int status = 0, pid_fd = (int) syscall (SYS_pidfd_open, child->pid, 0);
  struct pollfd poll_fd = { .fd = pid_fd, .events = POLLIN };
  int ready = pid_fd < 0 ? -1 : poll (&poll_fd, 1, time_left (child));
  g_autofree char *message = NULL;

  if (pid_fd >= 0)
    close (pid_fd);
  if (ready <= 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "systemd-creds took too long");
  if (waitpid (child->pid, &status, 0) != child->pid)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "waitpid: %s",
                         g_strerror (errno));
  child->pid = 0;
  if (WIFEXITED (status) && WEXITSTATUS (status) == 0)
    return TRUE;
  message = child_message (child);
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "systemd-creds failed: %s",
                       message);
}

GBytes *
encrypt_credential (const char *program, const char *name, Secret *secret, GError **error)
{
  g_auto (Child) child = { .input = -1, .output = -1, .message = -1 };
  g_autoptr (GBytes) result = NULL;

  child.deadline = clock_boottime () + DEADLINE_SECONDS * (guint64) G_USEC_PER_SEC;
  if (!child_spawn (&child, program, name, error) || !child_feed (&child, secret, error) ||
      !child_wait (&child, error))
    return NULL;
  result = memfd_content (child.output, OUTPUT_MAX);
  if (g_bytes_get_size (result) == 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                    "systemd-creds gave no result");
      return NULL;
    }
  return g_steal_pointer (&result);
}
