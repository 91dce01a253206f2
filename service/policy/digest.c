/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy digest of a record: which files governed it, and what stood in them.  It is over just
 * those files, so that an edit elsewhere voids no approval, and over all of those, whatever their
 * When= says, so that no edit that could matter goes unseen.
 */
#include "service/policy/load.h"

#include "service/base/pae.h"

#include <string.h>

typedef struct
{
  const char *path;
  char *sha256;
} Governing;

static void
governing_free (gpointer data)
{
  Governing *file = data;

  g_free (file->sha256);
  g_free (file);
}

/* @sha256: (transfer full) */
static void
add (GPtrArray *files, const char *path, char *sha256)
{
  Governing *file = g_new0 (Governing, 1);

  file->path = path;
  file->sha256 = sha256;
  g_ptr_array_add (files, file);
}

static void
add_file (GPtrArray *files, const ImageFile *file)
{
  add (files, file->path, g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, file->content));
}

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  const Governing *left = *(const Governing *const *) a;
  const Governing *right = *(const Governing *const *) b;

  return strcmp (left->path, right->path);
}

static void
add_rules (GPtrArray *files, const Policy *policy, const char *agent, const char *action)
{
  g_autoptr (GPtrArray) rules = rules_of (policy, agent, action);
  const ImageFile *last = NULL;

  /* in order: rules of one file stand together */
  for (guint i = 0; i < rules->len; i++)
    {
      const Rule *rule = g_ptr_array_index (rules, i);

      if (rule->file != last)
        add_file (files, rule->file);
      last = rule->file;
    }
}

static char *
digest_files (GPtrArray *files)
{
  g_autoptr (JsonTree) list = json_tree_new_array ();
  g_autoptr (GBytes) bytes = NULL;
  guint8 digest[PAE_DIGEST_SIZE];

  g_ptr_array_sort (files, compare_paths);
  for (guint i = 0; i < files->len; i++)
    {
      const Governing *file = g_ptr_array_index (files, i);
      JsonTree *item = json_tree_append (list, json_tree_new_object ());

      json_tree_add_string (item, "path", file->path);
      json_tree_add_string (item, "sha256", file->sha256);
    }
  bytes = json_tree_write (list);
  pae_sha256 (PAE_TYPE_POLICY, bytes, digest);
  return digest_to_string (digest);
}

char *
policy_digest (const Policy *policy, const PolicyAgent *agent, const PolicyAction *action)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (governing_free);
  const AgentEntry *agent_entry = g_hash_table_lookup (policy->agents, agent->name);
  const ActionEntry *action_entry = g_hash_table_lookup (policy->actions, action->id);
  const ImageModule *object;

  g_assert (agent_entry != NULL && action_entry != NULL);
  object = action_entry->manifest->object;
  add_file (files, action_entry->file);
  add_file (files, agent_entry->file);
  add_file (files, action_entry->manifest->file);
  if (*object->sha256 != '\0')
    add (files, object->path, g_strdup (object->sha256));
  add_rules (files, policy, agent->name, action->id);
  return digest_files (files);
}
