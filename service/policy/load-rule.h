/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files that load a rule share: load-rule.c, load-requirement.c, and loader.c for both. */
#pragma once

#include "service/policy/load.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  Loader *loader;
  const KeyFile *file;
  const KeySection *section;
  Rule *rule;
  GPtrArray *actions; /* (element-type PolicyAction): all that the rule is about */
} RuleLoad;

/* rule_fault: at the line of @key, or of the section where it is absent. */
void rule_fault (const RuleLoad *load, const char *key, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* rule_words: NULL where the key is absent or at fault. */
char **rule_words (const RuleLoad *load, const char *key);

/* load_limit: one Limit= line. */
void load_limit (const RuleLoad *load, const KeyEntry *entry);
/* load_requirement: who may answer an ask rule, with what, for how long. */
void load_requirement (const RuleLoad *load);

void policy_limit_free (PolicyLimit *limit);
PolicyLimit *policy_limit_copy (const PolicyLimit *limit);

G_END_DECLS
