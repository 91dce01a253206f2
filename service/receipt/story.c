/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Following a request through its entries.  First that they are the entries that the outcome names;
 * then that each event can follow the one before, by the source that may say so.  Called by
 * receipt-verify.c; it looks at no signature.
 */
#include "service/receipt/story.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/chain.h"
#include "service/base/shape.h"

#include <string.h>

void
story_clear (Story *story)
{
  g_clear_pointer (&story->trees, g_ptr_array_unref);
}

static gboolean
impossible (GError **error, const char *text)
{
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_OUTCOME, "%s", text);
}

/* --- the entries --- */

static gboolean
entry_check (const Receipt *receipt, guint i, const JsonTree *tree, GError **error)
{
  const ReceiptOutcome *outcome = &receipt->outcome;
  const ReceiptLink *link = &g_array_index (outcome->entries, ReceiptLink, i);
  const ReceiptLink *before = i > 0 ? link - 1 : NULL;
  const char *request = json_tree_get_string (json_tree_member (tree, "details"), "request");
  static const guint8 nothing[PAE_DIGEST_SIZE] = { 0 };
  guint8 hash[PAE_DIGEST_SIZE], previous[PAE_DIGEST_SIZE];
  guint64 seq = 0;

  chain_hash (g_ptr_array_index (receipt->entries, i), hash);
  if (!digest_equal (hash, link->hash) ||
      !shape_number (json_tree_get_string (tree, "seq"), &seq) || seq != link->seq)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "entry %" G_GUINT64_FORMAT " is not the one of the outcome", link->seq);
  if (g_strcmp0 (request, outcome->request) != 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "entry %" G_GUINT64_FORMAT " is of another request", seq);
  if (seq > outcome->seq || (before != NULL && seq <= before->seq))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "entry %" G_GUINT64_FORMAT " is out of order", seq);
  if (!digest_from_string (json_tree_get_string (tree, "previous"), previous) ||
      (seq == 1 && !digest_equal (previous, nothing)) ||
      (before != NULL && before->seq + 1 == seq && !digest_equal (before->hash, previous)) ||
      (seq == outcome->seq && !digest_equal (hash, outcome->head)))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "entry %" G_GUINT64_FORMAT " does not fit the chain", seq);
  return TRUE;
}

static gboolean
entries_check (const Receipt *receipt, GPtrArray *trees, GError **error)
{
  if (receipt->entries->len != receipt->outcome.entries->len)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "the outcome names %u entries, here are %u",
                         receipt->outcome.entries->len, receipt->entries->len);
  for (guint i = 0; i < receipt->entries->len; i++)
    {
      JsonTree *tree = chain_entry_parse (g_ptr_array_index (receipt->entries, i), error);

      if (tree == NULL)
        return FALSE;
      g_ptr_array_add (trees, tree);
      if (!entry_check (receipt, i, tree, error))
        return FALSE;
    }
  return TRUE;
}

/* --- what they tell --- */

#define EXECUTOR 1u
#define ADMIN 2u
#define BROKER 4u
#define SIGNED 8u

/* Which event may follow which state, and who may say so. */
static const struct
{
  const char *event;
  guint sources;
  const char *from; /* states, each with a space before and behind */
  const char *to;   /* NULL: the state stays, "": the member "outcome" */
} events[] = {
  { "approved", SIGNED, " none refused ", NULL },
  { "consumed", EXECUTOR, " none refused ", "executing" },
  { "done", EXECUTOR, " executing ", "done" },
  { "failed", EXECUTOR, " executing ", "failed" },
  { "unknown", EXECUTOR, " executing ", "unknown" },
  { "resolved", ADMIN, " executing unknown ", "" },
  { "denied", SIGNED | BROKER, " none refused ", "denied" },
  { "withdrawn", BROKER, " none refused ", "withdrawn" },
  { "expired", BROKER, " none refused ", "expired" },
  { "superseded", BROKER | EXECUTOR, " none refused ", "superseded" },
  { "unreachable", BROKER, " none refused ", "unreachable" },
  { "refused", EXECUTOR, " none ", "refused" },
};

