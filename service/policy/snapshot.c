/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the policy folders into one image.  Called by a child of the executor's listener and, to say
 * what a reload will find, by its worker; as root by undersign-admin and undersign-launcher; and by
 * undersignctl.  It trusts no name and no owner, follows no link, opens each file once, and never
 * leaves a file out because it could not be read: one that cannot refuses the whole set.
 */
#include "service/policy/load.h"

#include "service/base/fd.h"
#include "service/base/file.h"
#include "service/policy/fault.h"
#include "service/policy/keyfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MODULE_MAX_BYTES (64 * 1024 * 1024)

typedef struct
{
  const PolicySource *source;
  Faults *faults;
  GHashTable *unread; /* (nullable) */
  GHashTable *files[FOLDER_N]; /* name → ImageFile */
  gsize bytes;
} Snapshot;

static void
add_error (Snapshot *snapshot, const char *path, const GError *error)
{
  faults_add (snapshot->faults, path, 0, "%s", error_text (error));
}

/* Something that exists and is not read: what refers to it is no fault besides. */
static void
note_unread (Snapshot *snapshot, const char *folder, const char *name)
{
  if (snapshot->unread != NULL)
    g_hash_table_add (snapshot->unread, g_strconcat (folder, "/", name, NULL));
}

/* Root's files are always as good as the owner's; who it is, is checked again on the descriptor. */
static uid_t
expected_owner (const Snapshot *snapshot, int dirfd, const char *path)
{
  struct stat info;

  if (fstatat (dirfd, path, &info, AT_SYMLINK_NOFOLLOW) == 0 && info.st_uid == 0)
    return 0;
  return snapshot->source->owner;
}

/* The mode alone is asked: whoever checks may be root, whom no mode keeps out.  Neither root's nor
 * the owner's bits help the executor, which is another user. */
