/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Taking, copying and hashing the files of requests.  Nothing here may read from a descriptor that
 * did not pass memfd_check(), open a path that an agent chose, or hold up the main loop for longer
 * than one slice.
 */
#include "service/broker/files.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* What is done in one turn of the main loop. */
#define SLICE (1024 * 1024)
#define DIGEST_SLICE (256 * 1024) /* takes as long */

static Files *
files_new (void)
{
  Files *files = g_new0 (Files, 1);

  g_atomic_ref_count_init (&files->refs);
  return files;
}

Files *
files_ref (Files *files)
{
  g_atomic_ref_count_inc (&files->refs);
  return files;
}

void
files_unref (Files *files)
{
  if (files == NULL || !g_atomic_ref_count_dec (&files->refs))
    return;
  for (guint i = 0; i < files->n; i++)
    fd_clear (&files->fds[i]);
  g_free (files);
}

/* --- taking --- */

static void
close_all (int *fds, int n)
{
  for (int i = 0; i < n; i++)
    fd_clear (&fds[i]);
  g_free (fds);
}

static gboolean
files_check (Files *files, GError **error)
{
  for (guint i = 0; i < files->n; i++)
    {
      gsize size = 0;

      if (!memfd_check (files->fds[i], HANDOVER_FILE_MAX, &size, error))
        return FALSE;
      files->sizes[i] = size;
      files->bytes += size;
    }
  if (files->bytes > HANDOVER_FILES_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the files have %" G_GUINT64_FORMAT " bytes, at most %d are accepted",
                         files->bytes, HANDOVER_FILES_MAX);
  return TRUE;
}

Files *
files_new_steal (GUnixFDList *list, GError **error)
{
  g_autoptr (Files) files = files_new ();
  int *fds = NULL;
  int n = 0;

  if (list == NULL)
    return g_steal_pointer (&files);

  fds = g_unix_fd_list_steal_fds (list, &n);
  if (n > HANDOVER_MAX_FILES)
    {
      close_all (fds, n);
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                    "there are %d files, at most %d are accepted", n, HANDOVER_MAX_FILES);
      return NULL;
    }

  for (int i = 0; i < n; i++)
    files->fds[files->n++] = fds[i];
  g_free (fds);
  if (!files_check (files, error))
    return NULL;
  return g_steal_pointer (&files);
}

/* --- jobs --- */

typedef enum
{
  JOB_DIGEST,
  JOB_SPOOL,
  JOB_LOAD,
} JobKind;

typedef struct
{
  JobKind kind;
  Files *files;
  int dirfd; /* of the spool */
  int iddir; /* of this request's copies */
  char *id;
  guint n;
  guint i;      /* the file it is at */
  int fd;       /* the other end of the copy, -1 between files */
  off_t offset;
  guint64 size; /* of the file it is at */
  GChecksum *checksum;
  guint8 digests[HANDOVER_MAX_FILES][32];
  guint8 *buffer;
  GError *error;
  FilesCallback callback;
  gpointer data;
} Job;

/* The jobs of one uid, one after the other. */
typedef struct
{
  uid_t uid;
  GQueue jobs;
} Account;

static GQueue accounts; /* those with a job; the first has the next turn */
static guint source;    /* 0 where there are none */

static void
job_free (Job *job)
{
  fd_clear (&job->fd);
  fd_clear (&job->iddir);
  g_clear_pointer (&job->checksum, g_checksum_free);
  g_clear_error (&job->error);
  files_unref (job->files);
  g_free (job->buffer);
  g_free (job->id);
  g_free (job);
}

static gboolean
job_fail (Job *job, const char *doing)
{
  int number = errno;

  return us_error_set (&job->error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                       "cannot %s the copy of a file: %s", doing, g_strerror (number));
}

/* A copy that there is not, or none at all, is the end of those to load. */
static gboolean
job_fail_open (Job *job)
{
  if (job->kind != JOB_LOAD || errno != ENOENT)
    return job_fail (job, "open");
  job->n = job->i;
  return FALSE;
}