static guint
source_bit (const char *source)
{
  if (strcmp (source, AUDIT_EXECUTOR) == 0)
    return EXECUTOR;
  if (strcmp (source, AUDIT_ADMIN) == 0)
    return ADMIN;
  return strcmp (source, AUDIT_SIGNED) == 0 ? SIGNED : BROKER;
}

static const char *
member (const JsonTree *details, const char *name)
{
  const char *text = json_tree_get_string (details, name);

  return text != NULL ? text : "";
}

/* The entry that decides tells of the same record as the outcome. */
static gboolean
record_fits (const Receipt *receipt, const JsonTree *details)
{
  const char *record = json_tree_get_string (details, "record");

  return record == NULL || *receipt->outcome.record == '\0' ||
         strcmp (record, receipt->outcome.record) == 0;
}

static gboolean
story_move (const Receipt *receipt, Story *story, const JsonTree *tree, gsize i, GError **error)
{
  const JsonTree *details = json_tree_member (tree, "details");
  const char *source = json_tree_get_string (tree, "source");
  g_autofree char *state = g_strdup_printf (" %s ", story->state);
  const char *to = events[i].to;

  if ((events[i].sources & source_bit (source)) == 0)
    return impossible (error, "an entry is of a source that can't say that");
  if (strstr (events[i].from, state) == NULL)
    return impossible (error, "an entry does not follow from those before it");
  if (to == NULL)
    return TRUE;
  if (!record_fits (receipt, details))
    return impossible (error, "an entry is about another record");
  if (*to == '\0')
    {
      to = member (details, "outcome");
      if (strcmp (to, "done") != 0 && strcmp (to, "failed") != 0)
        return impossible (error, "an outcome is resolved as done or failed");
    }
  if (strcmp (to, "executing") == 0)
    story->approvers = member (details, "approvers");
  if (strcmp (to, "denied") == 0 && strcmp (source, AUDIT_SIGNED) == 0)
    story->denial = member (details, "statement");
  story->state = to;
  story->source = source;
  story->by = strcmp (events[i].event, "resolved") == 0 ? "" : member (details, "by");
  story->reason = member (details, "reason");
  story->result = member (details, "result");
  return TRUE;
}

static gboolean
story_tell (const Receipt *receipt, Story *story, GError **error)
{
  for (guint n = 0; n < story->trees->len; n++)
    {
      const JsonTree *tree = g_ptr_array_index (story->trees, n);
      const char *event = json_tree_get_string (tree, "event");
      gsize i = 0;

      while (i < G_N_ELEMENTS (events) && strcmp (events[i].event, event) != 0)
        i++;
      if (i == G_N_ELEMENTS (events))
        return impossible (error, "an entry is of an event that no request has");
      if (!story_move (receipt, story, tree, i, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
story_follow (const Receipt *receipt, Story *out_story, GError **error)
{
  g_auto (Story) story = { .state = "none", .source = "", .by = "", .reason = "", .result = "" };

  story.trees = g_ptr_array_new_with_free_func ((GDestroyNotify) json_tree_free);
  if (!entries_check (receipt, story.trees, error) || !story_tell (receipt, &story, error))
    return FALSE;
  *out_story = story;
  story.trees = NULL;
  return TRUE;
}

gboolean
story_has (const Story *story, const char *event, const char *statement)
{
  for (guint i = 0; i < story->trees->len; i++)
    {
      const JsonTree *tree = g_ptr_array_index (story->trees, i);
      const JsonTree *details = json_tree_member (tree, "details");

      if (strcmp (json_tree_get_string (tree, "event"), event) == 0 &&
          strcmp (json_tree_get_string (tree, "source"), AUDIT_SIGNED) == 0 &&
          g_strcmp0 (json_tree_get_string (details, "statement"), statement) == 0)
        return TRUE;
    }
  return FALSE;
}