static void
check_readable (Snapshot *snapshot, int dirfd, const char *name, const char *path)
{
  const PolicySource *source = snapshot->source;
  mode_t needed = S_IROTH;
  struct stat info;

  if (!source->must_be_readable || fstatat (dirfd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
    return;
  if (S_ISDIR (info.st_mode))
    needed |= S_IXOTH;
  if (info.st_gid == source->reader_group)
    needed <<= 3;
  if ((info.st_mode & needed) != needed)
    faults_add (snapshot->faults, path, 0,
                "undersign-executor cannot read it: its mode is %04o, which keeps others out",
                (guint) (info.st_mode & 07777));
}

/* -1 where there is none or, with a fault, where it is not to be trusted. */
static int
open_folder (Snapshot *snapshot, int dirfd, const char *name, const char *path, gboolean needed)
{
  g_autoptr (GError) error = NULL;
  int fd = dir_open_trusted (dirfd, name, expected_owner (snapshot, dirfd, name), &error);

  if (fd >= 0)
    return fd;
  if (needed || !g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    add_error (snapshot, path, error);
  return -1;
}

/* What editors and package managers leave beside a file. */
static gboolean
is_left_over (const char *name)
{
  static const char *const endings[] = {
    "~",        ".dpkg-old", ".dpkg-new", ".dpkg-dist", ".dpkg-tmp", ".dpkg-bak", ".dpkg-remove",
    ".ucf-old", ".ucf-new",  ".ucf-dist", ".rpmnew",    ".rpmsave",  ".rpmorig",
  };

  if (name[0] == '.')
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (name, endings[i]))
      return TRUE;
  return FALSE;
}

/* "mail.send" of "mail.send.action"; NULL where the folder takes no such file. */
static char *
strip_suffix (Folder folder, const char *file_name)
{
  g_autofree char *name = NULL;

  if (!g_str_has_suffix (file_name, folder_suffix (folder)))
    return NULL;
  name = g_strndup (file_name, strlen (file_name) - strlen (folder_suffix (folder)));
  return folder_accepts (folder, name) ? g_steal_pointer (&name) : NULL;
}

static void
read_file (Snapshot *snapshot,
           int dirfd,
           const char *dir,
           Folder folder,
           const char *file_name,
           gboolean shipped)
{
  g_autofree char *path = g_build_filename (dir, file_name, NULL);
  g_autofree char *name = strip_suffix (folder, file_name);
  g_autoptr (ImageFile) file = g_new0 (ImageFile, 1);
  g_autoptr (GError) error = NULL;

  if (name == NULL)
    {
      faults_add (snapshot->faults, path, 0, "not the name of a file of this folder (NAME%s)",
                  folder_suffix (folder));
      return;
    }
  file->content = file_read_trusted (dirfd, file_name, expected_owner (snapshot, dirfd, file_name),
                                     KEY_FILE_MAX_BYTES, &error);
  if (file->content == NULL)
    {
      add_error (snapshot, path, error);
      note_unread (snapshot, folder_name (folder), name);
      return;
    }
  check_readable (snapshot, dirfd, file_name, path);
  snapshot->bytes += g_bytes_get_size (file->content);
  file->folder = folder;
  file->name = g_strdup (name);
  file->path = g_steal_pointer (&path);
  file->shipped = shipped;
  g_hash_table_replace (snapshot->files[folder], g_steal_pointer (&name), g_steal_pointer (&file));
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* list_folder: the names in it, sorted, without what is left over. */
static GPtrArray *
list_folder (Snapshot *snapshot, int dirfd, const char *dir)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  int copy = fcntl (dirfd, F_DUPFD_CLOEXEC, 0);
  DIR *stream = copy >= 0 ? fdopendir (copy) : NULL;
  const struct dirent *entry;

  if (stream == NULL)
    {
      faults_add (snapshot->faults, dir, 0, "cannot read the folder: %s", g_strerror (errno));
      if (copy >= 0)
        close (copy);
      return NULL;
    }
  errno = 0;
  while ((entry = readdir (stream)) != NULL)
    {
      if (!is_left_over (entry->d_name))
        g_ptr_array_add (names, g_strdup (entry->d_name));
      errno = 0;
    }
  if (errno != 0)
    faults_add (snapshot->faults, dir, 0, "cannot read the folder: %s", g_strerror (errno));
  closedir (stream);
  g_ptr_array_sort (names, compare_names);
  return g_steal_pointer (&names);
}

static void
read_folder (
    Snapshot *snapshot, int parent, const char *parent_path, Folder folder, gboolean shipped)
{
  g_autofree char *dir = g_build_filename (parent_path, folder_name (folder), NULL);
  guint before = faults_count (snapshot->faults);
  autofd fd = open_folder (snapshot, parent, folder_name (folder), dir, FALSE);
  g_autoptr (GPtrArray) names = fd >= 0 ? list_folder (snapshot, fd, dir) : NULL;

  if (fd >= 0)
    check_readable (snapshot, parent, folder_name (folder), dir);
  if (faults_count (snapshot->faults) != before && names == NULL)
    note_unread (snapshot, folder_name (folder), "");
  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);

      if (folder == FOLDER_MODULES && !shipped && !snapshot->source->staging)
        {
          g_autofree char *path = g_build_filename (dir, name, NULL);

          faults_add (snapshot->faults, path, 0, "a manifest comes with its module, in %s/modules",
                      snapshot->source->data_dir);
          continue;
        }
      read_file (snapshot, fd, dir, folder, name, shipped || folder == FOLDER_MODULES);
    }
}

static void
read_tree (Snapshot *snapshot, const char *path, gboolean shipped)
{
  /* the one tree that the question is about must be there */
  gboolean needed = shipped != snapshot->source->staging;
  guint before = faults_count (snapshot->faults);
  autofd fd = open_folder (snapshot, AT_FDCWD, path, path, needed);

  for (guint i = 0; fd < 0 && i < FOLDER_N && faults_count (snapshot->faults) != before; i++)
    note_unread (snapshot, folder_name ((Folder) i), "");
  if (fd < 0)
    return;
  if (shipped || !snapshot->source->staging)
    check_readable (snapshot, AT_FDCWD, path, path);
  for (guint i = 0; i < FOLDER_N; i++)
    read_folder (snapshot, fd, path, (Folder) i, shipped);
}

static void
add_planned (Snapshot *snapshot)
{
  const PolicyPlanned *planned = snapshot->source->planned;

  for (; planned != NULL && planned->name != NULL; planned++)
    {
      ImageFile *file = g_new0 (ImageFile, 1);

      if (!folder_find (planned->folder, &file->folder))
        g_assert_not_reached ();
      file->name = g_strdup (planned->name);
      file->path = g_strdup_printf ("%s/%s/%s%s", snapshot->source->config_dir, planned->folder,
                                    planned->name, folder_suffix (file->folder));
      file->content = g_bytes_new (planned->text, strlen (planned->text));
      g_hash_table_replace (snapshot->files[file->folder], g_strdup (planned->name), file);
    }
}

/* --- writing --- */

/* hash_module: "" where a tree is prepared and the module not installed; NULL where there is none.
 */
