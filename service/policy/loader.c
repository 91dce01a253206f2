/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the loaders of single files share: reading one key of a type they all have, and users, each
 * looked up once.  Whatever is wrong is a fault with its file and line.
 */
#include "service/policy/load-rule.h"

#include "service/policy/name.h"

#include <string.h>

gboolean
loader_is_broken (const Loader *loader, Folder folder, const char *name)
{
  const ImageFile *file = image_find (loader->policy->image, folder, name);

  return loader_is_unread (loader, folder_name (folder), name) ||
         (file != NULL && !image_file_is_mask (file));
}

gboolean
loader_is_unread (const Loader *loader, const char *folder, const char *name)
{
  g_autofree char *key = g_strconcat (folder, "/", name, NULL);
  g_autofree char *whole = g_strconcat (folder, "/", NULL);

  return loader->unread != NULL && (g_hash_table_contains (loader->unread, key) ||
                                    g_hash_table_contains (loader->unread, whole));
}

gboolean
loader_has_unread (const Loader *loader, Folder folder)
{
  g_autofree char *whole = g_strconcat (folder_name (folder), "/", NULL);
  GHashTableIter iter;
  gpointer key;

  if (loader->unread == NULL)
    return FALSE;
  g_hash_table_iter_init (&iter, loader->unread);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (g_str_has_prefix (key, whole))
      return TRUE;
  return FALSE;
}

gboolean
loader_has_broken_agent (const Loader *loader)
{
  const GPtrArray *files = loader->policy->image->files[FOLDER_AGENTS];

  for (guint i = 0; i < files->len; i++)
    {
      const ImageFile *file = g_ptr_array_index (files, i);

      if (!image_file_is_mask (file) && policy_agent_by_name (loader->policy, file->name) == NULL)
        return TRUE;
    }
  return loader_has_unread (loader, FOLDER_AGENTS);
}

void
load_fault (Loader *loader, const KeyFile *file, guint line, const GError *error)
{
  faults_add (loader->faults, file->path, line, "%s", error_text (error));
}

const Type *
load_type (Loader *loader, const KeyFile *file, const KeySection *section)
{
  const char *name = key_section_value (section, "Type");
  const Type *type = type_find (name);

  if (type == NULL)
    {
      g_autofree char *quoted = quote_text (name);

      faults_add (loader->faults, file->path, key_section_line (section, "Type"),
                  "there is no type %s", quoted);
    }
  return type;
}

char *
load_text (
    Loader *loader, const KeyFile *file, const KeySection *section, const char *key, gsize max)
{
  const char *text = key_section_value (section, key);
  g_autoptr (JsonTree) value = json_tree_new_string (text);
  g_autoptr (GError) error = NULL;

  if (strlen (text) > max)
    faults_add (loader->faults, file->path, key_section_line (section, key),
                "%s= is longer than %" G_GSIZE_FORMAT " bytes", key, max);
  else if (!type_check (type_find ("line"), key, value, &error))
    load_fault (loader, file, key_section_line (section, key), error);
  else
    return g_strdup (text);
  return NULL;
}

JsonTree *
load_value (Loader *loader,
            const KeyFile *file,
            const KeySection *section,
            const char *key,
            const Type *type,
            const char *name)
{
  const KeyEntry *entry = key_section_entry (section, key);
  g_autoptr (GError) error = NULL;
  JsonTree *value;

  if (entry == NULL)
    return NULL;
  value = type_from_text (type, name, entry->value, &error);
  if (value == NULL)
    load_fault (loader, file, entry->line, error);
  return value;
}

guint
load_number (Loader *loader, const KeyFile *file, const KeyEntry *entry, guint max)
{
  guint64 number;

  if (entry->value[0] != '0' &&
      g_ascii_string_to_unsigned (entry->value, 10, 1, max, &number, NULL))
    return (guint) number;
  faults_add (loader->faults, file->path, entry->line, "%s= is a number from 1 to %u", entry->key,
              max);
  return 0;
}

typedef struct
{
  ImageUser found; /* its is_uids_name is looked up where it is asked for */
  gboolean is_asked;
} KnownUser;

GHashTable *
load_users_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

/* known_user: of a resolved image as it says, and none where it says nothing. */
static KnownUser *
known_user (Loader *loader, const char *name)
{
  KnownUser *user = g_hash_table_lookup (loader->users, name);
  GHashTable *resolved = loader->policy->image->users;
  const ImageUser *found = resolved != NULL ? g_hash_table_lookup (resolved, name) : NULL;

  if (user != NULL)
    return user;
  user = g_new0 (KnownUser, 1);
  user->is_asked = resolved != NULL;
  if (found != NULL)
    user->found = *found;
  else if (resolved == NULL)
    user->found.exists = loader->names->user_by_name (name, &user->found.uid);
  g_hash_table_insert (loader->users, g_strdup (name), user);
  return user;
}

static gboolean
known_user_is_uids_name (Loader *loader, const char *name)
{
  KnownUser *user = known_user (loader, name);
  g_autofree char *back = NULL;

  if (!user->is_asked)
    user->found.is_uids_name =
        loader->names->user_by_uid (user->found.uid, &back) && strcmp (back, name) == 0;
  user->is_asked = TRUE;
  return user->found.is_uids_name;
}

gboolean
loader_find_user (Loader *loader, const char *name, uid_t *out_uid)
{
  const ImageUser *user = &known_user (loader, name)->found;

  if (user->exists)
    *out_uid = user->uid;
  return user->exists;
}

gboolean
load_user (Loader *loader,
           const KeyFile *file,
           guint line,
           const char *key,
           const char *name,
           uid_t *out_uid)
{
  g_autofree char *quoted = quote_text (name);
  uid_t uid;

  if (!name_is_user (name))
    faults_add (loader->faults, file->path, line, "%s=: %s is not the name of a user", key, quoted);
  else if (!loader_find_user (loader, name, &uid))
    faults_add (loader->faults, file->path, line, "%s=: there is no user %s", key, quoted);
  else if (!known_user_is_uids_name (loader, name))
    faults_add (loader->faults, file->path, line, "%s=: uid %u of user %s is another user's too",
                key, (guint) uid, quoted);
  else
    {
      *out_uid = uid;
      return TRUE;
    }
  return FALSE;
}

/* --- of a rule --- */

void
rule_fault (const RuleLoad *load, const char *key, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  faults_add (load->loader->faults, load->file->path, key_section_line (load->section, key), "%s",
              text);
}

char **
rule_words (const RuleLoad *load, const char *key)
{
  const KeyEntry *entry = key_section_entry (load->section, key);

  if (entry == NULL)
    return NULL;
  return key_entry_words (load->file, entry, POLICY_MAX_WORDS, load->loader->faults);
}
