/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From an image to a policy: runs the loaders in order, and holds what they share.  A set with a
 * fault gives no policy at all; there is no such thing as the part of it that was right.
 */
#include "service/policy/load.h"

#include "service/policy/name.h"

#include <string.h>

/* What is loaded must fit into a record. */
G_STATIC_ASSERT (NAME_MAX_PLAIN <= RECORD_MAX_NAME);
G_STATIC_ASSERT (NAME_MAX_ACTION <= RECORD_MAX_ACTION);
G_STATIC_ASSERT (POLICY_MAX_SUMMARY <= RECORD_MAX_LABEL);

gboolean
loader_is_broken (const Loader *loader, Folder folder, const char *name)
{
  const ImageFile *file = image_find (loader->policy->image, folder, name);

  return file != NULL && !image_file_is_mask (file);
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

gboolean
loader_find_user (Loader *loader, const char *name, uid_t *out_uid)
{
  gpointer known = NULL;
  guint64 entry;
  uid_t uid;

  if (!g_hash_table_lookup_extended (loader->users, name, NULL, &known))
    {
      entry = loader->names->user_by_name (name, &uid) ? (guint64) uid + 1 : 0;
      known = GSIZE_TO_POINTER (entry);
      g_hash_table_insert (loader->users, g_strdup (name), known);
    }
  entry = GPOINTER_TO_SIZE (known);
  if (entry == 0)
    return FALSE;
  *out_uid = (uid_t) (entry - 1);
  return TRUE;
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
  g_autofree char *back = NULL;
  uid_t uid;

  if (!name_is_user (name))
    faults_add (loader->faults, file->path, line, "%s=: %s is not the name of a user", key, quoted);
  else if (!loader_find_user (loader, name, &uid))
    faults_add (loader->faults, file->path, line, "%s=: there is no user %s", key, quoted);
  else if (!loader->names->user_by_uid (uid, &back) || strcmp (back, name) != 0)
    faults_add (loader->faults, file->path, line, "%s=: uid %u of user %s is another user's too",
                key, (guint) uid, quoted);
  else
    {
      *out_uid = uid;
      return TRUE;
    }
  return FALSE;
}

/* --- the whole --- */

void
policy_free (Policy *policy)
{
  if (policy == NULL)
    return;
  g_hash_table_unref (policy->exact);
  g_hash_table_unref (policy->patterns);
  g_ptr_array_unref (policy->rules);
  g_hash_table_unref (policy->uids);
  g_hash_table_unref (policy->agents);
  g_hash_table_unref (policy->actions);
  g_hash_table_unref (policy->modules);
  image_free (policy->image);
  g_free (policy);
}

static GHashTable *
table_new (GDestroyNotify free_value)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_value);
}

/* policy_new: @image is (transfer full). */
static Policy *
policy_new (Image *image, const PolicyNames *names)
{
  Policy *policy = g_new0 (Policy, 1);

  policy->names = *names;
  policy->image = image;
  policy->modules = table_new ((GDestroyNotify) manifest_free);
  policy->actions = table_new ((GDestroyNotify) action_entry_free);
  policy->agents = table_new ((GDestroyNotify) agent_entry_free);
  policy->uids = g_hash_table_new (NULL, NULL);
  policy->rules = g_ptr_array_new_with_free_func ((GDestroyNotify) rule_free);
  policy->exact =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  policy->patterns =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  return policy;
}

static void
load_all (Loader *loader)
{
  static void (*const load[FOLDER_N]) (Loader *, const ImageFile *) = {
    [FOLDER_MODULES] = load_module,
    [FOLDER_ACTIONS] = load_action,
    [FOLDER_AGENTS] = load_agent,
    [FOLDER_RULES] = load_rules,
  };

  for (guint folder = 0; folder < FOLDER_N; folder++)
    {
      const GPtrArray *files = loader->policy->image->files[folder];

      for (guint i = 0; i < files->len; i++)
        {
          const ImageFile *file = g_ptr_array_index (files, i);

          if (!image_file_is_mask (file))
            load[folder](loader, file);
        }
      if (folder == FOLDER_AGENTS)
        load_check_people (loader);
    }
}

Policy *
policy_parse (GBytes *bytes, const PolicyNames *names, GError **error)
{
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (Policy) policy = NULL;
  Image *image = image_decode (bytes, error);
  g_autoptr (GHashTable) users = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Loader loader = { .names = names, .faults = faults, .users = users };

  if (image == NULL)
    return NULL;
  policy = policy_new (image, names);
  loader.policy = policy;
  load_all (&loader);
  return faults_report (faults, error) ? g_steal_pointer (&policy) : NULL;
}

/* --- lookup --- */

const PolicyAgent *
policy_agent_by_uid (const Policy *policy, uid_t uid)
{
  const AgentEntry *entry = g_hash_table_lookup (policy->uids, GUINT_TO_POINTER (uid));

  return entry != NULL ? &entry->agent : NULL;
}

const PolicyAgent *
policy_agent_by_name (const Policy *policy, const char *name)
{
  const AgentEntry *entry = g_hash_table_lookup (policy->agents, name);

  return entry != NULL ? &entry->agent : NULL;
}

static int
compare_agents (gconstpointer a, gconstpointer b)
{
  const PolicyAgent *left = *(const PolicyAgent *const *) a;
  const PolicyAgent *right = *(const PolicyAgent *const *) b;

  return strcmp (left->name, right->name);
}

GPtrArray *
policy_agents (const Policy *policy)
{
  GPtrArray *agents = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value = NULL;

  g_hash_table_iter_init (&iter, policy->agents);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    g_ptr_array_add (agents, &((AgentEntry *) value)->agent);
  g_ptr_array_sort (agents, compare_agents);
  return agents;
}

const PolicyAction *
policy_action (const Policy *policy, const char *id)
{
  const ActionEntry *entry = g_hash_table_lookup (policy->actions, id);

  return entry != NULL ? &entry->action : NULL;
}

gboolean
policy_agent_has_part (const PolicyAgent *agent, const char *part)
{
  return g_strv_contains ((const char *const *) agent->parts, part);
}

void
policy_count (const Policy *policy, PolicyCounts *out_counts)
{
  out_counts->actions = g_hash_table_size (policy->actions);
  out_counts->agents = g_hash_table_size (policy->agents);
  out_counts->rules = policy->rules->len;
}
