/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An action with its arguments on the way to the service.  Files become sealed memfds the moment
 * they are added: nobody can change, grow or swap them afterwards.  It checks what the service could
 * not report, nothing that the service decides.
 */
#include "agentlib/lib/submission.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct _UsSubmission
{
  GObject parent;
  char *action, *claim, *idempotency_key, *supersedes;
  GPtrArray *names;  /* of the arguments, in the order added */
  GPtrArray *values; /* the value of each: GVariant */
  GArray *fds;       /* int: the sealed files, in the order of their handles; owned */
  gsize files_size;
};

G_DEFINE_FINAL_TYPE (UsSubmission, us_submission, G_TYPE_OBJECT)

/* Of the arrays of descriptors. */
static void
close_at (gpointer element)
{
  close (*(int *) element);
}

static void
us_submission_init (UsSubmission *submission)
{
  submission->names = g_ptr_array_new_with_free_func (g_free);
  submission->values = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  submission->fds = g_array_new (FALSE, FALSE, sizeof (int));
  g_array_set_clear_func (submission->fds, close_at);
}

static void
us_submission_finalize (GObject *object)
{
  UsSubmission *submission = US_SUBMISSION (object);

  g_free (submission->action);
  g_free (submission->claim);
  g_free (submission->idempotency_key);
  g_free (submission->supersedes);
  g_ptr_array_unref (submission->names);
  g_ptr_array_unref (submission->values);
  g_array_unref (submission->fds);
  G_OBJECT_CLASS (us_submission_parent_class)->finalize (object);
}

static void
us_submission_class_init (UsSubmissionClass *class)
{
  G_OBJECT_CLASS (class)->finalize = us_submission_finalize;
}

UsSubmission *
us_submission_new (const char *action)
{
  UsSubmission *submission;

  g_return_val_if_fail (action != NULL && g_utf8_validate (action, -1, NULL), NULL);
  submission = g_object_new (US_TYPE_SUBMISSION, NULL);
  submission->action = g_strdup (action);
  return submission;
}

static gboolean
check_text (const char *name, const char *value, GError **error)
{
  if (g_utf8_validate (value, -1, NULL))
    return TRUE;
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s: not valid UTF-8",
                       name);
}

static gboolean
check_name (UsSubmission *submission, const char *name, GError **error)
{
  if (!check_text ("the name of an argument", name, error))
    return FALSE;
  for (guint i = 0; i < submission->names->len; i++)
    if (strcmp (g_ptr_array_index (submission->names, i), name) == 0)
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_DUPLICATE_ARGUMENT,
                           "%s is given twice", name);
  return TRUE;
}

static gboolean
add_value (UsSubmission *submission, const char *name, GVariant *value)
{
  g_ptr_array_add (submission->names, g_strdup (name));
  g_ptr_array_add (submission->values, g_variant_ref_sink (value));
  return TRUE;
}

gboolean
us_submission_add_string (UsSubmission *submission,
                          const char *name,
                          const char *value,
                          GError **error)
{
  g_return_val_if_fail (US_IS_SUBMISSION (submission) && name != NULL && value != NULL, FALSE);
  return check_name (submission, name, error) && check_text (name, value, error) &&
         add_value (submission, name, g_variant_new_string (value));
}

gboolean
us_submission_add_boolean (UsSubmission *submission,
                           const char *name,
                           gboolean value,
                           GError **error)
{
  g_return_val_if_fail (US_IS_SUBMISSION (submission) && name != NULL, FALSE);
  return check_name (submission, name, error) &&
         add_value (submission, name, g_variant_new_boolean (value));
}

gboolean
us_submission_add_strings (UsSubmission *submission,
                           const char *name,
                           const char *const *values,
                           GError **error)
{
  g_return_val_if_fail (US_IS_SUBMISSION (submission) && name != NULL && values != NULL, FALSE);
  if (!check_name (submission, name, error))
    return FALSE;
  for (guint i = 0; values[i] != NULL; i++)
    if (!check_text (name, values[i], error))
      return FALSE;
  return add_value (submission, name, g_variant_new_strv (values, -1));
}

/* Copies up to the end of @from; FALSE where that is beyond @max bytes, or on an error (errno). */
static gboolean
copy_content (int from, int to, gsize max, gsize *out_size)
{
  g_autofree char *buffer = g_malloc (64 * 1024);
  gsize size = 0;

  for (;;)
    {
      ssize_t got = TEMP_FAILURE_RETRY (read (from, buffer, 64 * 1024));

      if (got < 0)
        return FALSE;
      if (got == 0)
        break;
      size += (gsize) got;
      if (size > max)
        {
          errno = EFBIG;
          return FALSE;
        }
      for (ssize_t done = 0; done < got;)
        {
          ssize_t put = TEMP_FAILURE_RETRY (write (to, buffer + done, (gsize) (got - done)));

          if (put < 0)
            return FALSE;
          done += put;
        }
    }
  *out_size = size;
  return TRUE;
}

static int
open_regular (const char *name, const char *path, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  int code = errno;
  struct stat info;

  if (fd >= 0 && fstat (fd, &info) == 0 && S_ISREG (info.st_mode))
    return fd;
  if (fd < 0)
    g_set_error (error, G_FILE_ERROR, (int) g_file_error_from_errno (code), "%s: %s: %s", name, shown,
                 g_strerror (code));
  else
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "%s: %s is no regular file", name, shown);
      close (fd);
    }
  return -1;
}

