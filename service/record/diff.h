/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What differs between two records, member by member, in the order of the newer one. */
#pragma once

#include "service/record/record.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  char *path;          /* "arguments/bcc", "policy", "run/id", "facts/known" */
  char *label;         /* from policy, or a fixed word */
  char *old_type;      /* of the older value, "" where it is absent; "line" for a plain member */
  char *new_type;      /* likewise */
  JsonTree *old_value; /* (nullable): absent in the older record */
  JsonTree *new_value; /* (nullable): absent in the newer one */
} Difference;

/* record_diff: (element-type Difference) (transfer full): empty where the bytes are equal. */
GPtrArray *record_diff (const Record *older, const Record *newer);

G_END_DECLS
