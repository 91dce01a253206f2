/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoder of statements: what it lets through is encoded as the same bytes. */
#include "service/record/statement.h"
#include "tests/fuzz/refusal.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (Statement) statement = statement_decode (bytes, &error);
  g_autoptr (GBytes) again = NULL;

  g_assert ((statement == NULL) == (error != NULL));
  refusal_seen (error);
  if (statement == NULL)
    return 0;
  again = statement_encode (statement, &error);
  g_assert_no_error (error);
  g_assert (g_bytes_equal (bytes, again));
  return 0;
}
