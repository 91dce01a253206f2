/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps, opens and uses software passkeys.  Called through key.h.  The passphrase is what verifies
 * the person, so it is asked for at every signature and never remembered; the counter is raised and
 * stored before a signature exists, so that no two have the same.
 */
#include "module/card/key/software.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/key/ceremony.h"
#include "module/card/key/private-key.h"
#include "module/card/key/store.h"
#include "module/card/key/stored-key.h"
#include "service/base/encode.h"
#include "service/base/fd.h"
#include "service/base/signer.h"

#include <gio/gio.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <string.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_PKEY, EVP_PKEY_free)

typedef struct
{
  Key parent;
  Store *file;
  Store *keyring; /* (nullable) */
  KeyAsk ask;
  gpointer data;
} SoftwareKey;

/* Others are kept from the stores meanwhile. */
typedef struct
{
  SoftwareKey *software;
  int lock;
} Hold;

static void
hold_clear (Hold *hold)
{
  if (hold->software != NULL && hold->software->keyring != NULL)
    hold->software->keyring->asks_nobody = FALSE;
  fd_clear (&hold->lock);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Hold, hold_clear)

/*
 * Whoever else wants the lock must not wait for a person who may have left: he is asked to unlock what
 * is of that name before, and nobody is while it is held.
 */
static gboolean
hold_begin (Hold *hold, SoftwareKey *software, GBytes *credential, GError **error)
{
  g_autofree char *name = stored_key_name (credential);
  g_autoptr (GBytes) unlocked = NULL;

  if (software->keyring != NULL)
    unlocked = software->keyring->klass->load (software->keyring, name, NULL);
  hold->software = software;
  hold->lock = store_file_lock (software->file, error);
  if (software->keyring != NULL)
    software->keyring->asks_nobody = TRUE;
  return hold->lock >= 0;
}

/* Finds one key.  NULL without an error where it is not held here. */
static StoredKey *
find (SoftwareKey *software, GBytes *credential, Store **out_store, GError **error)
{
  g_autofree char *name = stored_key_name (credential);
  Store *stores[] = { software->keyring, software->file };

  for (guint i = 0; i < G_N_ELEMENTS (stores); i++)
    {
      g_autoptr (GError) local = NULL;
      g_autoptr (GBytes) bytes = NULL;

      if (stores[i] == NULL)
        continue;
      bytes = stores[i]->klass->load (stores[i], name, &local);
      if (local != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&local));
          return NULL;
        }
      if (bytes == NULL)
        continue;
      *out_store = stores[i];
      return stored_key_decode (bytes, name, error);
    }
  return NULL;
}

static StoredKey *
find_or_fail (SoftwareKey *software, GBytes *credential, Store **out_store, GError **error)
{
  g_autoptr (GError) local = NULL;
  StoredKey *stored = find (software, credential, out_store, &local);

  if (stored == NULL && local == NULL)
    store_absent (error);
  else if (stored == NULL)
    g_propagate_error (error, g_steal_pointer (&local));
  return stored;
}

static char *
key_id (const StoredKey *stored)
{
  g_auto (Signer) signer = { SIGNER_ES256, g_bytes_new (stored->point, sizeof stored->point) };

  return signer_id_text (&signer);
}

static KeyInfo *
info_new (const StoredKey *stored, const Store *store)
{
  KeyInfo *info = g_new0 (KeyInfo, 1);

  info->key = key_id (stored);
  if (stored->credential != NULL)
    info->credential = g_bytes_ref (stored->credential);
  info->rp = g_strdup (stored->rp);
  info->label = g_strdup (stored->label);
  info->place = g_strdup (store->klass->place);
  return info;
}

/* What is there and cannot be read is named all the same: it could be taken for gone, and it can be
 * removed. */
static KeyInfo *
info_new_unreadable (const char *name, const Store *store, const GError *why)
{
  KeyInfo *info = g_new0 (KeyInfo, 1);
  g_autofree char *reason = us_error_reason (why);

  info->credential = base64url_decode (name, STORED_KEY_ID_SIZE);
  info->label = g_utf8_make_valid (name, -1);
  info->place = g_strdup (store->klass->place);
  info->fault = g_utf8_make_valid (why->message + strlen (reason) + strlen (": "), -1);
  return info;
}

