/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports on a policy set in words.  It reads what the loaders made and decides nothing itself, so
 * that what it says cannot differ from what would happen.
 */
#include "service/policy/check.h"

#include "service/policy/load.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>

#define READER "undersign-executor"

gid_t
policy_reader_group (void)
{
  const struct passwd *reader = getpwnam (READER);

  return reader != NULL ? reader->pw_gid : (gid_t) -1;
}

static const char *const effects[] = {
  [EFFECT_IRREVERSIBLE] = "irreversible",
  [EFFECT_REVERSIBLE] = "reversible",
  [EFFECT_READ] = "read",
};

/* "30min": in the largest unit that keeps the number whole. */
static char *
duration_text (guint64 seconds)
{
  static const struct
  {
    guint64 seconds;
    const char *unit;
  } units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
  guint i = 0;

  while (seconds % units[i].seconds != 0)
    i++;
  return g_strdup_printf ("%" G_GUINT64_FORMAT "%s", seconds / units[i].seconds, units[i].unit);
}

/* --- one rule --- */

static void
describe_requirement (const Rule *rule, FILE *out)
{
  g_autofree char *approvers = g_strjoinv (" ", rule->approvers);
  g_autofree char *lifetime = duration_text (rule->lifetime);

  if (rule->count > 1)
    fprintf (out, "        from any %u of: %s\n", rule->count, approvers);
  else
    fprintf (out, "        from any of: %s\n", approvers);
  fprintf (out, "        never from: the agent%s%s\n",
           rule->separation & SEPARATION_OWNER ? ", its owner" : "",
           rule->separation & SEPARATION_INITIATOR ? ", who opened the run" : "");
  fprintf (out, "        with a passkey:");
  for (guint bit = PASSKEY_HARDWARE; bit <= PASSKEY_SOFTWARE; bit <<= 1)
    if (rule->passkeys & bit)
      fprintf (out, " %s", passkey_kind_name ((PasskeyKinds) bit));
  fprintf (out, "\n        within: %s\n", lifetime);
}

static void
describe_rule (const Rule *rule, FILE *out)
{
  static const char *const decisions[] = {
    [DECISION_DENY] = "denied",
    [DECISION_ASK] = "asked",
    [DECISION_ALLOW] = "ALLOWED without asking",
  };
  g_autofree char *parts = rule->parts != NULL ? g_strjoinv (" ", rule->parts) : NULL;

  fprintf (out, "      %s (%s)\n", decisions[rule->decision], rule->id);
  if (parts != NULL)
    fprintf (out, "        only part: %s\n", parts);
  for (guint i = 0; i < rule->when->len; i++)
    fprintf (out, "        only when: %s\n",
             ((const When *) g_ptr_array_index (rule->when, i))->text);
  if (rule->decision == DECISION_ASK)
    describe_requirement (rule, out);
  for (guint i = 0; i < rule->limits->len; i++)
    {
      const PolicyLimit *limit = g_ptr_array_index (rule->limits, i);
      g_autofree char *period = duration_text (limit->period);

      fprintf (out, "        at most: %" G_GUINT64_FORMAT " in %s%s%s%s\n", limit->count, period,
               limit->per != NULL ? " for each value of " : "",
               limit->per != NULL ? limit->per : "",
               limit->all_agents ? ", all agents together" : "");
    }
}

/* --- agents --- */

static int
compare_strings (gconstpointer a, gconstpointer b)
{
  return strcmp (a, b);
}

static GList *
sorted_keys (GHashTable *table)
{
  return g_list_sort (g_hash_table_get_keys (table), compare_strings);
}

static void
describe_agent (const Policy *policy, const PolicyAgent *agent, FILE *out)
{
  g_autoptr (GList) ids = sorted_keys (policy->actions);
  g_autofree char *parts = g_strjoinv (" ", agent->parts);
  g_autofree char *user = NULL;
  guint named = 0;

  policy->names.user_by_uid (agent->uid, &user);
  fprintf (out, "\nagent %s: user %s, acts for %s, parts %s\n", agent->name,
           user != NULL ? user : "unknown", agent->owner, parts);
  for (const GList *id = ids; id != NULL; id = id->next)
    {
      g_autoptr (GPtrArray) rules = rules_of (policy, agent->name, id->data);

      if (rules->len == 0)
        continue;
      named++;
      fprintf (out, "    %s (%s)\n", (const char *) id->data,
               effects[policy_action (policy, id->data)->effect]);
      for (guint i = 0; i < rules->len; i++)
        describe_rule (g_ptr_array_index (rules, i), out);
    }
  if (named < g_list_length (ids))
    fprintf (out, "    everything else: denied\n");
}

/* --- notes --- */

/* A group has those it lists, and those whose first group it is. */
static gboolean
group_has_members (const struct group *group)
{
  const struct passwd *user = NULL;
  const gid_t gid = group->gr_gid;

  if (group->gr_mem[0] != NULL)
    return TRUE;
  setpwent ();
  do
    user = getpwent ();
  while (user != NULL && user->pw_gid != gid);
  endpwent ();
  return user != NULL;
}

