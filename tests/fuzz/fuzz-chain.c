/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The audit chain: each line of the input is an entry, after what the one before it should be.  A
 * chain that holds names every entry: with one left out, doubled or changed it does not.
 */
#include "service/base/chain.h"
#include "tests/fuzz/refusal.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <stdint.h>
#include <string.h>

#define MANY 12

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
assert_same (const Chain *a, const Chain *b)
{
  g_assert (a->seq == b->seq && a->start == b->start && a->begun == b->begun);
  g_assert (a->explained == b->explained && strcmp (a->ledger, b->ledger) == 0);
  g_assert (digest_equal (a->head, b->head) && digest_equal (a->start_head, b->start_head));
}

/* follow: whether @lines are a chain; the entry @without is left out, @twice is there twice. */
static gboolean
follow (char **lines, int without, int twice, Chain *out_chain, GError **error)
{
  for (int i = 0; lines[i] != NULL; i++)
    {
      g_autoptr (GBytes) entry = g_bytes_new_static (lines[i], strlen (lines[i]));
      g_autoptr (JsonTree) tree = NULL;
      Chain other = *out_chain;
      gboolean ok = FALSE;

      if (*lines[i] == '\0' || i == without)
        continue;
      ok = chain_add (&other, entry, NULL, NULL); /* which may not need the tree */
      g_assert (chain_add (out_chain, entry, &tree, error) == ok);
      if (!ok)
        return FALSE;
      assert_same (&other, out_chain);
      g_assert (tree != NULL && out_chain->begun && out_chain->seq > out_chain->start);
      if (i == twice && !chain_add (out_chain, entry, NULL, error))
        return FALSE;
    }
  return TRUE;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_auto (GStrv) lines = g_strsplit (text, "\n", MANY);
  g_autoptr (GError) error = NULL;
  Chain chain = { 0 };
  gboolean ok = follow (lines, -1, -1, &chain, &error) && chain_end (&chain, &error);

  g_assert (ok == (error == NULL));
  g_assert (ok || us_error_has_reason (error, US_REASON_CHAIN));
  refusal_seen (error);
  if (!ok)
    return 0;
  for (int i = 0; lines[i] != NULL; i++)
    {
      Chain other = { 0 };

      if (*lines[i] == '\0')
        continue;
      g_assert (!follow (lines, -1, i, &other, NULL));
      other = (Chain){ 0 };
      /* Without its first entry it is one that begins later, as if that had been pruned. */
      g_assert (!follow (lines, i, -1, &other, NULL) || other.start > chain.start ||
                !digest_equal (other.head, chain.head));
    }
  return 0;
}
