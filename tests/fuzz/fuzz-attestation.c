/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attestation objects: whatever the bytes, a registration fails with a reason or gives a passkey
 * that is whole.  The relying party is that of the W3C vectors, so that those seeds get far.
 */
#include "service/passkey/passkey.h"

#include "dbus/error.h"

#include <stdint.h>
#include <string.h>

#define CLIENT_DATA                                                                                \
  "{\"type\":\"webauthn.create\",\"challenge\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\","   \
  "\"origin\":\"https://example.org\"}"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) attestation = g_bytes_new (data, size);
  g_autoptr (GBytes) client_data = g_bytes_new_static (CLIENT_DATA, strlen (CLIENT_DATA));
  Registration registration = { .rp = "example.org",
                                .origin = "https://example.org",
                                .client_data = client_data,
                                .attestation = attestation };
  g_autoptr (GError) error = NULL;
  g_autoptr (Passkey) passkey = passkey_register (&registration, &error);

  g_assert ((passkey == NULL) == (error != NULL));
  g_assert (passkey != NULL || g_error_matches (error, US_ERROR, US_ERROR_WRONG_ASSERTION));
  g_assert (passkey == NULL || (passkey->credential != NULL && passkey->public_key != NULL));
  return 0;
}
