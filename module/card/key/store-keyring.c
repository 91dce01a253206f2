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
  gboolean was_refused; /* by the person, to unlock it */
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

static GHashTable *
attributes_of (const char *name)
{
  return name != NULL ? secret_attributes_build (&schema, "credential", name, NULL)
                      : g_hash_table_new (g_str_hash, g_str_equal);
}

/* For all that is locked at once, but where nobody is to be asked, and never again once he said no: that
 * is for the whole of a command. */
static void
ask_to_unlock (KeyringStore *store, GList *items)
{
  GList *locked = NULL;
  gint n = 0;

  for (GList *at = items; at != NULL; at = at->next)
    if (secret_item_get_locked (at->data))
      locked = g_list_prepend (locked, at->data);
  n = (gint) g_list_length (locked);
  if (n > 0 && !store->parent.asks_nobody && !store->was_refused)
    store->was_refused =
        secret_service_unlock_sync (store->service, locked, NULL, NULL, NULL) < n;
  g_list_free (locked);
}

/* The items of that name, or all of ours for NULL, unlocked where that can be. */
static GList *
find_all (KeyringStore *store, const char *name, GError **error)
{
  g_autoptr (GHashTable) attributes = attributes_of (name);
  GList *items = secret_service_search_sync (store->service, &schema, attributes, SECRET_SEARCH_ALL,
                                             NULL, error);

  ask_to_unlock (store, items);
  return items;
}

static GPtrArray *
keyring_list (Store *base, GError **error)
{
  KeyringStore *store = (KeyringStore *) base;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  GError *local = NULL;
  GList *items = find_all (store, NULL, &local);

  if (local != NULL)
    {
      wrap (local, "search", error);
      return NULL;
    }
  for (GList *at = items; at != NULL; at = at->next)
    {
      g_autoptr (GHashTable) attributes = secret_item_get_attributes (at->data);
      const char *name = g_hash_table_lookup (attributes, "credential");

      if (name != NULL && !g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
        g_ptr_array_add (names, g_strdup (name));
    }
  g_list_free_full (items, g_object_unref);
  g_ptr_array_sort (names, store_compare_names);
  return g_steal_pointer (&names);
}

static gboolean
refuse (GError **error, const char *why)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_STORE,
                       "cannot read from the keyring: %s", why);
}

/* The item of that name with its secret, NULL without an error where there is none.  What is locked is
 * there, and of two nobody knows which has the counter that was used last. */
static SecretItem *
find_item (KeyringStore *store, const char *name, GError **error)
{
  g_autoptr (SecretItem) item = NULL;
  GError *local = NULL;
  GList *items = find_all (store, name, &local);
  const guint n = g_list_length (items);

  if (n > 0)
    item = g_object_ref (items->data);
  if (n == 1)
    secret_item_load_secrets_sync (items, NULL, NULL);
  g_list_free_full (items, g_object_unref);
  if (local != NULL)
    wrap (local, "read from", error);
  else if (n > 1)
    refuse (error, "it has two passkeys of this id");
  else if (n == 1)
    {
      SecretValue *value = secret_item_get_secret (item);

      if (value != NULL)
        {
          secret_value_unref (value);
          return g_steal_pointer (&item);
        }
      refuse (error, "it is locked, or does not give what it has");
    }
  return NULL;
}

static GBytes *
keyring_load (Store *base, const char *name, GError **error)
{
  g_autoptr (SecretItem) item = find_item ((KeyringStore *) base, name, error);
  SecretValue *value = NULL;
  GBytes *bytes = NULL;
  const char *data = NULL;
  gsize len;

  if (item == NULL)
    return NULL;
  value = secret_item_get_secret (item);
  data = secret_value_get (value, &len);
  bytes = g_bytes_new (data, len);
  secret_value_unref (value);
  return bytes;
}

/* What is there is changed where it is, whatever keyring new ones go to by now. */
static gboolean
put_value (KeyringStore *store,
           SecretItem *item,
           const char *name,
           const char *label,
           SecretValue *value,
           GError **error)
{
  g_autoptr (GHashTable) attributes = attributes_of (name);
  g_autofree char *title = g_strdup_printf ("Undersign passkey: %s", label);

  if (item != NULL)
    return secret_item_set_secret_sync (item, value, NULL, error);
  return secret_service_store_sync (store->service, &schema, attributes, SECRET_COLLECTION_DEFAULT,
                                    title, value, NULL, error);
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
  g_autoptr (GError) looked = NULL;
  g_autoptr (SecretItem) item = find_item (store, name, &looked);
  gsize len;
  const char *data = g_bytes_get_data (bytes, &len);
  SecretValue *value = NULL;
  GError *local = NULL;
  gboolean ok = FALSE;

  if (looked != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&looked));
      return FALSE;
    }
  if ((item != NULL) != replace)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_STORE,
                         "the keyring %s a passkey of this id", replace ? "lost" : "has");

  value = secret_value_new (data, (gssize) len, "application/json");
  ok = put_value (store, item, name, label, value, &local);
  secret_value_unref (value);
  return ok || wrap (local, "write to", error);
}

/* From whatever keyring; one that stays locked keeps what it has, and would ask once more. */
static gboolean
keyring_remove (Store *base, const char *name, GError **error)
{
  KeyringStore *store = (KeyringStore *) base;
  GError *local = NULL;
  GList *items = find_all (store, name, &local), *left = NULL;
  gboolean ok = items != NULL;

  if (items == NULL && local == NULL)
    return store_absent (error);
  for (GList *at = items; ok && at != NULL; at = at->next)
    ok = !secret_item_get_locked (at->data) && secret_item_delete_sync (at->data, NULL, &local);
  g_list_free_full (items, g_object_unref);
  if (ok)
    left = find_all (store, name, &local);
  ok = ok && left == NULL && local == NULL;
  g_list_free_full (left, g_object_unref);
  return ok || wrap (local, "remove from", error);
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
