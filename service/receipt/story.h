/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the entries of a receipt tell, followed from the first to the last. */
#pragma once

#include "service/receipt/receipt.h"

#include <glib.h>

G_BEGIN_DECLS

/* Strings are borrowed from the entries' trees, which the story holds. */
typedef struct
{
  GPtrArray *trees; /* (element-type JsonTree), one an entry */
  const char *state, *source, *by, *reason, *result;
  const char *approvers; /* (nullable): of the consumption: names with spaces between */
  const char *denial;    /* (nullable): digest of the statement that denied */
} Story;

void story_clear (Story *story);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Story, story_clear)

/* story_follow: reason chain for entries that are not those of the outcome, bad-outcome for a story
 * that cannot be. */
gboolean story_follow (const Receipt *receipt, Story *out_story, GError **error);

/* story_has: an entry that says that a passkey signed this statement with this event. */
gboolean story_has (const Story *story, const char *event, const char *statement);

G_END_DECLS
