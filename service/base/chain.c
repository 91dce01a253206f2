/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Following the chain.  An entry counts by its bytes: its hash is computed here, whatever anybody
 * says that it is.  A chain may begin late only where an entry of the same chain tells that the
 * beginning was pruned, up to which number and hash: a log that was cut does not.
 */
#include "service/base/chain.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/chain-scan.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/shape.h"

#include <string.h>

static const JsonLimits limits = { CHAIN_ENTRY_MAX, 4, CHAIN_ENTRY_MAX, CHAIN_DETAILS_MAX };
static const char *const members[] = { "details", "event",  "format", "previous",
                                       "seq",     "source", "time",   NULL };

gboolean
chain_source_is_known (const char *source)
{
  static const char *const sources[] = { AUDIT_EXECUTOR, AUDIT_ADMIN, AUDIT_BROKER, AUDIT_SIGNED,
                                         NULL };

  return g_strv_contains (sources, source);
}

gboolean
chain_event_is_of_log (const char *event)
{
  return strcmp (event, "created") == 0 || strcmp (event, "pruned") == 0;
}

void
chain_hash (GBytes *entry, guint8 out_hash[PAE_DIGEST_SIZE])
{
  pae_sha256 (PAE_TYPE_AUDIT, entry, out_hash);
}

JsonTree *
chain_entry_parse (GBytes *entry, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (JsonTree) tree =
      shape_parse (entry, &limits, US_REASON_CHAIN, "an audit entry", &local);
  gint64 time = 0;

  if (tree == NULL)
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN, "an audit entry is not readable (%s)",
                    local->message);
      return NULL;
    }
  if (!shape_check (tree, members, US_REASON_CHAIN, "an audit entry", error))
    return NULL;
  for (guint i = 1; members[i] != NULL; i++)
    if (json_tree_get_string (tree, members[i]) == NULL)
      {
        us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                      "the member \"%s\" of an audit entry is a string", members[i]);
        return NULL;
      }
  if (strcmp (json_tree_get_string (tree, "format"), CHAIN_FORMAT) != 0 ||
      json_tree_kind (json_tree_member (tree, "details")) != JSON_TREE_OBJECT ||
      !clock_parse (json_tree_get_string (tree, "time"), &time) ||
      !chain_source_is_known (json_tree_get_string (tree, "source")))
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN, "a member of an entry is malformed");
      return NULL;
    }
  return g_steal_pointer (&tree);
}

/* Where the chain begins, as its first entry says. */
static gboolean
chain_begin (Chain *chain, guint64 seq, const guint8 previous[PAE_DIGEST_SIZE], GError **error)
{
  static const guint8 nothing[PAE_DIGEST_SIZE] = { 0 };

  if (seq == 1 && !digest_equal (previous, nothing))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "entry 1 does not follow nothing");
  chain->begun = TRUE;
  chain->explained = seq == 1;
  chain->start = seq - 1;
  chain->seq = seq - 1;
  memcpy (chain->start_head, previous, PAE_DIGEST_SIZE);
  memcpy (chain->head, previous, PAE_DIGEST_SIZE);
  return TRUE;
}

/* What an entry of chain_event_is_of_log() says of it. */
static void
chain_look (Chain *chain, const JsonTree *tree)
{
  const char *event = json_tree_get_string (tree, "event");
  const char *source = json_tree_get_string (tree, "source");
  const JsonTree *details = json_tree_member (tree, "details");
  const char *ledger = json_tree_get_string (details, "ledger");
  const char *through = json_tree_get_string (details, "through");
  const char *head = json_tree_get_string (details, "head");
  guint8 known[PAE_DIGEST_SIZE];
  guint64 seq = 0;

  if (strcmp (event, "created") == 0 && chain->seq == 1 && ledger != NULL && id_is_valid (ledger))
    g_strlcpy (chain->ledger, ledger, sizeof chain->ledger);
  if (strcmp (event, "pruned") != 0 || strcmp (source, AUDIT_ADMIN) != 0 || ledger == NULL ||
      !id_is_valid (ledger) || through == NULL || head == NULL || !shape_number (through, &seq) ||
      !digest_from_string (head, known) || seq != chain->start ||
      !digest_equal (known, chain->start_head))
    return;
  chain->explained = TRUE;
  g_strlcpy (chain->ledger, ledger, sizeof chain->ledger);
}

/* What of an entry its place in the chain depends on.  @out_tree: NULL where nothing else does. */
static gboolean
chain_read (GBytes *entry,
            guint64 *out_seq,
            guint8 out_previous[PAE_DIGEST_SIZE],
            JsonTree **out_tree,
            GError **error)
{
  g_autoptr (JsonTree) tree = chain_entry_parse (entry, error);

  if (tree == NULL)
    return FALSE;
  if (!shape_number (json_tree_get_string (tree, "seq"), out_seq) || *out_seq == 0 ||
      !digest_from_string (json_tree_get_string (tree, "previous"), out_previous))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "an entry has no number or names no hash before it");
  *out_tree = g_steal_pointer (&tree);
  return TRUE;
}

gboolean
chain_add (Chain *chain, GBytes *entry, JsonTree **out_tree, GError **error)
{
  g_autoptr (JsonTree) tree = NULL;
  guint8 previous[PAE_DIGEST_SIZE];
  gsize len = 0;
  const char *text = g_bytes_get_data (entry, &len);
  guint64 seq = 0;

  if (out_tree != NULL || !chain_scan (text, len, &seq, previous) || seq == 0)
    if (!chain_read (entry, &seq, previous, &tree, error))
      return FALSE;
  if (!chain->begun && !chain_begin (chain, seq, previous, error))
    return FALSE;
  if (seq != chain->seq + 1)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "where entry %" G_GUINT64_FORMAT " belongs stands entry %" G_GUINT64_FORMAT,
                         chain->seq + 1, seq);
  if (!digest_equal (previous, chain->head))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "entry %" G_GUINT64_FORMAT " does not follow the one before it", seq);
  chain_hash (entry, chain->head);
  chain->seq = seq;
  if (tree != NULL && chain_event_is_of_log (json_tree_get_string (tree, "event")))
    chain_look (chain, tree);
  if (out_tree != NULL)
    *out_tree = g_steal_pointer (&tree);
  return TRUE;
}

gboolean
chain_end (const Chain *chain, GError **error)
{
  if (!chain->begun)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN, "there is no entry");
  if (!chain->explained)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "the log begins with entry %" G_GUINT64_FORMAT
                         ", and nothing in it says that what came before was pruned",
                         chain->start + 1);
  return TRUE;
}