static gboolean
list_store (Store *store, GPtrArray *infos, GError **error)
{
  g_autoptr (GPtrArray) names = store->klass->list (store, error);

  if (names == NULL)
    return FALSE;
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autoptr (GError) local = NULL;
      g_autoptr (GBytes) bytes = store->klass->load (store, name, &local);
      g_autoptr (StoredKey) stored = NULL;

      if (bytes == NULL && local == NULL) /* removed meanwhile */
        continue;
      if (bytes != NULL)
        stored = stored_key_decode (bytes, name, &local);
      g_ptr_array_add (infos, stored != NULL ? info_new (stored, store)
                                             : info_new_unreadable (name, store, local));
    }
  return TRUE;
}

static GPtrArray *
software_list (Key *key, GError **error)
{
  SoftwareKey *software = (SoftwareKey *) key;
  g_autoptr (GPtrArray) infos = g_ptr_array_new_with_free_func ((GDestroyNotify) key_info_free);

  if (software->keyring != NULL && !list_store (software->keyring, infos, error))
    return NULL;
  if (!list_store (software->file, infos, error))
    return NULL;
  return g_steal_pointer (&infos);
}

/* One that can be read is picked before one that cannot, which is told of where it is the only one. */
static gboolean
software_pick (Key *key, GPtrArray *credentials, const char *rp, guint *out_index, GError **error)
{
  g_autoptr (GPtrArray) infos = software_list (key, error);
  const KeyInfo *unreadable = NULL;

  for (guint i = 0; infos != NULL && i < credentials->len; i++)
    for (guint j = 0; j < infos->len; j++)
      {
        const KeyInfo *info = g_ptr_array_index (infos, j);

        if (info->credential == NULL ||
            !g_bytes_equal (info->credential, g_ptr_array_index (credentials, i)))
          continue;
        if (info->fault != NULL)
          unreadable = info;
        else if (strcmp (info->rp, rp) == 0)
          {
            *out_index = i;
            return TRUE;
          }
      }
  if (unreadable != NULL)
    us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_STORE, "%s", unreadable->fault);
  else if (infos != NULL)
    us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_CREDENTIAL_UNKNOWN,
                  "none of these passkeys is kept on this computer");
  return FALSE;
}

static gboolean
check_enrolment (SoftwareKey *software, const KeyEnrolment *enrolment, GError **error)
{
  gsize label = strlen (enrolment->label);

  if (!ceremony_rp_is_valid (enrolment->rp))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "a software passkey is for undersign:HOST alone");
  if (label == 0 || label > STORED_KEY_LABEL_MAX || !g_utf8_validate (enrolment->label, -1, NULL))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "the label is not 1 to %d bytes of UTF-8", STORED_KEY_LABEL_MAX);
  for (guint i = 0; enrolment->exclude != NULL && i < enrolment->exclude->len; i++)
    {
      g_autoptr (GError) local = NULL;
      g_autoptr (StoredKey) stored = NULL;
      Store *store = NULL;

      stored = find (software, g_ptr_array_index (enrolment->exclude, i), &store, &local);
      if (local != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&local));
          return FALSE;
        }
      if (stored != NULL)
        return us_error_set (error, US_ERROR_REFUSED, US_REASON_CREDENTIAL_EXISTS,
                             "this computer keeps an enrolled passkey already: %s", stored->label);
    }
  return TRUE;
}

gboolean
software_key_passphrase_check (const Secret *passphrase, GError **error)
{
  gsize size = secret_size (passphrase);

  if (size < SOFTWARE_KEY_PASSPHRASE_MIN || size > SOFTWARE_KEY_PASSPHRASE_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_PASSPHRASE,
                         "a passphrase has %d to %d bytes", SOFTWARE_KEY_PASSPHRASE_MIN,
                         SOFTWARE_KEY_PASSPHRASE_MAX);
  return TRUE;
}

