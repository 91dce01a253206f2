/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rules/NAME.rule: what is denied, asked or allowed.  A rule must say everything that its decision
 * needs and nothing that it does not: a key without effect would look like a safeguard.
 */
#include "service/policy/load-rule.h"

#include "service/base/clock.h"
#include "service/policy/name.h"

#include <string.h>

static const KeySpec rule_keys[] = {
  { "Agents", KEY_REQUIRED }, { "Actions", KEY_REQUIRED }, { "Decision", KEY_REQUIRED },
  { "Parts", KEY_PLAIN },     { "When", KEY_REPEATABLE },  { "Approvers", KEY_PLAIN },
  { "Count", KEY_PLAIN },     { "Separation", KEY_PLAIN }, { "Passkeys", KEY_PLAIN },
  { "Lifetime", KEY_PLAIN },  { "Limit", KEY_REPEATABLE }, { "After", KEY_PLAIN },
  { "Judges", KEY_PLAIN },    { NULL, KEY_PLAIN },
};

const SectionSpec rule_schema[] = {
  { "Rule", name_is_plain, SECTION_REQUIRED, rule_keys },
  { NULL, NULL, SECTION_PLAIN, NULL },
};

/* --- which agents, actions and parts --- */

/* Something that a rule names is not there: because it is masked, because its own file is at fault,
 * or because nobody wrote it. */
static void
missing (const RuleLoad *load, const char *key, Folder folder, const char *name)
{
  const ImageFile *file = image_find (load->loader->policy->image, folder, name);
  g_autofree char *quoted = quote_text (name);

  if (loader_is_unread (load->loader, folder_name (folder), name))
    return;
  if (file == NULL)
    rule_fault (load, key, "%s=: there is no %s", key, quoted);
  else if (image_file_is_mask (file))
    rule_fault (load, key, "%s=: %s is masked by %s", key, quoted, file->path);
}

static void
load_agents (const RuleLoad *load)
{
  Rule *rule = load->rule;

  rule->agents = rule_words (load, "Agents");
  for (guint i = 0; rule->agents != NULL && rule->agents[i] != NULL; i++)
    {
      if (strcmp (rule->agents[i], "*") != 0)
        {
          if (policy_agent_by_name (load->loader->policy, rule->agents[i]) == NULL)
            missing (load, "Agents", FOLDER_AGENTS, rule->agents[i]);
          continue;
        }
      if (rule->agents[1] != NULL)
        rule_fault (load, "Agents", "Agents=: * stands alone");
      if (rule->decision == DECISION_ALLOW)
        rule_fault (load, "Agents", "Agents=: an allow rule names its agents, * is not for it");
    }
}

/* Whether some action did not load that the pattern may stand for. */
static gboolean
pattern_is_broken (const RuleLoad *load, const char *pattern)
{
  const GPtrArray *files = load->loader->policy->image->files[FOLDER_ACTIONS];

  for (guint i = 0; i < files->len; i++)
    {
      const ImageFile *file = g_ptr_array_index (files, i);

      if (!image_file_is_mask (file) && action_pattern_matches (pattern, file->name))
        return TRUE;
    }
  return loader_has_unread (load->loader, FOLDER_ACTIONS);
}

/* Collects the actions that a pattern stands for. */
static void
expand_pattern (const RuleLoad *load, const char *pattern)
{
  g_autofree char *prefix = g_strndup (pattern, strlen (pattern) - MIN (strlen (pattern), 2));
  gboolean all = strcmp (pattern, "*") == 0;
  guint before = load->actions->len;
  GHashTableIter iter;
  gpointer id, entry;

  if (load->rule->decision == DECISION_ALLOW)
    rule_fault (load, "Actions", "Actions=: an allow rule names its actions, * is not for it");
  if (all && (load->rule->decision != DECISION_DENY || load->rule->actions[1] != NULL))
    rule_fault (load, "Actions", "Actions=: * stands alone, and in a deny rule");
  if (!all && !name_is_action_prefix (prefix))
    {
      g_autofree char *quoted = quote_text (pattern);

      rule_fault (load, "Actions", "Actions=: %s is no pattern: * or PREFIX.*", quoted);
      return;
    }

  g_hash_table_iter_init (&iter, load->loader->policy->actions);
  while (g_hash_table_iter_next (&iter, &id, &entry))
    if (action_pattern_matches (pattern, id))
      g_ptr_array_add (load->actions, entry);
  if (load->actions->len == before && !all && !pattern_is_broken (load, pattern))
    rule_fault (load, "Actions", "Actions=: there is no action that begins with %s.", prefix);
}

