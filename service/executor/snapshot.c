/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy is read by a short-lived child of the listener, so that the listener itself never
 * touches a file that somebody wrote.  The child may fill a memfd that the listener made, and
 * nothing else; the listener seals it without looking inside.  The users that the files name are looked
 * up there as well, once for all workers and the broker.  Where the files could not be read
 * the memfd says so: an image that cannot be had is an invalid policy, never the one before.
 */
#include "service/executor/snapshot.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/file.h"
#include "service/base/memfd.h"
#include "service/executor/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define FAULT_PREFIX "undersign.fault\n"
#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

gboolean
snapshot_write (const PolicySource *source, const PolicyNames *names, int fd, GError **error)
{
  g_autoptr (GError) fault = NULL;
  g_autoptr (GBytes) image = policy_snapshot (source, &fault);
  g_autoptr (GBytes) resolved = NULL;
  g_autofree char *text = NULL;

  if (image != NULL)
    {
      resolved = policy_resolve (image, names);
      return fd_write_all (fd, g_bytes_get_data (resolved, NULL), g_bytes_get_size (resolved),
                           error);
    }
  text = g_strconcat (FAULT_PREFIX, fault->message, NULL);
  return fd_write_all (fd, text, strlen (text), error);
}

static gboolean
child_run (const char *const *argv, int fd, GError **error)
{
  const char *const environment[] = { "LC_ALL=C", NULL };
  posix_spawn_file_actions_t actions;
  int status = 0;
  int failed = 0;
  pid_t pid = 0;

  posix_spawn_file_actions_init (&actions);
  failed = posix_spawn_file_actions_adddup2 (&actions, fd, SNAPSHOT_FD);
  if (failed == 0)
    failed = posix_spawn (&pid, argv[0], &actions, NULL, (char *const *) argv,
                          (char *const *) environment);
  posix_spawn_file_actions_destroy (&actions);
  if (failed != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "%s: %s", argv[0],
                         g_strerror (failed));

  while (waitpid (pid, &status, 0) < 0)
    if (errno != EINTR)
      return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "waitpid: %s",
                           g_strerror (errno));
  if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "the reader of the policy failed");
  return TRUE;
}

int
snapshot_make (const char *const *argv, GError **error)
{
  g_autoptr (GError) local = NULL;
  autofd fd = memfd_create ("undersign-policy", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  if (fd < 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "memfd_create: %s",
                    g_strerror (errno));
      return -1;
    }
  if (!child_run (argv, fd, &local))
    {
      g_autofree char *text = g_strconcat (FAULT_PREFIX, local->message, NULL);

      if (ftruncate (fd, 0) != 0 || lseek (fd, 0, SEEK_SET) != 0 ||
          !fd_write_all (fd, text, strlen (text), NULL))
        {
          g_propagate_error (error, g_steal_pointer (&local));
          return -1;
        }
    }
  if (fcntl (fd, F_ADD_SEALS, SEALS) != 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot seal: %s",
                    g_strerror (errno));
      return -1;
    }
  return fd_steal (&fd);
}

static void
fault_set (const char *text, GError **error)
{
  const char *prefix = US_REASON_POLICY_INVALID ": ";

  if (g_str_has_prefix (text, prefix))
    text += strlen (prefix);
  us_error_set (error, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID, "%s", text);
}

GBytes *
snapshot_read (int fd, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (GBytes) image = memfd_read (fd, POLICY_MAX_IMAGE, &local);
  gsize prefix = strlen (FAULT_PREFIX);
  const char *data = NULL;
  gsize len = 0;

  if (image == NULL)
    {
      us_error_set (error, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID, "%s", local->message);
      return NULL;
    }
  data = g_bytes_get_data (image, &len);
  if (len >= prefix && memcmp (data, FAULT_PREFIX, prefix) == 0)
    {
      g_autofree char *raw = g_strndup (data + prefix, len - prefix);
      g_autofree char *text = g_utf8_make_valid (raw, -1);

      fault_set (text, error);
      return NULL;
    }
  return g_steal_pointer (&image);
}