static Secret *
choose_passphrase (SoftwareKey *software, const StoredKey *stored, Store *store, GError **error)
{
  g_autoptr (KeyInfo) info = info_new (stored, store);
  g_autoptr (Secret) passphrase =
      software->ask (KEY_PROMPT_CHOOSE, info, -1, software->data, error);

  if (passphrase == NULL || !software_key_passphrase_check (passphrase, error))
    return NULL;
  return g_steal_pointer (&passphrase);
}

static gboolean
fill_new (SoftwareKey *software, StoredKey *stored, Store *store, GError **error)
{
  g_autoptr (Secret) passphrase = choose_passphrase (software, stored, store, error);
  g_autoptr (EVP_PKEY) key = NULL;
  guint8 id[STORED_KEY_ID_SIZE];

  if (passphrase == NULL)
    return FALSE;
  key = private_key_generate (error);
  if (key == NULL || !private_key_point (key, stored->point, error))
    return FALSE;
  if (RAND_bytes (id, sizeof id) != 1)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "no randomness");
  stored->credential = g_bytes_new (id, sizeof id);
  stored->sealed = private_key_seal (key, passphrase, error);
  return stored->sealed != NULL;
}

static gboolean
save (Store *store, const StoredKey *stored, gboolean replace, GError **error)
{
  g_autoptr (GBytes) bytes = stored_key_encode (stored);
  g_autofree char *name = stored_key_name (stored->credential);

  return store->klass->save (store, name, stored->label, bytes, replace, error);
}

/* Of a new id nobody else knows: the keyring, which may ask for its own passphrase, needs no lock. */
static gboolean
save_new (SoftwareKey *software, Store *store, const StoredKey *stored, GError **error)
{
  autofd lock = -1;

  if (store == software->keyring)
    return save (store, stored, FALSE, error);
  lock = store_file_lock (software->file, error);
  return lock >= 0 && save (store, stored, FALSE, error);
}

static gboolean
software_enrol (Key *key,
                const KeyEnrolment *enrolment,
                KeyRegistration *out_registration,
                GError **error)
{
  SoftwareKey *software = (SoftwareKey *) key;
  Store *store = software->keyring != NULL ? software->keyring : software->file;
  g_autoptr (StoredKey) stored = g_new0 (StoredKey, 1);

  if (!check_enrolment (software, enrolment, error))
    return FALSE;
  stored->rp = g_strdup (enrolment->rp);
  stored->label = g_strdup (enrolment->label);
  if (!fill_new (software, stored, store, error) || !save_new (software, store, stored, error))
    return FALSE;

  out_registration->credential = g_bytes_ref (stored->credential);
  out_registration->key = key_id (stored);
  out_registration->client_data =
      ceremony_client_data (CEREMONY_CREATE, enrolment->challenge, stored->rp);
  out_registration->attestation =
      ceremony_attestation (stored->rp, stored->counter, stored->credential, stored->point);
  return TRUE;
}

/* The counter of what is stored now, plus one, stored: another process may have signed meanwhile.
 */
static gboolean
raise_counter (SoftwareKey *software, GBytes *credential, guint32 *out_counter, GError **error)
{
  g_auto (Hold) hold = { .lock = -1 };
  g_autoptr (StoredKey) stored = NULL;
  Store *store = NULL;

  if (!hold_begin (&hold, software, credential, error))
    return FALSE;
  stored = find_or_fail (software, credential, &store, error);
  if (stored == NULL)
    return FALSE;
  if (stored->counter == G_MAXUINT32)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_STORE,
                         "the passkey's counter is at its end: enrol a new one");
  stored->counter++;
  if (!save (store, stored, TRUE, error))
    return FALSE;

  *out_counter = stored->counter;
  return TRUE;
}

