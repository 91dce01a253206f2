/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodes and decodes a kept passkey.  Called by software.c; the stores move the bytes only.  What
 * does not encode to the same bytes again is refused, so a damaged key is never half used.
 */
#include "module/card/key/stored-key.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/key/ceremony.h"
#include "service/base/encode.h"
#include "service/base/json.h"

#include <string.h>

static const JsonLimits limits = {
  .bytes = STORED_KEY_MAX,
  .depth = 1,
  .string = STORED_KEY_MAX,
  .items = 7,
};

void
stored_key_free (StoredKey *key)
{
  if (key == NULL)
    return;
  g_clear_pointer (&key->credential, g_bytes_unref);
  g_clear_pointer (&key->sealed, g_bytes_unref);
  g_free (key->rp);
  g_free (key->label);
  g_free (key);
}

char *
stored_key_name (GBytes *credential)
{
  gsize len;
  const guint8 *data = g_bytes_get_data (credential, &len);

  return base64url_encode (data, len);
}

GBytes *
stored_key_encode (const StoredKey *key)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  g_autofree char *counter = g_strdup_printf ("%u", key->counter);
  g_autofree char *credential = stored_key_name (key->credential);
  g_autofree char *point = base64url_encode (key->point, sizeof key->point);
  g_autofree char *sealed = stored_key_name (key->sealed);

  json_tree_add_string (tree, "counter", counter);
  json_tree_add_string (tree, "credential", credential);
  json_tree_add_string (tree, "format", STORED_KEY_FORMAT);
  json_tree_add_string (tree, "key", sealed);
  json_tree_add_string (tree, "label", key->label);
  json_tree_add_string (tree, "public", point);
  json_tree_add_string (tree, "rp", key->rp);
  return json_tree_write (tree);
}

static GBytes *
read_base64url (const JsonTree *tree, const char *name, gsize max)
{
  const char *text = json_tree_get_string (tree, name);

  return text != NULL ? base64url_decode (text, max) : NULL;
}

static StoredKey *
read_members (const JsonTree *tree)
{
  g_autoptr (StoredKey) key = g_new0 (StoredKey, 1);
  g_autoptr (GBytes) point = read_base64url (tree, "public", PRIVATE_KEY_POINT_SIZE);
  const char *counter = json_tree_get_string (tree, "counter");
  guint64 value = 0;

  key->credential = read_base64url (tree, "credential", STORED_KEY_ID_SIZE);
  key->sealed = read_base64url (tree, "key", PRIVATE_KEY_SEALED_MAX);
  key->rp = g_strdup (json_tree_get_string (tree, "rp"));
  key->label = g_strdup (json_tree_get_string (tree, "label"));
  if (key->credential == NULL || g_bytes_get_size (key->credential) != STORED_KEY_ID_SIZE ||
      key->sealed == NULL || key->rp == NULL || !ceremony_rp_is_valid (key->rp) ||
      key->label == NULL || point == NULL || g_bytes_get_size (point) != PRIVATE_KEY_POINT_SIZE ||
      counter == NULL || !g_ascii_string_to_unsigned (counter, 10, 0, G_MAXUINT32, &value, NULL) ||
      g_strcmp0 (json_tree_get_string (tree, "format"), STORED_KEY_FORMAT) != 0)
    return NULL;

  memcpy (key->point, g_bytes_get_data (point, NULL), PRIVATE_KEY_POINT_SIZE);
  key->counter = (guint32) value;
  return g_steal_pointer (&key);
}

StoredKey *
stored_key_decode (GBytes *bytes, const char *name, GError **error)
{
  g_autoptr (JsonTree) tree = NULL;
  g_autoptr (StoredKey) key = NULL;
  g_autoptr (GBytes) again = NULL;
  g_autofree char *own_name = NULL;
  gsize len;
  const char *text = g_bytes_get_data (bytes, &len);

  tree = json_tree_parse (text, len, &limits, NULL);
  if (tree != NULL)
    key = read_members (tree);
  if (key != NULL)
    {
      again = stored_key_encode (key);
      own_name = stored_key_name (key->credential);
    }
  if (again == NULL || !g_bytes_equal (again, bytes) || strcmp (own_name, name) != 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_STORE,
                    "the stored passkey %s is damaged or not " STORED_KEY_FORMAT, name);
      return NULL;
    }
  return g_steal_pointer (&key);
}
