/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs systemd-creds with the secret on its standard input, and goes on meanwhile.  The child has a
 * fixed environment and a deadline; what it says on standard error goes into the error.  The secret
 * is never read here: the child has it straight from the kernel.
 */
#include "service/admin/encrypt.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#define OUTPUT_MAX (4 * 1024 * 1024)
#define MESSAGE_MAX 300

typedef struct
{
  pid_t pid; /* not waited for before it is freed, so that it is nobody else's; 0 before */
  int pidfd;
  int output, message; /* memfds: they cannot fill up and block it */
  char *file;
  guint source, timer;
  EncryptDone done; /* NULL once it was called */
  gpointer data;
} Child;

/* Those that have not ended, one that is killed and does not end yet among them. */
static GList *children;

static void
child_free (Child *child)
{
  g_clear_handle_id (&child->source, g_source_remove);
  g_clear_handle_id (&child->timer, g_source_remove);
  if (child->pid > 0)
    {
      kill (child->pid, SIGKILL);
      waitpid (child->pid, NULL, 0);
    }
  fd_clear (&child->pidfd);
  fd_clear (&child->output);
  fd_clear (&child->message);
  g_free (child->file);
  children = g_list_remove (children, child);
  g_free (child);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Child, child_free)

static void
child_answer (Child *child, GBytes *encrypted, const GError *error)
{
  EncryptDone done = g_steal_pointer (&child->done);

  g_clear_handle_id (&child->timer, g_source_remove);
  if (done != NULL)
    done (encrypted, error, child->data);
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

static GBytes *
child_result (const Child *child, int status, GError **error)
{
  g_autoptr (GBytes) result = memfd_content (child->output, OUTPUT_MAX);

  if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
    {
      g_autofree char *message = child_message (child);

      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "systemd-creds failed: %s",
                    message);
      return NULL;
    }
  if (g_bytes_get_size (result) == 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                    "systemd-creds gave no result");
      return NULL;
    }
  return g_steal_pointer (&result);
}

static gboolean
on_ended (int fd, GIOCondition condition, gpointer data)
{
  g_autoptr (Child) child = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) encrypted = NULL;
  int status = -1;

  child->source = 0;
  if (waitpid (child->pid, &status, 0) == child->pid)
    child->pid = 0;
  encrypted = child_result (child, status, &error);
  child_answer (child, encrypted, error);
  return G_SOURCE_REMOVE;
}

static void
child_give_up (Child *child, const GError *error)
{
  if (child->pid > 0)
    kill (child->pid, SIGKILL);
  child_answer (child, NULL, error);
}

static gboolean
on_late (gpointer data)
{
  Child *child = data;
  g_autoptr (GError) error = NULL;

  child->timer = 0;
  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "systemd-creds took too long");
  child_give_up (child, error);
  return G_SOURCE_REMOVE;
}

static gboolean
child_spawn (Child *child, const EncryptOrder *order, GError **error)
{
  static const char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C", NULL };
  g_autofree char *option = g_strconcat ("--name=", order->name, NULL);
  const char *const argv[] = { order->program, "encrypt", option, "-", "-", NULL };
  posix_spawn_file_actions_t actions;
  int result = 0;

  child->output = memfd_create ("credential", MFD_CLOEXEC);
  child->message = memfd_create ("message", MFD_CLOEXEC);
  if (child->output < 0 || child->message < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "no descriptor: %s",
                         g_strerror (errno));
  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_adddup2 (&actions, order->secret, STDIN_FILENO);
  posix_spawn_file_actions_adddup2 (&actions, child->output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2 (&actions, child->message, STDERR_FILENO);
  result = posix_spawn (&child->pid, order->program, &actions, NULL, (char *const *) argv,
                        (char *const *) environment);
  posix_spawn_file_actions_destroy (&actions);
  if (result != 0)
    {
      child->pid = 0;
      return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot run %s: %s",
                           order->program, g_strerror (result));
    }
  child->pidfd = pidfd_open (child->pid, 0);
  return child->pidfd >= 0 || us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                                            "no descriptor: %s", g_strerror (errno));
}

gboolean
encrypt_give_up (const char *file)
{
  gboolean found = FALSE;
  g_autoptr (GError) error = NULL;

  us_error_set (&error, US_ERROR_WRONG_STATE, US_REASON_TOO_LATE,
                "a later call was about the same credential");
  for (GList *at = children; at != NULL; at = at->next)
    if (strcmp (((Child *) at->data)->file, file) == 0 && ((Child *) at->data)->done != NULL)
      {
        child_give_up (at->data, error);
        found = TRUE;
      }
  return found;
}

gboolean
encrypt_begin (const EncryptOrder *order, EncryptDone done, gpointer data, GError **error)
{
  g_autoptr (Child) child = NULL;
  Child *begun = NULL;

  if (g_list_length (children) >= ENCRYPT_MAX)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "%d secrets are being encrypted", ENCRYPT_MAX);
  child = g_new0 (Child, 1);
  *child = (Child){ .pidfd = -1, .output = -1, .message = -1, .done = done, .data = data };
  child->file = g_strdup (order->file);
  if (!child_spawn (child, order, error))
    return FALSE;
  encrypt_give_up (order->file);
  begun = g_steal_pointer (&child);
  children = g_list_prepend (children, begun);
  /* Not by GLib's watch of children, which waits for it before anybody here is told.  Who has ended in
   * time is told before the time is over. */
  begun->source =
      g_unix_fd_add_full (G_PRIORITY_HIGH, begun->pidfd, G_IO_IN, on_ended, begun, NULL);
  begun->timer = g_timeout_add_seconds (order->seconds, on_late, begun);
  return TRUE;
}

void
encrypt_end_all (void)
{
  g_autoptr (GError) error = NULL;

  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "the service ends");
  for (GList *at = children; at != NULL; at = at->next)
    child_give_up (at->data, error);
}