/* A sealed copy of what @from holds, or -1 with errno; EFBIG where that is more than @max bytes. */
static int
seal_content (int from, gsize max, gsize *out_size)
{
  int to = memfd_create ("undersign", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  int code;

  if (to < 0)
    return -1;
  if (copy_content (from, to, max, out_size) && fcntl (to, F_ADD_SEALS, SEALS) == 0)
    return to;
  code = errno;
  close (to);
  errno = code;
  return -1;
}

static int
seal_file (const char *name, const char *path, gsize left, gsize *out_size, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  gsize max = MIN (left, US_MAX_FILE_SIZE);
  int from = open_regular (name, path, error);
  int to, code;

  if (from < 0)
    return -1;
  to = seal_content (from, max, out_size);
  code = errno;
  close (from);
  if (to >= 0)
    return to;
  if (code != EFBIG)
    g_set_error (error, G_FILE_ERROR, (int) g_file_error_from_errno (code), "%s: %s: %s", name, shown,
                 g_strerror (code));
  else if (max == US_MAX_FILE_SIZE)
    us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                  "%s: %s is larger than %d MiB", name, shown, US_MAX_FILE_SIZE / 1024 / 1024);
  else
    us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                  "%s: with %s the files are larger than %d MiB together", name, shown,
                  US_MAX_FILES_SIZE / 1024 / 1024);
  return -1;
}

/* Seals all files or adds nothing.  (transfer floating): an a(sh), or NULL. */
static GVariant *
seal_files (UsSubmission *submission, const char *name, const char *const *paths, GError **error)
{
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(sh)"));
  g_autoptr (GArray) fds = g_array_new (FALSE, FALSE, sizeof (int));
  gsize all = submission->files_size;

  g_array_set_clear_func (fds, close_at);
  if (!check_name (submission, name, error))
    return NULL;
  for (guint i = 0; paths[i] != NULL; i++)
    {
      g_autofree char *base = g_path_get_basename (paths[i]);
      guint handle = submission->fds->len + fds->len;
      gsize size;
      int fd;

      if (!check_text (name, base, error))
        return NULL;
      if (handle >= US_MAX_FILES)
        {
          us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT, "%s: more than %d files",
                        name, US_MAX_FILES);
          return NULL;
        }
      fd = seal_file (name, paths[i], US_MAX_FILES_SIZE - all, &size, error);
      if (fd < 0)
        return NULL;
      all += size;
      g_array_append_val (fds, fd);
      g_variant_builder_add (&builder, "(sh)", base, (gint32) handle);
    }
  g_array_append_vals (submission->fds, fds->data, fds->len);
  g_array_set_clear_func (fds, NULL);
  submission->files_size = all;
  return g_variant_builder_end (&builder);
}

gboolean
us_submission_add_file (UsSubmission *submission, const char *name, const char *path, GError **error)
{
  const char *const paths[] = { path, NULL };
  g_autoptr (GVariant) files = NULL;
  g_autoptr (GVariant) file = NULL;

  g_return_val_if_fail (US_IS_SUBMISSION (submission) && name != NULL && path != NULL, FALSE);
  files = seal_files (submission, name, paths, error);
  if (files == NULL)
    return FALSE;
  g_variant_ref_sink (files);
  file = g_variant_get_child_value (files, 0);
  return add_value (submission, name, file);
}

gboolean
us_submission_add_files (UsSubmission *submission,
                         const char *name,
                         const char *const *paths,
                         GError **error)
{
  GVariant *files;

  g_return_val_if_fail (US_IS_SUBMISSION (submission) && name != NULL && paths != NULL, FALSE);
  files = seal_files (submission, name, paths, error);
  return files != NULL && add_value (submission, name, files);
}

void
us_submission_set_claim (UsSubmission *submission, const char *claim)
{
  g_return_if_fail (US_IS_SUBMISSION (submission));
  g_return_if_fail (claim == NULL || g_utf8_validate (claim, -1, NULL));
  g_free (submission->claim);
  submission->claim = g_strdup (claim);
}

void
us_submission_set_idempotency_key (UsSubmission *submission, const char *key)
{
  g_return_if_fail (US_IS_SUBMISSION (submission));
  g_return_if_fail (key == NULL || g_utf8_validate (key, -1, NULL));
  g_free (submission->idempotency_key);
  submission->idempotency_key = g_strdup (key);
}

void
us_submission_set_supersedes (UsSubmission *submission, const char *request)
{
  g_return_if_fail (US_IS_SUBMISSION (submission));
  g_return_if_fail (request == NULL || g_variant_is_object_path (request));
  g_free (submission->supersedes);
  submission->supersedes = g_strdup (request);
}

gboolean
submission_body (UsSubmission *submission,
                 const char *run,
                 GVariant **out_body,
                 GUnixFDList **out_fds,
                 GError **error)
{
  g_auto (GVariantBuilder) arguments = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_VARDICT);
  g_auto (GVariantBuilder) options = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_VARDICT);
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();

  for (guint i = 0; i < submission->fds->len; i++)
    if (g_unix_fd_list_append (fds, g_array_index (submission->fds, int, i), error) < 0)
      return FALSE;
  for (guint i = 0; i < submission->names->len; i++)
    g_variant_builder_add (&arguments, "{sv}", g_ptr_array_index (submission->names, i),
                           g_ptr_array_index (submission->values, i));
  if (submission->claim != NULL)
    g_variant_builder_add (&options, "{sv}", "claim", g_variant_new_string (submission->claim));
  if (submission->idempotency_key != NULL)
    g_variant_builder_add (&options, "{sv}", "idempotency-key",
                           g_variant_new_string (submission->idempotency_key));
  if (submission->supersedes != NULL)
    g_variant_builder_add (&options, "{sv}", "supersedes",
                           g_variant_new_object_path (submission->supersedes));
  *out_body = g_variant_ref_sink (
      g_variant_new ("(ssa{sv}a{sv})", run, submission->action, &arguments, &options));
  *out_fds = submission->fds->len > 0 ? g_steal_pointer (&fds) : NULL;
  return TRUE;
}
