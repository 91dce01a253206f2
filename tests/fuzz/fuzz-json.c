/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The JSON reader and writer: what is read can be copied, and what is written is read back as the
 * same tree and written as the same bytes.
 */
#include "service/base/json.h"
#include "tests/fuzz/refusal.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const JsonLimits limits = { 64 * 1024, 16, 4096, 256 };

static void
check_canonical (const JsonTree *tree)
{
  g_autoptr (GBytes) bytes = json_tree_write (tree);
  g_autoptr (GBytes) again = NULL;
  g_autoptr (JsonTree) back = NULL;
  gsize len;
  const char *text;

  if (bytes == NULL) /* a number in it */
    return;
  text = g_bytes_get_data (bytes, &len);
  /* An escape can be longer than what it stands for: the text has more room than the input had. */
  back = json_tree_parse (text, len, &(JsonLimits){ G_MAXSIZE, 16, 4096, 256 }, NULL);
  g_assert (back != NULL && json_tree_equal (tree, back));
  again = json_tree_write (back);
  g_assert (g_bytes_equal (bytes, again));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonTree) tree = json_tree_parse ((const char *) data, size, &limits, &error);
  g_autoptr (JsonTree) copy = NULL;

  g_assert ((tree == NULL) == (error != NULL));
  refusal_seen (error);
  if (tree == NULL)
    return 0;
  copy = json_tree_copy (tree);
  g_assert (json_tree_equal (tree, copy));
  check_canonical (tree);
  return 0;
}
