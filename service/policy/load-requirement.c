/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an ask rule demands of a person, and how often a rule may be used.  Both only ever tighten;
 * a value that cannot be met or would mean nothing is a fault.
 */
#include "service/policy/load-rule.h"

#include "service/base/clock.h"
#include "service/policy/constraint.h"
#include "service/policy/name.h"

#include <string.h>

#define LIMIT_MAX_COUNT 1000000
#define LIMIT_MAX_PERIOD (366 * G_GUINT64_CONSTANT (86400))

void
policy_limit_free (PolicyLimit *limit)
{
  if (limit == NULL)
    return;
  g_free (limit->per);
  g_free (limit);
}

PolicyLimit *
policy_limit_copy (const PolicyLimit *limit)
{
  PolicyLimit *copy = g_memdup2 (limit, sizeof *limit);

  copy->per = g_strdup (limit->per);
  return copy;
}

/* --- Limit= --- */

static gboolean
parse_rate (const char *text, PolicyLimit *limit)
{
  const char *slash = strchr (text, '/');
  g_autofree char *count = slash != NULL ? g_strndup (text, (gsize) (slash - text)) : NULL;

  return slash != NULL && count[0] != '0' &&
         g_ascii_string_to_unsigned (count, 10, 1, LIMIT_MAX_COUNT, &limit->count, NULL) &&
         duration_parse (slash + 1, &limit->period) && limit->period <= LIMIT_MAX_PERIOD;
}

/* A value is counted for itself, each item of a list too; but of a file the name is the agent's to
 * choose, so that no two need be the same. */
static void
check_per (const RuleLoad *load, const KeyEntry *entry, const char *per)
{
  g_autofree char *quoted = quote_text (per);

  for (guint i = 0; i < load->actions->len; i++)
    {
      const PolicyAction *action = g_ptr_array_index (load->actions, i);
      const PolicyArgument *argument = action_argument (action, per);

      if (argument == NULL)
        faults_add (load->loader->faults, load->file->path, entry->line,
                    "Limit=: action %s has no argument %s", action->id, quoted);
      else if (type_is_file (argument->type))
        faults_add (load->loader->faults, load->file->path, entry->line,
                    "Limit=: per cannot count by %s, which is of type %s", quoted,
                    type_name (argument->type));
    }
}

void
load_limit (const RuleLoad *load, const KeyEntry *entry)
{
  g_auto (GStrv) words = key_entry_words (load->file, entry, 8, load->loader->faults);
  PolicyLimit limit = { 0 };
  guint i = 1;

  if (words == NULL)
    return;
  if (g_str_has_prefix (words[0], "sum("))
    {
      faults_add (load->loader->faults, load->file->path, entry->line,
                  "Limit=sum(...) is not enforced by this version");
      return;
    }
  if (words[i] != NULL && strcmp (words[i], "per") == 0 && words[i + 1] != NULL)
    {
      limit.per = words[i + 1];
      i += 2;
    }
  if (words[i] != NULL && strcmp (words[i], "all-agents") == 0)
    {
      limit.all_agents = TRUE;
      i++;
    }
  if (!parse_rate (words[0], &limit) || words[i] != NULL)
    {
      faults_add (
          load->loader->faults, load->file->path, entry->line,
          "Limit= is N/PERIOD [per ARGUMENT] [all-agents], N at most %d, PERIOD at most 366d",
          LIMIT_MAX_COUNT);
      return;
    }
  if (limit.per != NULL)
    check_per (load, entry, limit.per);
  g_ptr_array_add (load->rule->limits, policy_limit_copy (&limit));
}

/* --- Approvers= and Count= --- */

static void
check_fact_approver (const RuleLoad *load, const char *name)
{
  g_autofree char *quoted = quote_text (name);

  for (guint i = 0; i < load->actions->len; i++)
    {
      const PolicyAction *action = g_ptr_array_index (load->actions, i);
      const PolicyFact *fact = NULL;

      for (guint j = 0; fact == NULL && j < action->facts->len; j++)
        {
          fact = g_ptr_array_index (action->facts, j);
          if (strcmp (fact->name, name) != 0)
            fact = NULL;
        }
      if (fact == NULL)
        rule_fault (load, "Approvers", "Approvers=: action %s has no fact %s", action->id, quoted);
      else if (strcmp (type_name (fact->type), "account") != 0)
        rule_fault (load, "Approvers", "Approvers=: fact %s of %s is not of type account", quoted,
                    action->id);
    }
}

/* Whether someone of that name exists is asked when the person answers; whom no name could ever
 * let approve is refused here. */
