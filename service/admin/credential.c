/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SetCredential and RemoveCredential.  A credential is stored encrypted where systemd finds it,
 * with a drop-in that has it loaded into the runner of its module and nothing else.  It is never
 * read back, and nothing but systemd-creds reads the secret.  It comes as a sealed memfd: whoever
 * reads a pipe waits for the caller, who can have the kernel hold it in a write to it, where no
 * signal ends the wait.
 */
#include "service/admin/call.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/admin/encrypt.h"
#include "service/admin/systemd.h"
#include "service/base/fd.h"
#include "service/base/file.h"
#include "service/base/memfd.h"
#include "service/mechanism/option.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixfdlist.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CREDENTIAL_MAX (1024 * 1024)

/* Where the parts of one credential are. */
typedef struct
{
  char *file;        /* name in the credential folder */
  char *drop_in_dir; /* name in the unit folder */
  char *drop_in;     /* name in that */
  char *unit;
} Place;

static void
place_clear (Place *place)
{
  g_free (place->file);
  g_free (place->drop_in_dir);
  g_free (place->drop_in);
  g_free (place->unit);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Place, place_clear)

static gboolean
place_find (const AdminConfig *config,
            const char *module,
            const char *name,
            Place *out_place,
            GError **error)
{
  g_autofree char *path = NULL;
  struct stat status;

  if (!word_check ("module", module, error) || !word_check ("name", name, error))
    return FALSE;
  path = g_strconcat (config->policy.module_dir, "/", module, ".so", NULL);
  if (lstat (path, &status) != 0 || !S_ISREG (status.st_mode))
    return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                         "no module \"%s\" is installed", module);
  out_place->file = g_strdup_printf ("undersign-%s.%s", module, name);
  out_place->unit = g_strdup_printf ("undersign-runner@%s.service", module);
  out_place->drop_in_dir = g_strconcat (out_place->unit, ".d", NULL);
  out_place->drop_in = g_strdup_printf ("undersign-credential-%s.conf", name);
  return TRUE;
}

/* A folder below @dirfd, made where it is missing. */
static int
folder_open (int dirfd, const char *path, mode_t mode, uid_t owner, GError **error)
{
  g_autoptr (GError) reason = NULL;
  int fd = -1;

  if (mkdirat (dirfd, path, mode) != 0 && errno != EEXIST)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot make %s: %s", path,
                    g_strerror (errno));
      return -1;
    }
  fd = dir_open_trusted (dirfd, path, owner, &reason);
  if (fd < 0)
    us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "%s", reason->message);
  return fd;
}

/* Replaces @name as a whole, so that a reader finds the old content or the new. */
static gboolean
file_replace (int dirfd, const char *name, GBytes *content, mode_t mode, GError **error)
{
  g_autofree char *temporary = g_strdup_printf (".%s.new", name);
  gsize len = 0;
  const guint8 *data = g_bytes_get_data (content, &len);
  gboolean good = FALSE;
  int fd = -1;

  unlinkat (dirfd, temporary, 0);
  fd = openat (dirfd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd >= 0)
    {
      good = fchmod (fd, mode) == 0 && fd_write_all (fd, data, len, NULL) && fsync (fd) == 0;
      close (fd);
      good = good && renameat (dirfd, temporary, dirfd, name) == 0 && fsync (dirfd) == 0;
    }
  if (!good)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot write %s: %s", name,
                    g_strerror (errno));
      unlinkat (dirfd, temporary, 0);
    }
  return good;
}

static gboolean
credential_store (const AdminConfig *config, const Place *place, GBytes *content, GError **error)
{
  int fd = folder_open (AT_FDCWD, config->credential_dir, 0700, config->policy.owner, error);
  gboolean good = FALSE;

  if (fd < 0)
    return FALSE;
  good = file_replace (fd, place->file, content, 0600, error);
  close (fd);
  return good;
}

static gboolean
drop_in_store (const AdminConfig *config, const Place *place, const char *name, GError **error)
{
  g_autofree char *text = g_strdup_printf ("# Written by undersign-admin(8).\n[Service]\n"
                                           "LoadCredentialEncrypted=%s:%s/%s\n",
                                           name, config->credential_dir, place->file);
  g_autoptr (GBytes) content = g_bytes_new (text, strlen (text));
  int units = folder_open (AT_FDCWD, config->unit_dir, 0755, config->policy.owner, error);
  int fd = -1;
  gboolean good = FALSE;

  if (units < 0)
    return FALSE;
  fd = folder_open (units, place->drop_in_dir, 0755, config->policy.owner, error);
  close (units);
  if (fd < 0)
    return FALSE;
  good = file_replace (fd, place->drop_in, content, 0644, error);
  close (fd);
  return good;
}