static gboolean
job_open_dir (Job *job)
{
  if (job->kind == JOB_DIGEST || job->iddir >= 0)
    return TRUE;
  if (job->kind == JOB_SPOOL && mkdirat (job->dirfd, job->id, 0700) < 0)
    return job_fail (job, "make");
  job->iddir = openat (job->dirfd, job->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return job->iddir >= 0 || job_fail_open (job);
}

static gboolean
job_open_stored (Job *job, const char *name)
{
  struct stat status = { 0 };

  job->fd = openat (job->iddir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (job->fd < 0 || fstat (job->fd, &status) < 0)
    return job_fail_open (job);
  if (!S_ISREG (status.st_mode) || status.st_size > HANDOVER_FILE_MAX)
    return us_error_set (&job->error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "the copy of a file is not a file of ours");
  job->size = (guint64) status.st_size;
  job->files->fds[job->i] = memfd_create ("undersign-file", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (job->files->fds[job->i] < 0)
    return job_fail (job, "load");
  job->files->n = job->i + 1;
  return TRUE;
}

static gboolean
job_open_file (Job *job)
{
  char name[8] = "";

  g_snprintf (name, sizeof name, "%u", job->i);
  job->offset = 0;
  if (job->kind == JOB_LOAD)
    return job_open_stored (job, name);

  job->size = job->files->sizes[job->i];
  if (job->kind == JOB_DIGEST)
    {
      if (job->checksum == NULL)
        job->checksum = g_checksum_new (G_CHECKSUM_SHA256);
      if (job->buffer == NULL)
        job->buffer = g_malloc (DIGEST_SLICE);
      g_checksum_reset (job->checksum);
      return TRUE;
    }
  job->fd = openat (job->iddir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  return job->fd >= 0 || job_fail (job, "make");
}

static gboolean
job_end_file (Job *job)
{
  gsize size = 0;
  gsize len = 32;

  if (job->kind == JOB_DIGEST)
    g_checksum_get_digest (job->checksum, job->digests[job->i], &len);
  else if (job->kind == JOB_LOAD)
    {
      if (fcntl (job->files->fds[job->i], F_ADD_SEALS,
                 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
        return job_fail (job, "seal");
      if (!memfd_check (job->files->fds[job->i], HANDOVER_FILE_MAX, &size, &job->error))
        return FALSE;
      job->files->sizes[job->i] = size;
      job->files->bytes += size;
    }
  fd_clear (&job->fd);
  job->i++;
  return TRUE;
}

/* One slice of the file it is at. */
static gboolean
job_copy (Job *job)
{
  guint64 slice = job->kind == JOB_DIGEST ? DIGEST_SLICE : SLICE;
  gsize len = (gsize) MIN (job->size - (guint64) job->offset, slice);
  int from = job->kind == JOB_LOAD ? job->fd : job->files->fds[job->i];
  int to = job->kind == JOB_LOAD ? job->files->fds[job->i] : job->fd;
  ssize_t n = 0;

  if (job->kind == JOB_DIGEST)
    {
      n = pread (from, job->buffer, len, job->offset);
      if (n > 0)
        {
          g_checksum_update (job->checksum, job->buffer, n);
          job->offset += n;
        }
    }
  else
    n = sendfile (to, from, &job->offset, len);

  if (n < 0 && errno == EINTR)
    return TRUE;
  if (n < 0)
    return job_fail (job, "write");
  if (n == 0)
    return us_error_set (&job->error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "a file ended early");
  return TRUE;
}

/* TRUE while there is more to do. */
static gboolean
job_step (Job *job)
{
  if (job->i == job->n || !job_open_dir (job))
    return FALSE;
  if (job->offset < 0 && !job_open_file (job))
    return FALSE;
  if ((guint64) job->offset < job->size)
    return job_copy (job);
  if (!job_end_file (job))
    return FALSE;
  job->offset = -1;
  return job->i < job->n;
}

static void
job_end (Job *job)
{
  FilesDone done = { .files = job->files, .digests = job->digests };

  /* Only what this job made: another one's copies may have the same id. */
  if (job->error != NULL && job->kind == JOB_SPOOL && job->iddir >= 0)
    files_drop (job->dirfd, job->id);
  job->callback (job->error == NULL ? &done : NULL, job->error, job->data);
  job_free (job);
}

/* --- whose turn it is --- */

/* The account of the next turn is taken off the queue, without its first job where @ends. */
static Job *
turn_end (gboolean ends)
{
  Account *account = g_queue_pop_head (&accounts);
  Job *job = ends ? g_queue_pop_head (&account->jobs) : NULL;

  if (g_queue_is_empty (&account->jobs))
    g_free (account);
  else
    g_queue_push_tail (&accounts, account);
  return job;
}

static gboolean
turn_dispatch (gpointer data)
{
  Account *account = g_queue_peek_head (&accounts);
  Job *ended = turn_end (!job_step (g_queue_peek_head (&account->jobs)));

  if (ended != NULL)
    job_end (ended);
  if (!g_queue_is_empty (&accounts))
    return G_SOURCE_CONTINUE;
  source = 0;
  return G_SOURCE_REMOVE;
}

void
files_stop (void)
{
  while (!g_queue_is_empty (&accounts))
    {
      Job *job = turn_end (TRUE);

      us_error_set (&job->error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                    "the service is ending");
      job_end (job);
    }
  if (source != 0)
    g_source_remove (source);
  source = 0;
}

static void
job_queue (Job *job, uid_t uid)
{
  Account *account = NULL;

  for (GList *l = accounts.head; l != NULL && account == NULL; l = l->next)
    if (((Account *) l->data)->uid == uid)
      account = l->data;
  if (account == NULL)
    {
      account = g_new0 (Account, 1);
      account->uid = uid;
      g_queue_push_tail (&accounts, account);
    }
  g_queue_push_tail (&account->jobs, job);
  if (source == 0)
    source = g_idle_add_full (G_PRIORITY_DEFAULT, turn_dispatch, NULL, NULL);
}

static void
job_start (JobKind kind,
           Files *files,
           uid_t uid,
           int dirfd,
           const char *id,
           guint n,
           FilesCallback callback,
           gpointer data)
{
  Job *job = g_new0 (Job, 1);

  g_assert (n <= HANDOVER_MAX_FILES);
  job->kind = kind;
  job->files = files_ref (files);
  job->dirfd = dirfd;
  job->iddir = -1;
  job->id = g_strdup (id);
  job->n = n;
  job->fd = -1;
  job->offset = -1;
  job->callback = callback;
  job->data = data;
  job_queue (job, uid);
}

void
files_digest (Files *files, uid_t uid, FilesCallback callback, gpointer data)
{
  job_start (JOB_DIGEST, files, uid, -1, NULL, files->n, callback, data);
}

void
files_spool (
    Files *files, uid_t uid, int dirfd, const char *id, FilesCallback callback, gpointer data)
{
  job_start (JOB_SPOOL, files, uid, dirfd, id, files->n, callback, data);
}

void
files_load (uid_t uid, int dirfd, const char *id, FilesCallback callback, gpointer data)
{
  g_autoptr (Files) files = files_new ();

  job_start (JOB_LOAD, files, uid, dirfd, id, HANDOVER_MAX_FILES, callback, data);
}

/* --- the copies --- */

int
files_open (int dirfd, const char *id, guint index, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%s/%u", id, index);
  int fd = -1;

  g_assert (id_is_valid (id));
  if (index < HANDOVER_MAX_FILES)
    fd = openat (dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND, "there is no such file");
  return fd;
}

gboolean
files_rename (int dirfd, const char *from, const char *to, const Files *files, GError **error)
{
  if (files->n > 0 && renameat2 (dirfd, from, dirfd, to, RENAME_NOREPLACE) < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "cannot rename the copies of files: %s", g_strerror (errno));
  return TRUE;
}

Files *
files_stored (int dirfd, const char *id)
{
  Files *files = files_new ();

  g_assert (id_is_valid (id));
  while (files->n < HANDOVER_MAX_FILES)
    {
      g_autofree char *name = g_strdup_printf ("%s/%u", id, files->n);
      struct stat status = { 0 };

      if (fstatat (dirfd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        break;
      files->fds[files->n++] = -1;
      files->bytes += (guint64) status.st_size;
      files->is_stored = TRUE;
    }
  return files;
}

void
files_drop (int dirfd, const char *id)
{
  autofd iddir = openat (dirfd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

  if (iddir < 0)
    return;
  for (guint i = 0; i < HANDOVER_MAX_FILES; i++)
    {
      char name[8] = "";

      g_snprintf (name, sizeof name, "%u", i);
      unlinkat (iddir, name, 0);
    }
  if (unlinkat (dirfd, id, AT_REMOVEDIR) < 0)
    g_warning ("cannot remove the files of request %s: %s", id, g_strerror (errno));
}

void
files_sweep (int dirfd, GHashTable *keep)
{
  int copy = openat (dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = copy >= 0 ? fdopendir (copy) : NULL;
  const struct dirent *entry = NULL;

  if (dir == NULL)
    {
      fd_clear (&copy);
      return;
    }
  while ((entry = readdir (dir)) != NULL)
    if (id_is_valid (entry->d_name) && !g_hash_table_contains (keep, entry->d_name))
      files_drop (dirfd, entry->d_name);
  closedir (dir);
}

gboolean
files_have_room (int dirfd, guint64 bytes, guint64 reserve, GError **error)
{
  struct statvfs status = { 0 };
  guint64 room = 0;

  if (fstatvfs (dirfd, &status) < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "cannot ask the disk for its room: %s", g_strerror (errno));
  room = (guint64) status.f_bavail * status.f_frsize;
  if (bytes > room || room - bytes < reserve)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "DiskReserve is %" G_GUINT64_FORMAT ": the disk would have less left",
                         reserve);
  return TRUE;
}
