/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agents/NAME.agent: which user an agent is, whom it acts for, who may open its runs and how much
 * of the machine its commands may use.  An agent that shares its uid with a person, a service or
 * another agent has no boundary, so it is refused.
 */
#include "service/policy/load.h"

#include "service/base/clock.h"
#include "service/policy/name.h"

#include <string.h>

#define MEMORY_MIN (16 * 1024 * 1024)
#define MEMORY_NUMBER_MAX (1024 * 1024) /* of T, which is far below 64 bits */
#define TASKS_MAX (4 * 1024 * 1024)     /* of the kernel, in all */
#define CPU_WEIGHT_MAX 10000            /* of cgroups(7) */
#define RUNTIME_MAX (365 * 24 * 60 * 60)

static const KeySpec agent_keys[] = {
  { "Summary", KEY_REQUIRED }, { "User", KEY_REQUIRED },    { "Owner", KEY_REQUIRED },
  { "Parts", KEY_PLAIN },      { "Initiators", KEY_PLAIN }, { NULL, KEY_PLAIN },
};

static const KeySpec launch_keys[] = {
  { "MemoryMax", KEY_PLAIN },  { "TasksMax", KEY_PLAIN }, { "CPUWeight", KEY_PLAIN },
  { "RuntimeMax", KEY_PLAIN }, { NULL, KEY_PLAIN },
};

const SectionSpec agent_schema[] = {
  { "Agent", NULL, SECTION_REQUIRED, agent_keys },
  { "Launch", NULL, SECTION_PLAIN, launch_keys },
  { NULL, NULL, SECTION_PLAIN, NULL },
};

void
agent_entry_free (AgentEntry *entry)
{
  if (entry == NULL)
    return;
  g_free (entry->agent.name);
  g_free (entry->agent.summary);
  g_free (entry->agent.user);
  g_free (entry->agent.owner);
  g_strfreev (entry->agent.parts);
  g_strfreev (entry->agent.initiators);
  g_free (entry->agent.initiator_uids);
  g_free (entry);
}

static void
load_agent_user (Loader *loader, const KeyFile *file, const KeySection *section, AgentEntry *entry)
{
  const char *user = key_section_value (section, "User");
  guint line = key_section_line (section, "User");
  const AgentEntry *other;

  entry->agent.user = g_strdup (user);
  if (!load_user (loader, file, line, "User", user, &entry->agent.uid))
    return;
  if (entry->agent.uid == 0 || uid_is_nobody (entry->agent.uid) || name_is_service_user (user))
    faults_add (loader->faults, file->path, line,
                "User=: an agent cannot be root, nobody or a user of this service");
  other = g_hash_table_lookup (loader->policy->uids, GUINT_TO_POINTER (entry->agent.uid));
  if (other != NULL)
    faults_add (loader->faults, file->path, line, "User=: uid %u is that of agent %s already (%s)",
                (guint) entry->agent.uid, other->agent.name, other->file->path);
}

static void
load_owner (Loader *loader, const KeyFile *file, const KeySection *section, AgentEntry *entry)
{
  guint line = key_section_line (section, "Owner");

  entry->owner_line = line;
  entry->agent.owner = g_strdup (key_section_value (section, "Owner"));
  if (!load_user (loader, file, line, "Owner", entry->agent.owner, &entry->agent.owner_uid))
    return;
  if (entry->agent.owner_uid == 0 || uid_is_nobody (entry->agent.owner_uid) ||
      name_is_service_user (entry->agent.owner))
    faults_add (loader->faults, file->path, line,
                "Owner=: the owner is a person, not root, nobody or a user of this service");
  if (entry->agent.owner_uid == entry->agent.uid)
    faults_add (loader->faults, file->path, line,
                "Owner=: the agent has its owner's own uid, so nothing keeps the two apart");
}

static void
load_parts (Loader *loader, const KeyFile *file, const KeySection *section, AgentEntry *entry)
{
  const KeyEntry *parts = key_section_entry (section, "Parts");
  const char *const only_main[] = { "main", NULL };

  if (parts == NULL)
    {
      entry->agent.parts = g_strdupv ((char **) only_main);
      return;
    }
  entry->agent.parts = key_entry_words (file, parts, POLICY_MAX_WORDS, loader->faults);
  for (guint i = 0; entry->agent.parts != NULL && entry->agent.parts[i] != NULL; i++)
    if (!name_is_plain (entry->agent.parts[i]))
      {
        g_autofree char *quoted = quote_text (entry->agent.parts[i]);

        faults_add (loader->faults, file->path, parts->line, "%s is not the name of a part",
                    quoted);
      }
}