static void
load_actions (const RuleLoad *load)
{
  Rule *rule = load->rule;

  rule->actions = rule_words (load, "Actions");
  for (guint i = 0; rule->actions != NULL && rule->actions[i] != NULL; i++)
    {
      const char *word = rule->actions[i];
      const PolicyAction *action = policy_action (load->loader->policy, word);

      if (is_action_pattern (word))
        expand_pattern (load, word);
      else if (action != NULL)
        g_ptr_array_add (load->actions, (gpointer) action);
      else
        missing (load, "Actions", FOLDER_ACTIONS, word);
    }
}

/* Whether some agent of the rule has @part, or did not load. */
static gboolean
part_exists (const RuleLoad *load, const char *part)
{
  char **agents = load->rule->agents;
  gboolean any = strcmp (agents[0], "*") == 0;
  GHashTableIter iter;
  gpointer value;

  for (guint i = 0; !any && agents[i] != NULL; i++)
    if (policy_agent_by_name (load->loader->policy, agents[i]) == NULL)
      return TRUE;
  if (any && loader_has_broken_agent (load->loader))
    return TRUE;
  g_hash_table_iter_init (&iter, load->loader->policy->agents);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      const AgentEntry *entry = value;

      if (policy_agent_has_part (&entry->agent, part) &&
          rule_is_about (load->rule, entry->agent.name))
        return TRUE;
    }
  return FALSE;
}

static void
load_rule_parts (const RuleLoad *load)
{
  Rule *rule = load->rule;

  rule->parts = rule_words (load, "Parts");
  if (rule->parts != NULL && rule->decision == DECISION_ALLOW)
    rule_fault (load, "Parts",
                "Parts=: an allow rule cannot go by part, which is the word of the "
                "agent");
  for (guint i = 0; rule->parts != NULL && rule->agents != NULL && rule->parts[i] != NULL; i++)
    if (!part_exists (load, rule->parts[i]))
      {
        g_autofree char *quoted = quote_text (rule->parts[i]);

        rule_fault (load, "Parts", "Parts=: no agent of this rule has a part %s", quoted);
      }
}

/* --- when --- */

static void
load_when (const RuleLoad *load, const KeyEntry *entry)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (When) when = when_parse (entry->value, &error);

  if (when == NULL)
    {
      load_fault (load->loader, load->file, entry->line, error);
      return;
    }
  for (guint i = 0; i < load->actions->len; i++)
    if (!when_check (when, g_ptr_array_index (load->actions, i), load->rule->decision, &error))
      {
        load_fault (load->loader, load->file, entry->line, error);
        g_clear_error (&error);
      }
  g_ptr_array_add (load->rule->when, g_steal_pointer (&when));
}

/* --- decision --- */

static gboolean
load_decision (const RuleLoad *load)
{
  const char *word = key_section_value (load->section, "Decision");

  if (strcmp (word, "deny") == 0)
    load->rule->decision = DECISION_DENY;
  else if (strcmp (word, "ask") == 0)
    load->rule->decision = DECISION_ASK;
  else if (strcmp (word, "allow") == 0)
    load->rule->decision = DECISION_ALLOW;
  else
    {
      rule_fault (load, "Decision", "Decision= is deny, ask or allow");
      return FALSE;
    }
  return TRUE;
}

/* Keys that the decision has no use for, and those that nothing enforces. */
static void
check_keys (const RuleLoad *load)
{
  static const char *const of_ask[] = { "Approvers", "Count", "Separation", "Passkeys",
                                        "Lifetime" };
  static const char *const of_none[] = { "After", "Judges" };
  Decision decision = load->rule->decision;

  for (guint i = 0; i < G_N_ELEMENTS (of_none); i++)
    if (key_section_entry (load->section, of_none[i]) != NULL)
      rule_fault (load, of_none[i], "%s= is not enforced by this version", of_none[i]);
  for (guint i = 0; i < G_N_ELEMENTS (of_ask) && decision != DECISION_ASK; i++)
    if (key_section_entry (load->section, of_ask[i]) != NULL)
      rule_fault (load, of_ask[i], "%s= has a meaning in ask rules alone", of_ask[i]);
  if (decision == DECISION_DENY && key_section_entry (load->section, "Limit") != NULL)
    rule_fault (load, "Limit", "Limit= has no meaning in a deny rule");
}

