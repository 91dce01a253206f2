/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where software passkeys are kept.  A store moves bytes by name and keeps them from other users;
 * what they mean it does not know.  Names are base64url text.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct Store Store;

typedef struct
{
  const char *place; /* "keyring" or "file" */
  /* (element-type utf8) (transfer full): the names, each once */
  GPtrArray *(*list) (Store *store, GError **error);
  /* NULL without an error where there is none of that name */
  GBytes *(*load) (Store *store, const char *name, GError **error);
  /* durable when it returns TRUE; @replace: one of that name must, else must not, be there */
  gboolean (*save) (Store *store,
                    const char *name,
                    const char *label,
                    GBytes *bytes,
                    gboolean replace,
                    GError **error);
  /* all of that name, read or not; reason credential-unknown where there is none */
  gboolean (*remove) (Store *store, const char *name, GError **error);
  void (*free) (Store *store);
} StoreClass;

struct Store
{
  const StoreClass *klass;
  gboolean asks_nobody; /* what is locked stays so: others wait for the lock of the file store */
};

/*
 * store_file_open: a folder of mode 0700 with a file of mode 0600 each.
 * @path: absolute; made with its parents where it is not there
 *
 * Returns: NULL with reason key-store, also where folder or files are open to others.
 */
Store *store_file_open (const char *path, GError **error);

/* store_keyring_open: the user's secret service; NULL without an error where there is none. */
Store *store_keyring_open (void);

/* store_file_lock: of a file store: one holder at a time, until the returned fd is closed; -1 with
 * an error.  Who replaces in any store, or removes or saves in that one, holds it; what one that was killed
 * left goes. */
int store_file_lock (Store *store, GError **error);

/* store_absent: FALSE with reason credential-unknown. */
gboolean store_absent (GError **error);

/* store_compare_names: for g_ptr_array_sort() of names. */
int store_compare_names (gconstpointer a, gconstpointer b);

void store_free (Store *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Store, store_free)

G_END_DECLS
