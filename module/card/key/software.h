/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The software passkey: a P-256 key in the person's keyring or home, encrypted by a passphrase that
 * is asked for each time.  It is as strong as that passphrase and the person's account.
 */
#pragma once

#include "module/card/key/key.h"

#include <glib.h>

G_BEGIN_DECLS

#define SOFTWARE_KEY_KIND "software"
#define SOFTWARE_KEY_PASSPHRASE_MIN 8
#define SOFTWARE_KEY_PASSPHRASE_MAX 1024

typedef enum
{
  SOFTWARE_KEY_ANYWHERE, /* new keys go to the keyring where there is one */
  SOFTWARE_KEY_FILE,     /* the keyring is left alone */
} SoftwareKeyPlace;

/*
 * software_key_new:
 * @folder: absolute path of the folder for files
 * @ask: (scope notified): asks for each passphrase
 *
 * Returns: NULL with reason key-store.
 */
Key *software_key_new (
    const char *folder, SoftwareKeyPlace place, KeyAsk ask, gpointer data, GError **error);

/* software_key_passphrase_check: whether one may be chosen; FALSE with reason passphrase. */
gboolean software_key_passphrase_check (const Secret *passphrase, GError **error);

/* software_key_unseen: what to say behind "not found" where no keyring could be looked at, for there is
 * no session bus; "" otherwise. */
const char *software_key_unseen (void);

/* software_key_folder: ${XDG_DATA_HOME:-~/.local/share}/undersign/passkeys.  (transfer full) */
char *software_key_folder (void);

G_END_DECLS