static void
load_initiators (Loader *loader, const KeyFile *file, const KeySection *section, AgentEntry *entry)
{
  const KeyEntry *initiators = key_section_entry (section, "Initiators");

  if (initiators == NULL)
    {
      entry->agent.initiators = g_new0 (char *, 1);
      return;
    }
  entry->initiators_line = initiators->line;
  entry->agent.initiators = key_entry_words (file, initiators, POLICY_MAX_WORDS, loader->faults);
  if (entry->agent.initiators == NULL)
    return;
  entry->agent.initiator_uids = g_new0 (uid_t, g_strv_length (entry->agent.initiators) + 1);
  for (guint i = 0; entry->agent.initiators[i] != NULL; i++)
    {
      const char *name = entry->agent.initiators[i];
      uid_t *uid = &entry->agent.initiator_uids[i];

      if (load_user (loader, file, initiators->line, "Initiators", name, uid) &&
          (*uid == entry->agent.uid || uid_is_nobody (*uid) || name_is_service_user (name)))
        faults_add (loader->faults, file->path, initiators->line,
                    "Initiators=: an initiator is not the agent, nobody or a user of this service");
    }
}

/* --- [Launch] --- */

/* "512M", "4G": one positive number, one unit. */
static gboolean
memory_parse (const char *text, guint64 *out_bytes)
{
  static const char units[] = "KMGT";
  const gsize digits = strspn (text, "0123456789");
  g_autofree char *number = g_strndup (text, digits);
  const char *unit = text[digits] != '\0' ? strchr (units, text[digits]) : NULL;
  guint64 count = 0;

  if (unit == NULL || text[digits + 1] != '\0' || text[0] == '0' ||
      !g_ascii_string_to_unsigned (number, 10, 1, MEMORY_NUMBER_MAX, &count, NULL))
    return FALSE;
  *out_bytes = count << (10 * (guint) (unit - units + 1));
  return TRUE;
}

static void
load_launch (Loader *loader, const KeyFile *file, PolicyLaunch *out)
{
  const KeySection *section = key_file_section (file, "Launch");
  const KeyEntry *entry;

  *out =
      (PolicyLaunch){ .tasks_max = POLICY_TASKS_DEFAULT, .cpu_weight = POLICY_CPU_WEIGHT_DEFAULT };
  if (section == NULL)
    return;
  entry = key_section_entry (section, "MemoryMax");
  if (entry != NULL &&
      (!memory_parse (entry->value, &out->memory_max) || out->memory_max < MEMORY_MIN))
    faults_add (loader->faults, file->path, entry->line,
                "MemoryMax= is a number and one of K, M, G and T, at least 16M");
  entry = key_section_entry (section, "TasksMax");
  if (entry != NULL)
    out->tasks_max = load_number (loader, file, entry, TASKS_MAX);
  entry = key_section_entry (section, "CPUWeight");
  if (entry != NULL)
    out->cpu_weight = load_number (loader, file, entry, CPU_WEIGHT_MAX);
  entry = key_section_entry (section, "RuntimeMax");
  if (entry != NULL &&
      (!duration_parse (entry->value, &out->runtime_max) || out->runtime_max > RUNTIME_MAX))
    faults_add (loader->faults, file->path, entry->line,
                "RuntimeMax= is a time such as 30min or 8h, at most 365d");
}

void
load_agent (Loader *loader, const ImageFile *image_file)
{
  guint before = faults_count (loader->faults);
  g_autoptr (KeyFile) file =
      key_file_parse_rest (image_file->path, image_file->content, agent_schema, loader->faults);
  g_autoptr (AgentEntry) entry = NULL;
  const KeySection *section;

  if (file == NULL)
    return;
  section = key_file_section (file, "Agent");
  if (section == NULL)
    return;
  entry = g_new0 (AgentEntry, 1);
  entry->file = image_file;
  entry->agent.name = g_strdup (image_file->name);
  entry->agent.uid = (uid_t) -1;
  entry->agent.owner_uid = (uid_t) -2;
  entry->agent.summary = load_text (loader, file, section, "Summary", POLICY_MAX_SUMMARY);
  load_agent_user (loader, file, section, entry);
  load_owner (loader, file, section, entry);
  load_parts (loader, file, section, entry);
  load_initiators (loader, file, section, entry);
  load_launch (loader, file, &entry->agent.launch);
  if (faults_count (loader->faults) != before)
    return;
  g_hash_table_insert (loader->policy->uids, GUINT_TO_POINTER (entry->agent.uid), entry);
  g_hash_table_insert (loader->policy->users, entry->agent.user, entry);
  g_hash_table_insert (loader->policy->agents, entry->agent.name, entry);
  g_steal_pointer (&entry);
}

/* An agent that stood in for a person would make "another person" mean nothing. */
static void
check_person (
    Loader *loader, const AgentEntry *entry, guint line, const char *key, const char *name)
{
  const PolicyAgent *agent;
  uid_t uid;

  if (!loader_find_user (loader, name, &uid))
    return;
  agent = policy_agent_by_uid (loader->policy, uid);
  if (agent != NULL)
    faults_add (loader->faults, entry->file->path, line,
                "%s=: %s is the user of agent %s, not a person", key, name, agent->name);
}

void
load_check_people (Loader *loader)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, loader->policy->agents);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      const AgentEntry *entry = value;

      check_person (loader, entry, entry->owner_line, "Owner", entry->agent.owner);
      for (guint i = 0; entry->agent.initiators[i] != NULL; i++)
        check_person (loader, entry, entry->initiators_line, "Initiators",
                      entry->agent.initiators[i]);
    }
}
