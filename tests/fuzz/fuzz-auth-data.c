/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Authenticator data of a registration and the COSE key in it: what is read has a credential id and
 * a key of the documented sizes, and no byte less or more reads too.
 */
#include "service/passkey/auth-data.h"
#include "service/passkey/public-key.h"
#include "tests/fuzz/refusal.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check_exact (const uint8_t *data, size_t size)
{
  g_autofree guint8 *longer = g_malloc0 (size + 1);
  g_autoptr (Passkey) shorter_passkey = g_new0 (Passkey, 1);
  g_autoptr (Passkey) longer_passkey = g_new0 (Passkey, 1);

  memcpy (longer, data, size);
  g_assert (!auth_data_read_attested (data, size - 1, shorter_passkey, NULL));
  g_assert (!auth_data_read_attested (longer, size + 1, longer_passkey, NULL));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (Passkey) passkey = g_new0 (Passkey, 1);
  g_autoptr (EVP_PKEY) key = NULL;
  g_autoptr (GError) error = NULL;
  gboolean ok = auth_data_read_attested (data, size, passkey, &error);

  g_assert (ok == (error == NULL));
  refusal_seen (error);
  if (!ok)
    return 0;
  g_assert (g_bytes_get_size (passkey->credential) >= 1);
  g_assert (g_bytes_get_size (passkey->credential) <= PASSKEY_CREDENTIAL_MAX);
  key = public_key_new (passkey->algorithm, passkey->public_key, NULL);
  g_assert (key != NULL);
  g_assert (public_key_new ((PasskeyAlgorithm) -257, passkey->public_key, NULL) == NULL);
  check_exact (data, size);
  return 0;
}
