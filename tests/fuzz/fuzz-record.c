/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoder of records, and everything that reads what it lets through. */
#include "tests/fuzz/check-record.h"
#include "tests/fuzz/refusal.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = record_decode (bytes, &error);

  g_assert ((record == NULL) == (error != NULL));
  refusal_seen (error);
  if (record == NULL)
    {
      g_assert (g_utf8_validate (error->message, -1, NULL));
      return 0;
    }
  g_assert (g_bytes_equal (record_bytes (record), bytes));
  check_record (record);
  return 0;
}