static GVariant *
hash_module (Snapshot *snapshot, int dirfd, const char *file_name, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize len = sizeof digest;

  if (dirfd >= 0)
    bytes = file_read_trusted (dirfd, file_name, expected_owner (snapshot, dirfd, file_name),
                               MODULE_MAX_BYTES, &error);
  if (bytes == NULL)
    {
      if (error != NULL && !g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        add_error (snapshot, path, error);
      else if (snapshot->source->staging)
        return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, digest, 0, 1);
      return NULL;
    }
  check_readable (snapshot, dirfd, file_name, path);
  g_checksum_update (checksum, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  g_checksum_get_digest (checksum, digest, &len);
  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, digest, len, 1);
}

static void
add_modules (Snapshot *snapshot, GPtrArray *names, GVariantBuilder *modules)
{
  const char *dir = snapshot->source->module_dir;
  guint before = faults_count (snapshot->faults);
  autofd fd = dir != NULL ? open_folder (snapshot, AT_FDCWD, dir, dir, FALSE) : -1;

  if (fd >= 0)
    check_readable (snapshot, AT_FDCWD, dir, dir);
  if (faults_count (snapshot->faults) != before)
    note_unread (snapshot, OBJECTS, "");
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      guint before_one = faults_count (snapshot->faults);
      g_autofree char *file_name = g_strconcat (name, ".so", NULL);
      g_autofree char *path = g_build_filename (dir != NULL ? dir : "/", file_name, NULL);
      GVariant *digest = hash_module (snapshot, fd, file_name, path);

      if (faults_count (snapshot->faults) != before_one)
        note_unread (snapshot, OBJECTS, name);
      if (digest != NULL)
        g_variant_builder_add (modules, "(ss@ay)", name, path, digest);
    }
}

static GPtrArray *
sorted_names (GHashTable *files)
{
  GPtrArray *names = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (names, name);
  g_ptr_array_sort (names, compare_names);
  return names;
}

static void
add_files (GHashTable *table, GPtrArray *names, GVariantBuilder *files)
{
  for (guint i = 0; i < names->len; i++)
    {
      const ImageFile *file = g_hash_table_lookup (table, g_ptr_array_index (names, i));

      g_variant_builder_add (
          files, "(ssbs@ay)", folder_name (file->folder), file->name, file->shipped, file->path,
          g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, file->content, TRUE));
    }
}

static GBytes *
write_image (Snapshot *snapshot)
{
  g_auto (GVariantBuilder) files, modules;
  g_autoptr (GVariant) root = NULL;

  g_variant_builder_init (&files, G_VARIANT_TYPE ("a" IMAGE_FILE_TYPE));
  g_variant_builder_init (&modules, G_VARIANT_TYPE ("a" IMAGE_MODULE_TYPE));
  for (guint i = 0; i < FOLDER_N; i++)
    {
      g_autoptr (GPtrArray) names = sorted_names (snapshot->files[i]);

      add_files (snapshot->files[i], names, &files);
      if (i == FOLDER_MODULES)
        add_modules (snapshot, names, &modules);
    }
  root = g_variant_ref_sink (g_variant_new ("(s@a" IMAGE_FILE_TYPE "@a" IMAGE_MODULE_TYPE ")",
                                            IMAGE_FORMAT, g_variant_builder_end (&files),
                                            g_variant_builder_end (&modules)));
  return g_variant_get_data_as_bytes (root);
}

GBytes *
snapshot_take (const PolicySource *source, Faults *faults, GHashTable *unread)
{
  g_autoptr (GBytes) image = NULL;
  Snapshot snapshot = { .source = source, .faults = faults, .unread = unread };

  for (guint i = 0; i < FOLDER_N; i++)
    snapshot.files[i] =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) image_file_free);
  read_tree (&snapshot, source->data_dir, TRUE);
  if (source->config_dir != NULL)
    read_tree (&snapshot, source->config_dir, FALSE);
  add_planned (&snapshot);
  if (snapshot.bytes > POLICY_MAX_IMAGE / 2)
    faults_add (faults, source->data_dir, 0, "all files together are larger than %d bytes",
                POLICY_MAX_IMAGE / 2);
  else
    image = write_image (&snapshot);
  for (guint i = 0; i < FOLDER_N; i++)
    g_hash_table_unref (snapshot.files[i]);
  return g_steal_pointer (&image);
}

GBytes *
policy_snapshot (const PolicySource *source, GError **error)
{
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (GBytes) image = snapshot_take (source, faults, NULL);

  return faults_report (faults, error) ? g_steal_pointer (&image) : NULL;
}
