/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of a person's passkeys answers a card, and the signature by it. */
#pragma once

#include "module/card/key/key.h"
#include "module/card/model/card.h"
#include "module/card/tty/terminal.h"
#include "module/card/tty/trust.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct Signing Signing;

/*
 * signing_new:
 * @terminal: where to ask, once there is one
 * @only_security_keys: a passkey that is kept on this computer is not used
 * @devices: (nullable): paths of security keys; what it points to must remain
 *
 * Returns: NULL with reason key-store.
 */
Signing *signing_new (const Trust *trust,
                      Terminal **terminal,
                      gboolean only_security_keys,
                      const char *const *devices,
                      GError **error);
void signing_free (Signing *signing);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Signing, signing_free)

/* signing_possible: whether @card accepts a passkey that is kept here or may be on a security key;
 * reason credential-unknown. */
gboolean signing_possible (Signing *signing, const Card *card, GError **error);

/*
 * signing_pick: the passkey to sign with: one that is kept here first, else one on a security key,
 * which the person is asked to plug in.
 * Returns: borrowed of @card; NULL with reason credential-unknown, no-answer, or those of
 *   key_pick().
 */
const CardCredential *signing_pick (Signing *signing, const Card *card, GError **error);

/* signing_sign: by what signing_pick() returned last; asks for passphrase, PIN and touch. */
gboolean signing_sign (Signing *signing,
                       GBytes *credential,
                       GBytes *statement,
                       KeyAssertion *out_assertion,
                       GError **error);

G_END_DECLS
