/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From an image to a policy: runs the loaders in order.  A set with a fault gives no policy at
 * all; there is no such thing as the part of it that was right.
 */
#include "service/policy/load.h"

#include "service/policy/name.h"

#include <string.h>

/* What is loaded must fit into a record. */
G_STATIC_ASSERT (NAME_MAX_PLAIN <= RECORD_MAX_NAME);
G_STATIC_ASSERT (NAME_MAX_ACTION <= RECORD_MAX_ACTION);
G_STATIC_ASSERT (POLICY_MAX_SUMMARY <= RECORD_MAX_LABEL);

void
policy_free (Policy *policy)
{
  if (policy == NULL)
    return;
  g_hash_table_unref (policy->exact);
  g_hash_table_unref (policy->patterns);
  g_ptr_array_unref (policy->rules);
  g_hash_table_unref (policy->users);
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
  policy->users = table_new (NULL);
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
load_decoded (
    Image *image, const PolicyNames *names, Faults *faults, GHashTable *unread, GHashTable *users)
{
  g_autoptr (Policy) policy = policy_new (image, names);
  Loader loader = {
    .names = names, .faults = faults, .users = users, .unread = unread, .policy = policy
  };

  load_all (&loader);
  return faults_count (faults) == 0 ? g_steal_pointer (&policy) : NULL;
}

Policy *
load_image (GBytes *bytes, const PolicyNames *names, Faults *faults, GHashTable *unread)
{
  g_autoptr (GHashTable) users = load_users_new ();
  g_autoptr (GError) error = NULL;
  Image *image = image_decode (bytes, &error);

  if (image != NULL)
    return load_decoded (image, names, faults, unread, users);
  faults_add (faults, "image", 0, "%s", error_text (error));
  return NULL;
}

Policy *
policy_parse (GBytes *bytes, const PolicyNames *names, GError **error)
{
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (GHashTable) users = load_users_new ();
  g_autoptr (Policy) policy = NULL;
  Image *image = image_decode (bytes, error);

  if (image == NULL)
    return NULL;
  policy = load_decoded (image, names, faults, NULL, users);
  return faults_report (faults, error) ? g_steal_pointer (&policy) : NULL;
}
