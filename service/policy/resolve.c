/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Users, looked up once for all who will read a set.  The set is loaded as anybody would load it,
 * and what that asked of the directory is put beside it: whoever reads the resolved image asks
 * nobody, and a user of whom nothing is there does not exist.  Whether the answers still hold for a
 * request is asked when it is checked: policy_agent_check().
 */
#include "service/policy/load.h"

#include <string.h>

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GVariant *
users_variant (GHashTable *users)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  GVariantBuilder builder;
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, users);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (names, name);
  g_ptr_array_sort (names, compare_names);

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a" IMAGE_USER_TYPE));
  for (guint i = 0; i < names->len; i++)
    {
      const ImageUser *user = g_hash_table_lookup (users, g_ptr_array_index (names, i));

      g_variant_builder_add (&builder, IMAGE_USER_TYPE, g_ptr_array_index (names, i), user->exists,
                             (guint32) user->uid, user->is_uids_name);
    }
  return g_variant_builder_end (&builder);
}

GBytes *
policy_resolve (GBytes *bytes, const PolicyNames *names)
{
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (GHashTable) users = load_users_new ();
  g_autoptr (GVariant) found = NULL;
  ImageHead head = IMAGE_HEAD_INIT;
  GByteArray *out = NULL;
  Image *image = image_decode (bytes, NULL);
  gsize len;
  const void *data = g_bytes_get_data (bytes, &len);

  /* whoever parses it will say what is wrong */
  if (image == NULL || image->users != NULL)
    {
      image_free (image);
      return g_bytes_ref (bytes);
    }
  policy_free (load_decoded (image, names, faults, NULL, users));
  found = g_variant_ref_sink (users_variant (users));

  head.image_len = GUINT64_TO_LE ((guint64) len);
  out = g_byte_array_new ();
  g_byte_array_append (out, (const guint8 *) &head, sizeof head);
  g_byte_array_append (out, data, (guint) len);
  g_byte_array_append (out, g_variant_get_data (found), (guint) g_variant_get_size (found));
  return g_byte_array_free_to_bytes (out);
}
