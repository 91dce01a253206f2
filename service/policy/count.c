/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much is loaded, for `undersignctl status`.  Nothing may be decided by it. */
#include "service/policy/load.h"

void
policy_count (const Policy *policy, PolicyCounts *out_counts)
{
  out_counts->actions = g_hash_table_size (policy->actions);
  out_counts->agents = g_hash_table_size (policy->agents);
  out_counts->rules = policy->rules->len;
}