/* A description of our own: where the caller's stands is his to move. */
static int
secret_open (int fd, GError **error)
{
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  gsize size = 0;
  int own = -1;

  if (!memfd_check (fd, G_MAXSIZE, &size, NULL))
    us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                  "\"secret\" must be a sealed memfd");
  else if (size == 0 || size > CREDENTIAL_MAX)
    us_error_set (error, US_ERROR_INVALID_ARGUMENT,
                  size == 0 ? US_REASON_BAD_VALUE : US_REASON_TOO_LARGE,
                  "\"secret\" must have 1 to %d bytes", CREDENTIAL_MAX);
  /* Without waiting for a lease that the caller has on it. */
  else if ((own = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
    us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                  "\"secret\" cannot be opened: %s", g_strerror (errno));
  return own;
}

static void
on_encrypted (GBytes *encrypted, const GError *error, gpointer data)
{
  MechanismCall *given = data;
  const AdminState *state = mechanism_data (given->mechanism);
  const char *module = NULL, *name = NULL;
  g_autoptr (GError) local = error != NULL ? g_error_copy (error) : NULL;
  g_auto (Place) place = { 0 };
  gboolean good = FALSE;

  g_variant_get (given->body, "(&s&sh)", &module, &name, NULL);
  if (encrypted != NULL)
    good = place_find (state->config, module, name, &place, &local) &&
           credential_store (state->config, &place, encrypted, &local) &&
           drop_in_store (state->config, &place, name, &local);
  if (good)
    systemd_unit_changed (state->bus, place.unit);
  mechanism_call_answer (given, good ? g_variant_new ("()") : NULL, NULL, local);
}

GVariant *
handle_set_credential (const AdminCall *call, GError **error)
{
  const AdminConfig *config = call->state->config;
  EncryptOrder order = { .program = config->encrypt, .seconds = config->encrypt_seconds };
  const char *module = NULL;
  g_auto (Place) place = { 0 };
  autofd secret = -1;
  gint32 handle = -1;

  g_variant_get (call->body, "(&s&sh)", &module, &order.name, &handle);
  if (call->fds == NULL || handle < 0 || handle >= g_unix_fd_list_get_length (call->fds))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_HANDLE,
                    "\"secret\" is no descriptor of the message");
      return NULL;
    }
  if (!place_find (config, module, order.name, &place, error))
    return NULL;
  secret = secret_open (g_unix_fd_list_peek_fds (call->fds, NULL)[handle], error);
  order.file = place.file;
  order.secret = secret;
  if (secret >= 0 && encrypt_begin (&order, on_encrypted, call->given, error))
    mechanism_call_defer (call->given);
  return NULL;
}

/* Removes a file, so that no loss of power brings it back; @out_gone says whether there was one. */
static gboolean
file_remove (
    const char *dir, const char *below, const char *name, gboolean *out_gone, GError **error)
{
  g_autofree char *folder = below != NULL ? g_strconcat (dir, "/", below, NULL) : g_strdup (dir);
  autofd dirfd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  *out_gone = dirfd >= 0 && unlinkat (dirfd, name, 0) == 0;
  if ((!*out_gone && errno != ENOENT) || (dirfd >= 0 && fsync (dirfd) != 0))
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot remove %s/%s: %s",
                         folder, name, g_strerror (errno));
  return TRUE;
}

/* The folder goes with its last file; the unit of a module may have drop-ins of others. */
static void
folder_leave (const char *dir, const char *below)
{
  g_autofree char *path = g_strconcat (dir, "/", below, NULL);

  if (rmdir (path) != 0 && errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT)
    g_warning ("cannot remove %s: %s", path, g_strerror (errno));
}

GVariant *
handle_remove_credential (const AdminCall *call, GError **error)
{
  const AdminConfig *config = call->state->config;
  const char *module = NULL, *name = NULL;
  gboolean had_drop_in = FALSE, had_file = FALSE, had_one = FALSE;
  g_auto (Place) place = { 0 };

  g_variant_get (call->body, "(&s&s)", &module, &name);
  if (!place_find (config, module, name, &place, error))
    return NULL;
  had_one = encrypt_give_up (place.file);
  if (!file_remove (config->unit_dir, place.drop_in_dir, place.drop_in, &had_drop_in, error) ||
      !file_remove (config->credential_dir, NULL, place.file, &had_file, error))
    return NULL;
  if (!had_drop_in && !had_file && !had_one)
    {
      us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                    "module \"%s\" has no credential \"%s\" here", module, name);
      return NULL;
    }
  folder_leave (config->unit_dir, place.drop_in_dir);
  systemd_unit_changed (call->state->bus, place.unit);
  return g_variant_new ("()");
}