static gboolean
software_sign (Key *key,
               GBytes *credential,
               const char *rp,
               const guint8 challenge[PAE_DIGEST_SIZE],
               KeyAssertion *out_assertion,
               GError **error)
{
  SoftwareKey *software = (SoftwareKey *) key;
  Store *store = NULL;
  g_autoptr (StoredKey) stored = find_or_fail (software, credential, &store, error);
  g_autoptr (KeyInfo) info = NULL;
  g_autoptr (Secret) passphrase = NULL;
  g_autoptr (EVP_PKEY) opened = NULL;
  g_autoptr (GBytes) client_data = NULL, auth_data = NULL, hash = NULL, signature = NULL;
  guint8 digest[SHA256_DIGEST_LENGTH];
  guint32 counter = 0;

  if (stored == NULL)
    return FALSE;
  if (strcmp (stored->rp, rp) != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_STATEMENT,
                         "the statement is for %s, the passkey for %s", rp, stored->rp);

  info = info_new (stored, store);
  passphrase = software->ask (KEY_PROMPT_UNLOCK, info, -1, software->data, error);
  if (passphrase == NULL)
    return FALSE;
  opened = private_key_unseal (stored->sealed, passphrase, stored->point, error);
  if (opened == NULL || !raise_counter (software, credential, &counter, error))
    return FALSE;

  client_data = ceremony_client_data (CEREMONY_GET, challenge, stored->rp);
  auth_data = ceremony_auth_data (stored->rp, counter);
  SHA256 (g_bytes_get_data (client_data, NULL), g_bytes_get_size (client_data), digest);
  hash = g_bytes_new (digest, sizeof digest);
  signature = private_key_sign (opened, auth_data, hash, error);
  if (signature == NULL)
    return FALSE;

  out_assertion->client_data = g_steal_pointer (&client_data);
  out_assertion->auth_data = g_steal_pointer (&auth_data);
  out_assertion->signature = g_steal_pointer (&signature);
  return TRUE;
}

/* By its name alone, so that what cannot be read can be removed.  Nobody who raises its counter
 * meanwhile brings it back: a keyring sees to that itself, and may ask before it removes anything. */
static gboolean
remove_from (SoftwareKey *software, Store *store, const char *name, GError **error)
{
  autofd lock = -1;

  if (store == software->file)
    lock = store_file_lock (store, error);
  return (store != software->file || lock >= 0) && store->klass->remove (store, name, error);
}

/* From each store: one that fails keeps nothing in the other. */
static gboolean
software_forget (Key *key, GBytes *credential, GError **error)
{
  SoftwareKey *software = (SoftwareKey *) key;
  g_autofree char *name = stored_key_name (credential);
  Store *stores[] = { software->keyring, software->file };
  g_autoptr (GError) failed = NULL;
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (stores); i++)
    {
      g_autoptr (GError) local = NULL;

      if (stores[i] == NULL)
        continue;
      if (remove_from (software, stores[i], name, &local))
        n++;
      else if (failed == NULL && !us_error_has_reason (local, US_REASON_CREDENTIAL_UNKNOWN))
        failed = g_steal_pointer (&local);
    }
  if (failed != NULL)
    g_propagate_error (error, g_steal_pointer (&failed));
  else if (n == 0)
    store_absent (error);
  else
    return TRUE;
  return FALSE;
}

static void
software_free (Key *key)
{
  SoftwareKey *software = (SoftwareKey *) key;

  g_clear_pointer (&software->keyring, store_free);
  g_clear_pointer (&software->file, store_free);
  g_free (software);
}

static const KeyClass software_class = {
  .kind = SOFTWARE_KEY_KIND,
  .list = software_list,
  .pick = software_pick,
  .enrol = software_enrol,
  .sign = software_sign,
  .forget = software_forget,
  .free = software_free,
};

Key *
software_key_new (
    const char *folder, SoftwareKeyPlace place, KeyAsk ask, gpointer data, GError **error)
{
  g_autoptr (Store) file = store_file_open (folder, error);
  SoftwareKey *software = NULL;

  if (file == NULL)
    return NULL;
  private_key_prepare ();
  software = g_new0 (SoftwareKey, 1);
  software->parent.klass = &software_class;
  software->file = g_steal_pointer (&file);
  software->keyring = place == SOFTWARE_KEY_FILE ? NULL : store_keyring_open ();
  software->ask = ask;
  software->data = data;
  return &software->parent;
}

const char *
software_key_unseen (void)
{
  g_autoptr (GDBusConnection) bus = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, NULL);

  return bus != NULL ? "" : "; the keyring was not looked at: there is no session bus";
}

char *
software_key_folder (void)
{
  return g_build_filename (g_get_user_data_dir (), "undersign", "passkeys", NULL);
}
