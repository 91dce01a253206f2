/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The form of the policy image and its strict decoder.  It looks at names and structure alone; what
 * the files say is the loaders' business.
 */
#include "service/policy/image.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/policy/name.h"
#include "service/policy/policy.h"

#include <string.h>

static const struct
{
  const char *name;
  const char *suffix;
  gboolean (*accepts) (const char *name);
} folders[] = {
  [FOLDER_MODULES] = { "modules", ".module", name_is_module },
  [FOLDER_ACTIONS] = { "actions", ".action", name_is_action_id },
  [FOLDER_AGENTS] = { "agents", ".agent", name_is_plain },
  [FOLDER_RULES] = { "rules", ".rule", name_is_plain },
};

G_STATIC_ASSERT (G_N_ELEMENTS (folders) == FOLDER_N);

const char *
folder_name (Folder folder)
{
  return folders[folder].name;
}

const char *
folder_suffix (Folder folder)
{
  return folders[folder].suffix;
}

gboolean
folder_find (const char *name, Folder *out_folder)
{
  for (guint i = 0; i < FOLDER_N; i++)
    if (strcmp (folders[i].name, name) == 0)
      {
        *out_folder = (Folder) i;
        return TRUE;
      }
  return FALSE;
}

gboolean
folder_accepts (Folder folder, const char *name)
{
  return folders[folder].accepts (name);
}

void
image_file_free (ImageFile *file)
{
  if (file == NULL)
    return;
  g_free (file->name);
  g_free (file->path);
  g_clear_pointer (&file->content, g_bytes_unref);
  g_free (file);
}

static void
image_module_free (gpointer data)
{
  ImageModule *module = data;

  g_free (module->path);
  g_free (module->sha256);
  g_free (module);
}

void
image_free (Image *image)
{
  if (image == NULL)
    return;
  for (guint i = 0; i < FOLDER_N; i++)
    g_ptr_array_unref (image->files[i]);
  g_hash_table_unref (image->modules);
  g_clear_pointer (&image->users, g_hash_table_unref);
  g_free (image);
}

gboolean
image_file_is_mask (const ImageFile *file)
{
  return g_bytes_get_size (file->content) == 0;
}

const ImageFile *
image_find (const Image *image, Folder folder, const char *name)
{
  const GPtrArray *files = image->files[folder];
  guint low = 0, high = files->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      const ImageFile *file = g_ptr_array_index (files, middle);
      int order = strcmp (name, file->name);

      if (order == 0)
        return file;
      if (order < 0)
        high = middle;
      else
        low = middle + 1;
    }
  return NULL;
}

/* --- decode --- */

static gboolean
decode_file (Image *image, GVariant *value)
{
  g_autoptr (ImageFile) file = g_new0 (ImageFile, 1);
  g_autoptr (GVariant) content = NULL;
  const char *folder;
  GPtrArray *files;

  g_variant_get (value, "(&ssbs@ay)", &folder, &file->name, &file->shipped, &file->path, &content);
  file->content = g_variant_get_data_as_bytes (content);
  if (!folder_find (folder, &file->folder) || !folder_accepts (file->folder, file->name) ||
      *file->path == '\0' || (file->folder == FOLDER_MODULES && !file->shipped))
    return FALSE;
  files = image->files[file->folder];
  if (files->len > 0)
    {
      const ImageFile *last = g_ptr_array_index (files, files->len - 1);

      if (strcmp (last->name, file->name) >= 0)
        return FALSE;
    }
  g_ptr_array_add (files, g_steal_pointer (&file));
  return TRUE;
}

static gboolean
decode_module (Image *image, GVariant *value)
{
  g_autoptr (GVariant) digest = NULL;
  const char *name, *path;
  const guint8 *data;
  ImageModule *module;
  gsize len;

  g_variant_get (value, "(&s&s@ay)", &name, &path, &digest);
  data = g_variant_get_fixed_array (digest, &len, 1);
  if (!name_is_module (name) || *path == '\0' || (len != 0 && len != 32) ||
      g_hash_table_contains (image->modules, name))
    return FALSE;
  module = g_new0 (ImageModule, 1);
  module->path = g_strdup (path);
  module->sha256 = len > 0 ? hex_encode (data, len) : g_strdup ("");
  g_hash_table_insert (image->modules, g_strdup (name), module);
  return TRUE;
}