/* Only where groups are the system's: those of a tree for another host are not known here. */
static void
note_group (const Policy *policy, const Rule *rule, const char *name, FILE *out)
{
  const struct group *group = NULL;

  if (policy->names.user_in_group != policy_names_system.user_in_group)
    return;
  group = getgrnam (name);
  if (group == NULL)
    fprintf (out, "note: %s: there is no group %s\n", rule->id, name);
  else if (!group_has_members (group))
    fprintf (out, "note: %s: group %s has no members\n", rule->id, name);
}

static void
note_approvers (const Policy *policy, const Rule *rule, FILE *out)
{
  for (guint i = 0; rule->approvers != NULL && rule->approvers[i] != NULL; i++)
    {
      const char *word = rule->approvers[i];
      uid_t uid;

      if (word[0] == '@')
        note_group (policy, rule, word + 1, out);
      else if (strchr (word, ':') == NULL && !policy->names.user_by_name (word, &uid))
        fprintf (out, "note: %s: there is no user %s\n", rule->id, word);
    }
}

/* Fewer people could answer than the rule asks for, because the rule keeps the owner out. */
static void
note_nobody (const Rule *rule, const PolicyAgent *agent, FILE *out)
{
  guint people = 0;

  if (rule->decision != DECISION_ASK || !rule_is_about (rule, agent->name))
    return;
  for (guint i = 0; rule->approvers[i] != NULL; i++)
    {
      if (rule->approvers[i][0] == '@' || strchr (rule->approvers[i], ':') != NULL)
        return;
      if (!(rule->separation & SEPARATION_OWNER) || strcmp (rule->approvers[i], agent->owner) != 0)
        people++;
    }
  if (people < rule->count)
    fprintf (out,
             "note: %s: nobody could approve for agent %s: its owner is kept out (Separation=)\n",
             rule->id, agent->name);
}

static gboolean
is_used (const Policy *policy, const GPtrArray *agents, const char *action)
{
  for (guint i = 0; i < agents->len; i++)
    {
      const PolicyAgent *agent = g_ptr_array_index (agents, i);
      g_autoptr (GPtrArray) rules = rules_of (policy, agent->name, action);

      if (rules->len > 0)
        return TRUE;
    }
  return FALSE;
}

static void
note_unused (const Policy *policy, const GPtrArray *agents, FILE *out)
{
  g_autoptr (GList) ids = sorted_keys (policy->actions);

  for (const GList *id = ids; id != NULL; id = id->next)
    if (!is_used (policy, agents, id->data))
      fprintf (out, "note: %s: no rule is about it, so it is always denied\n",
               (const char *) id->data);
}

static void
note_masks (const Policy *policy, FILE *out)
{
  for (guint folder = 0; folder < FOLDER_N; folder++)
    for (guint i = 0; i < policy->image->files[folder]->len; i++)
      {
        const ImageFile *file = g_ptr_array_index (policy->image->files[folder], i);

        if (image_file_is_mask (file))
          fprintf (out, "note: %s/%s%s is masked by %s\n", folder_name ((Folder) folder),
                   file->name, folder_suffix ((Folder) folder), file->path);
      }
}

void
policy_notes (const Policy *policy, FILE *out)
{
  g_autoptr (GPtrArray) agents = policy_agents (policy);

  for (guint i = 0; i < policy->rules->len; i++)
    {
      const Rule *rule = g_ptr_array_index (policy->rules, i);

      note_approvers (policy, rule, out);
      for (guint j = 0; j < agents->len; j++)
        note_nobody (rule, g_ptr_array_index (agents, j), out);
    }
  note_unused (policy, agents, out);
  note_masks (policy, out);
}

/* --- the whole --- */

void
policy_describe (const Policy *policy, FILE *out)
{
  g_autoptr (GPtrArray) agents = policy_agents (policy);
  const guint n_actions = g_hash_table_size (policy->actions);

  fprintf (out, "policy is valid: %u %s, %u %s, %u %s\n", n_actions,
           n_actions == 1 ? "action" : "actions", agents->len, agents->len == 1 ? "agent" : "agents",
           policy->rules->len, policy->rules->len == 1 ? "rule" : "rules");
  for (guint i = 0; i < agents->len; i++)
    describe_agent (policy, g_ptr_array_index (agents, i), out);
  fputc ('\n', out);
  policy_notes (policy, out);
}

Policy *
policy_check_load (const PolicySource *source, const PolicyNames *names, GError **error)
{
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (GHashTable) unread = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GBytes) image = snapshot_take (source, faults, unread);
  g_autoptr (Policy) policy = image != NULL ? load_image (image, names, faults, unread) : NULL;

  return faults_report (faults, error) ? g_steal_pointer (&policy) : NULL;
}

gboolean
policy_check (const PolicySource *source, const PolicyNames *names, FILE *out)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Policy) policy = policy_check_load (source, names, &error);

  if (policy == NULL)
    {
      fprintf (out, "%s\n", error_text (error));
      return FALSE;
    }
  policy_describe (policy, out);
  return TRUE;
}