/* What runs without asking needs a bound, and one for each value of an argument is none: it is the
 * agent that chooses the value. */
static void
check_allow_action (const RuleLoad *load,
                    const PolicyAction *action,
                    gboolean bounded,
                    gboolean bounded_together)
{
  if (action->effect == EFFECT_IRREVERSIBLE)
    rule_fault (load, "Decision", "%s is irreversible and cannot be allowed without asking",
                action->id);
  else if (action->effect != EFFECT_READ && !bounded_together)
    rule_fault (load, "Decision", "%s has an effect: allow needs a Limit=N/PERIOD all-agents",
                action->id);
  else if (!bounded)
    rule_fault (load, "Decision", "%s: allow needs a Limit=N/PERIOD without per", action->id);
}

static void
check_allow (const RuleLoad *load)
{
  gboolean bounded = FALSE;
  gboolean together = FALSE;

  if (load->rule->file->shipped)
    rule_fault (load, "Decision",
                "no allow rule can be shipped: it is for the machine's "
                "administrator to write");
  for (guint i = 0; i < load->rule->limits->len; i++)
    {
      const PolicyLimit *limit = g_ptr_array_index (load->rule->limits, i);

      bounded = bounded || limit->per == NULL;
      together = together || (limit->all_agents && limit->per == NULL);
    }
  for (guint i = 0; i < load->actions->len; i++)
    check_allow_action (load, g_ptr_array_index (load->actions, i), bounded, together);
}

/* --- the whole --- */

static Rule *
rule_new (const ImageFile *image_file, const KeySection *section)
{
  Rule *rule = g_new0 (Rule, 1);

  rule->id =
      g_strdup_printf ("%s%s:%s", image_file->name, folder_suffix (FOLDER_RULES), section->name);
  rule->file = image_file;
  rule->when = g_ptr_array_new_with_free_func ((GDestroyNotify) when_free);
  rule->limits = g_ptr_array_new_with_free_func ((GDestroyNotify) policy_limit_free);
  return rule;
}

static void
load_repeated (const RuleLoad *load)
{
  for (guint i = 0; i < load->section->entries->len; i++)
    {
      const KeyEntry *entry = g_ptr_array_index (load->section->entries, i);

      if (strcmp (entry->key, "When") == 0)
        load_when (load, entry);
      else if (strcmp (entry->key, "Limit") == 0)
        load_limit (load, entry);
    }
}

static void
load_rule (Loader *loader,
           const KeyFile *file,
           const KeySection *section,
           const ImageFile *image_file)
{
  guint before = faults_count (loader->faults);
  g_autoptr (GPtrArray) actions = g_ptr_array_new ();
  g_autoptr (Rule) rule = rule_new (image_file, section);
  const RuleLoad load = { loader, file, section, rule, actions };
  gboolean decided = load_decision (&load);

  load_agents (&load);
  load_actions (&load);
  load_rule_parts (&load);
  load_repeated (&load);
  if (!decided)
    return;
  check_keys (&load);
  if (rule->decision == DECISION_ALLOW)
    check_allow (&load);
  if (rule->decision == DECISION_ASK)
    load_requirement (&load);
  if (faults_count (loader->faults) != before)
    return;

  rule->order = loader->policy->rules->len;
  rule_index (loader->policy, rule);
  g_ptr_array_add (loader->policy->rules, g_steal_pointer (&rule));
}

void
load_rules (Loader *loader, const ImageFile *image_file)
{
  g_autoptr (KeyFile) file =
      key_file_parse_rest (image_file->path, image_file->content, rule_schema, loader->faults);

  for (guint i = 0; file != NULL && i < file->sections->len; i++)
    load_rule (loader, file, g_ptr_array_index (file->sections, i), image_file);
}