static gboolean
decode_all (Image *image, GVariant *root)
{
  g_autoptr (GVariant) files = NULL, modules = NULL;
  const char *format;

  g_variant_get (root, "(&s@a" IMAGE_FILE_TYPE "@a" IMAGE_MODULE_TYPE ")", &format, &files,
                 &modules);
  if (strcmp (format, IMAGE_FORMAT) != 0)
    return FALSE;
  for (gsize i = 0; i < g_variant_n_children (files); i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (files, i);

      if (!decode_file (image, child))
        return FALSE;
    }
  for (gsize i = 0; i < g_variant_n_children (modules); i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (modules, i);

      if (!decode_module (image, child))
        return FALSE;
    }
  return TRUE;
}

static gboolean
decode_user (Image *image, GVariant *value, const char **last)
{
  g_autofree ImageUser *user = g_new0 (ImageUser, 1);
  const char *name;
  guint32 uid;

  g_variant_get (value, "(&sbub)", &name, &user->exists, &uid, &user->is_uids_name);
  user->uid = (uid_t) uid;
  if (!name_is_user (name) || (*last != NULL && strcmp (*last, name) >= 0) ||
      (!user->exists && (uid != 0 || user->is_uids_name)))
    return FALSE;
  *last = name;
  g_hash_table_insert (image->users, g_strdup (name), g_steal_pointer (&user));
  return TRUE;
}

static gboolean
decode_users (Image *image, GVariant *users)
{
  const char *last = NULL;

  image->users = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (gsize i = 0; i < g_variant_n_children (users); i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (users, i);

      /* @last is in the memory of @users */
      if (!decode_user (image, child, &last))
        return FALSE;
    }
  return TRUE;
}

/* variant_of: NULL where @bytes are not the normal form of @type. */
static GVariant *
variant_of (GBytes *bytes, const char *type)
{
  g_autoptr (GVariant) root =
      g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (type), bytes, FALSE));

  return g_variant_is_normal_form (root) ? g_steal_pointer (&root) : NULL;
}

/* resolved_open: the image within a resolved one, and its users; @bytes themselves and no users where
 * they are not resolved; NULL for what is neither. */
static GBytes *
resolved_open (GBytes *bytes, GVariant **out_users)
{
  static const ImageHead expected = IMAGE_HEAD_INIT;
  gsize len;
  const guint8 *data = g_bytes_get_data (bytes, &len);
  g_autoptr (GBytes) users = NULL;
  ImageHead head;
  guint64 image_len;

  if (len < sizeof head || memcmp (data, expected.magic, sizeof expected.magic) != 0)
    return g_bytes_ref (bytes);
  memcpy (&head, data, sizeof head);
  image_len = GUINT64_FROM_LE (head.image_len);
  len -= sizeof head;
  if (image_len > len)
    return NULL;
  users = g_bytes_new_from_bytes (bytes, sizeof head + (gsize) image_len, len - (gsize) image_len);
  *out_users = variant_of (users, "a" IMAGE_USER_TYPE);
  if (*out_users == NULL)
    return NULL;
  return g_bytes_new_from_bytes (bytes, sizeof head, (gsize) image_len);
}

Image *
image_decode (GBytes *bytes, GError **error)
{
  g_autoptr (Image) image = g_new0 (Image, 1);
  g_autoptr (GBytes) inner = NULL;
  g_autoptr (GVariant) root = NULL;
  g_autoptr (GVariant) users = NULL;

  for (guint i = 0; i < FOLDER_N; i++)
    image->files[i] = g_ptr_array_new_with_free_func ((GDestroyNotify) image_file_free);
  image->modules = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, image_module_free);

  if (g_bytes_get_size (bytes) <= POLICY_MAX_IMAGE)
    inner = resolved_open (bytes, &users);
  if (inner != NULL)
    root = variant_of (inner, IMAGE_TYPE);
  if (root == NULL || !decode_all (image, root) ||
      (users != NULL && !decode_users (image, users)))
    {
      us_error_set (error, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID,
                    "the policy image is not of the form " IMAGE_FORMAT);
      return NULL;
    }
  return g_steal_pointer (&image);
}
