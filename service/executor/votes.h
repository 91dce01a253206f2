/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A vote says that one thing of one person (a passkey, or an answer made with it) may satisfy one
 * requirement.  Whether all requirements are satisfied together, each by persons of its own, is
 * decided here and nowhere else.
 */
#pragma once

#include "service/executor/executor.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  uid_t uid;
  guint requirement; /* index */
  gpointer item;     /* borrowed */
} Vote;

/*
 * votes_match:
 * @votes: (element-type Vote)
 * @requirements: (element-type PolicyRequirement)
 * @out_items: (out) (optional) (transfer container): the item that takes each place
 *
 * Returns: FALSE with US_ERROR_REFUSED, reason not-approved, where a place stays empty; then
 *   *@out_taken and *@out_needed are set all the same.
 */
gboolean votes_match (GArray *votes,
                      GPtrArray *requirements,
                      GPtrArray **out_items,
                      guint *out_taken,
                      guint *out_needed,
                      GError **error);

/*
 * votes_of: adds a vote of @item for each requirement that this person may satisfy with a passkey
 * of this kind.
 * Returns: FALSE, with why not, where there is no such requirement.
 */
gboolean votes_of (Executor *executor,
                   const Record *record,
                   GPtrArray *requirements,
                   const Passkey *passkey,
                   gpointer item,
                   GArray *votes,
                   GError **error);

G_END_DECLS