static void
check_approver (const RuleLoad *load, const char *word)
{
  g_autofree char *quoted = quote_text (word);
  uid_t uid;

  if (g_str_has_prefix (word, "fact:") && name_is_member (word + strlen ("fact:")))
    check_fact_approver (load, word + strlen ("fact:"));
  else if (word[0] == '@' ? !name_is_user (word + 1) : !name_is_user (word))
    rule_fault (load, "Approvers", "Approvers=: %s is no user, @group or fact:NAME", quoted);
  else if (word[0] != '@' &&
           (strcmp (word, "root") == 0 || name_is_service_user (word) ||
            (loader_find_user (load->loader, word, &uid) &&
             (uid == 0 || policy_agent_by_uid (load->loader->policy, uid) != NULL))))
    rule_fault (load, "Approvers", "Approvers=: %s is root, an agent or a user of this service",
                quoted);
}

static void
load_approvers (const RuleLoad *load)
{
  const KeyEntry *count = key_section_entry (load->section, "Count");
  Rule *rule = load->rule;
  gboolean open = FALSE;

  if (key_section_entry (load->section, "Approvers") == NULL)
    {
      rule_fault (load, "Approvers", "an ask rule needs Approvers=");
      return;
    }
  rule->approvers = rule_words (load, "Approvers");
  if (rule->approvers == NULL)
    return;
  for (guint i = 0; rule->approvers[i] != NULL; i++)
    {
      check_approver (load, rule->approvers[i]);
      open = open || rule->approvers[i][0] == '@';
    }
  rule->count = count != NULL ? load_number (load->loader, load->file, count, POLICY_MAX_COUNT) : 1;
  if (!open && rule->count > g_strv_length (rule->approvers))
    rule_fault (load, "Count", "Count= is more than there are Approvers=");
}

/* --- Separation=, Passkeys=, Lifetime= --- */

static void
load_separation (const RuleLoad *load)
{
  static const struct
  {
    const char *word;
    Separation bit;
  } rows[] = { { "agent", SEPARATION_AGENT },
               { "owner", SEPARATION_OWNER },
               { "initiator", SEPARATION_INITIATOR } };
  g_auto (GStrv) words = rule_words (load, "Separation");

  load->rule->separation = SEPARATION_AGENT;
  if (key_section_entry (load->section, "Separation") == NULL)
    load->rule->separation |= SEPARATION_OWNER;
  for (guint i = 0; words != NULL && words[i] != NULL; i++)
    {
      guint j = 0;

      while (j < G_N_ELEMENTS (rows) && strcmp (rows[j].word, words[i]) != 0)
        j++;
      if (j == G_N_ELEMENTS (rows))
        rule_fault (load, "Separation", "Separation= is of the words agent, owner and initiator");
      else
        load->rule->separation |= rows[j].bit;
    }
}

static void
load_passkeys (const RuleLoad *load)
{
  g_auto (GStrv) words = rule_words (load, "Passkeys");

  load->rule->passkeys = PASSKEY_KINDS_DEFAULT;
  if (key_section_entry (load->section, "Passkeys") != NULL)
    load->rule->passkeys = 0;
  else
    for (guint i = 0; i < load->actions->len; i++)
      {
        const PolicyAction *action = g_ptr_array_index (load->actions, i);

        if (action->effect == EFFECT_IRREVERSIBLE)
          {
            rule_fault (load, "Passkeys",
                        "%s is irreversible: the rule needs Passkeys=", action->id);
            break;
          }
      }
  for (guint i = 0; words != NULL && words[i] != NULL; i++)
    {
      PasskeyKinds kind;

      if (passkey_kind_parse (words[i], &kind))
        load->rule->passkeys |= kind;
      else
        rule_fault (load, "Passkeys",
                    "Passkeys= is of the words hardware, unattested, synced, phone "
                    "and software");
    }
}

static void
load_lifetime (const RuleLoad *load)
{
  const char *text = key_section_value (load->section, "Lifetime");

  load->rule->lifetime = POLICY_LIFETIME_DEFAULT;
  if (text != NULL &&
      (!duration_parse (text, &load->rule->lifetime) || load->rule->lifetime > POLICY_LIFETIME_MAX))
    rule_fault (load, "Lifetime", "Lifetime= is a duration such as 90s, 30min or 2h, at most 24h");
}

void
load_requirement (const RuleLoad *load)
{
  load_approvers (load);
  load_separation (load);
  load_passkeys (load);
  load_lifetime (load);
}
