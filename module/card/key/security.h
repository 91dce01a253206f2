/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Security keys: passkeys on a device that is plugged in, used through libfido2.  The device
 * verifies its person, by its PIN or by itself; one that can do neither is not used.  Nothing of
 * such a passkey is kept on this computer.
 */
#pragma once

#include "module/card/key/key.h"

#include <glib.h>

G_BEGIN_DECLS

#define SECURITY_KEY_KIND_ATTESTED "hardware"
#define SECURITY_KEY_KIND_UNATTESTED "unattested"
#define SECURITY_KEY_PIN_MAX 63 /* bytes; CTAP2 has no longer ones */
#define SECURITY_KEY_TOUCH_MS 90000

typedef struct
{
  const char *const *devices; /* (nullable): paths; NULL for all that are plugged in */
  gboolean attested;          /* enrols with the attestation of the key's maker */
  guint touch_ms;
  KeyAsk ask;                       /* for PINs */
  void (*touch) (gpointer data);    /* tells the person to touch the key now */
  gboolean (*left) (gpointer data); /* whether the person left meanwhile */
  gpointer data;
} SecurityKeyOptions;

/* security_key_new: @options is copied, what it points to is not. */
Key *security_key_new (const SecurityKeyOptions *options);

/*
 * security_key_ready: that exactly one device is there and that it can verify its person, so that
 * nobody is asked for more before.
 * Returns: FALSE with reason key-absent, key-several, key-unfit or key-failed.
 */
gboolean security_key_ready (Key *key, GError **error);

G_END_DECLS
