/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passkeys in the person's keyring (org.freedesktop.secrets), so that they are locked with it as
 * well as by their own passphrase.  Called by software.c.  The keyring is asked for nothing but
 * items of our schema.
 */
#include "module/card/key/store.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <libsecret/secret.h>
#include <string.h>

typedef struct
{
  Store parent;
  SecretService *service;
} KeyringStore;

static const SecretSchema schema = {
  .name = "org.undersign.Passkey",
  .flags = SECRET_SCHEMA_NONE,
  .attributes = { { "credential", SECRET_SCHEMA_ATTRIBUTE_STRING } },
};

static gboolean
wrap (GError *local, const char *doing, GError **error)
{
  us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_STORE, "cannot %s the keyring: %s",
                doing, local != NULL ? local->message : "it refused");
  g_clear_error (&local);
  return FALSE;
}

static GPtrArray *
keyring_list (Store *base, GError **error)
{
  KeyringStore *store = (KeyringStore *) base;
  g_autoptr (GHashTable) none = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  GError *local = NULL;
  GList *items =
      secret_service_search_sync (store->service, &schema, none, SECRET_SEARCH_ALL, NULL, &local);

  if (local != NULL)
    {
      wrap (local, "search", error);
      return NULL;
    }
  for (GList *at = items; at != NULL; at = at->next)
    {
      g_autoptr (GHashTable) attributes = secret_item_get_attributes (at->data);
      const char *name = g_hash_table_lookup (attributes, "credential");

      if (name != NULL)
        g_ptr_array_add (names, g_strdup (name));
    }
  g_list_free_full (items, g_object_unref);
  g_ptr_array_sort (names, store_compare_names);
  return g_steal_pointer (&names);
}

static GHashTable *
attributes_of (const char *name)
{
  return secret_attributes_build (&schema, "credential", name, NULL);
}

static GBytes *
keyring_load (Store *base, const char *name, GError **error)
{
  KeyringStore *store = (KeyringStore *) base;
  g_autoptr (GHashTable) attributes = attributes_of (name);
  GError *local = NULL;
  SecretValue *value =
      secret_service_lookup_sync (store->service, &schema, attributes, NULL, &local);
  GBytes *bytes = NULL;
  const char *data;
  gsize len;

  if (local != NULL)
    wrap (local, "read from", error);
  if (value == NULL)
    return NULL;
  data = secret_value_get (value, &len);
  bytes = g_bytes_new (data, len);
  secret_value_unref (value);
  return bytes;
}

static gboolean
keyring_save (Store *base,
              const char *name,
              const char *label,
              GBytes *bytes,
              gboolean replace,
              GError **error)
{
  KeyringStore *store = (KeyringStore *) base;
  g_autoptr (GHashTable) attributes = attributes_of (name);
  g_autoptr (GBytes) there = NULL;
  g_autoptr (GError) looked = NULL;
  g_autofree char *title = g_strdup_printf ("Undersign passkey: %s", label);
  gsize len;
  const char *data = g_bytes_get_data (bytes, &len);
  SecretValue *value = NULL;
  GError *local = NULL;
  gboolean ok = FALSE;

  there = keyring_load (base, name, &looked);
  if (looked != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&looked));
      return FALSE;
    }
  if ((there != NULL) != replace)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_STORE,
                         "the keyring %s a passkey of this id", replace ? "lost" : "has");

  value = secret_value_new (data, (gssize) len, "application/json");
  ok = secret_service_store_sync (store->service, &schema, attributes, SECRET_COLLECTION_DEFAULT,
                                  title, value, NULL, &local);
  secret_value_unref (value);
  return ok || wrap (local, "write to", error);
}

static gboolean
keyring_remove (Store *base, const char *name, GError **error)
{
  KeyringStore *store = (KeyringStore *) base;
  g_autoptr (GHashTable) attributes = attributes_of (name);
  GError *local = NULL;

  return secret_service_clear_sync (store->service, &schema, attributes, NULL, &local) ||
         wrap (local, "remove from", error);
}

static void
keyring_free (Store *base)
{
  KeyringStore *store = (KeyringStore *) base;

  g_clear_object (&store->service);
  g_free (store);
}

static const StoreClass keyring_class = {
  .place = "keyring",
  .list = keyring_list,
  .load = keyring_load,
  .save = keyring_save,
  .remove = keyring_remove,
  .free = keyring_free,
};

Store *
store_keyring_open (void)
{
  SecretService *service = secret_service_get_sync (SECRET_SERVICE_OPEN_SESSION, NULL, NULL);
  KeyringStore *store = NULL;

  if (service == NULL)
    return NULL;
  store = g_new0 (KeyringStore, 1);
  store->parent.klass = &keyring_class;
  store->service = service;
  return &store->parent;
}
