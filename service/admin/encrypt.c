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

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define OUTPUT_MAX (4 * 1024 * 1024)
#define MESSAGE_MAX 300

typedef struct
{
  pid_t pid;
  int output, message; /* memfds: they cannot fill up and block it */
  guint timer;
  EncryptDone done; /* NULL once it was called */
  gpointer data;
} Child;

/* Those that have not ended, one that is killed and does not end yet among them. */
static GList *children;

static void
child_free (Child *child)
{
  g_clear_handle_id (&child->timer, g_source_remove);
  fd_clear (&child->output);
  fd_clear (&child->message);
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

static void
on_ended (GPid pid, int status, gpointer data)
{
  g_autoptr (Child) child = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) encrypted = child_result (child, status, &error);

  child_answer (child, encrypted, error);
}

static void
child_give_up (Child *child, const GError *error)
{
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
  return result == 0 || us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                                      "cannot run %s: %s", order->program, g_strerror (result));
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
  *child = (Child){ .output = -1, .message = -1, .done = done, .data = data };
  if (!child_spawn (child, order, error))
    return FALSE;
  begun = g_steal_pointer (&child);
  children = g_list_prepend (children, begun);
  begun->timer = g_timeout_add_seconds (order->seconds, on_late, begun);
  g_child_watch_add (begun->pid, on_ended, begun);
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
