/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * clientDataJSON: whatever passes is a JSON object that holds the one type, challenge and origin,
 * and passes for no other of them.
 */
#include "service/passkey/client-data.h"
#include "tests/fuzz/refusal.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <stdint.h>

#define ORIGIN "undersign:00000000000000000000000000000000"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const guint8 zero[PAE_DIGEST_SIZE] = { 0 }, other[PAE_DIGEST_SIZE] = { 1 };
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) error = NULL, wrong = NULL;
  gboolean ok = client_data_check (bytes, CLIENT_DATA_GET, zero, ORIGIN, &error);

  g_assert (ok == (error == NULL));
  refusal_seen (error);
  g_assert (ok || g_error_matches (error, US_ERROR, US_ERROR_WRONG_ASSERTION));
  if (!ok)
    return 0;
  g_assert (!client_data_check (bytes, CLIENT_DATA_CREATE, zero, ORIGIN, NULL));
  g_assert (!client_data_check (bytes, CLIENT_DATA_GET, zero, ORIGIN "0", NULL));
  g_assert (!client_data_check (bytes, CLIENT_DATA_GET, other, ORIGIN, &wrong));
  g_assert (us_error_has_reason (wrong, US_REASON_CHALLENGE));
  return 0;
}
