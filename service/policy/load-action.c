/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * actions/ID.action: what an agent may ask for, with which arguments, what its effect is, and what
 * carries it out.  Whatever is left open here would be open on the card, so nothing is: each
 * argument, fact and setting ends up typed, labelled and, but for a required one, with a value.
 */
#include "service/policy/load.h"

#include "service/policy/constraint.h"
#include "service/policy/name.h"

#include <string.h>

static const KeySpec action_keys[] = {
  { "Summary", KEY_REQUIRED },
  { "Effect", KEY_PLAIN },
  { NULL, KEY_PLAIN },
};

static const KeySpec executor_keys[] = {
  { "Module", KEY_REQUIRED },
  { "Credential", KEY_PLAIN },
  { "DescribeCredential", KEY_PLAIN },
  { NULL, KEY_PLAIN },
};

static const KeySpec argument_keys[] = {
  { "Label", KEY_REQUIRED },       { "Type", KEY_REQUIRED },      { "Required", KEY_PLAIN },
  { "Default", KEY_MAY_BE_EMPTY }, { "Value", KEY_MAY_BE_EMPTY }, { "Pattern", KEY_PLAIN },
  { "Minimum", KEY_PLAIN },        { "Maximum", KEY_PLAIN },      { "MaxItems", KEY_PLAIN },
  { "Choices", KEY_PLAIN },        { NULL, KEY_PLAIN },
};

static const KeySpec fact_keys[] = {
  { "Label", KEY_REQUIRED },
  { "Type", KEY_REQUIRED },
  { "Recheck", KEY_PLAIN },
  { NULL, KEY_PLAIN },
};

const SectionSpec action_schema[] = {
  { "Action", NULL, SECTION_REQUIRED, action_keys },
  { "Executor", NULL, SECTION_REQUIRED | SECTION_OPEN, executor_keys },
  { "Argument", name_is_member, SECTION_PLAIN, argument_keys },
  { "Fact", name_is_member, SECTION_PLAIN, fact_keys },
  { NULL, NULL, SECTION_PLAIN, NULL },
};

static void
argument_free (gpointer data)
{
  PolicyArgument *argument = data;

  g_free (argument->name);
  g_free (argument->label);
  json_tree_free (argument->fallback);
  json_tree_free (argument->constant);
  g_free (argument->pattern);
  pattern_free (argument->compiled);
  g_free (argument->minimum);
  g_free (argument->maximum);
  g_strfreev (argument->choices);
  g_free (argument);
}

static void
fact_free (gpointer data)
{
  PolicyFact *fact = data;

  g_free (fact->name);
  g_free (fact->label);
  g_free (fact);
}

static void
setting_free (gpointer data)
{
  PolicySetting *setting = data;

  g_free (setting->name);
  g_free (setting->label);
  json_tree_free (setting->value);
  g_free (setting);
}

void
action_entry_free (ActionEntry *entry)
{
  if (entry == NULL)
    return;
  g_free (entry->action.id);
  g_free (entry->action.summary);
  g_free (entry->action.module);
  g_free (entry->action.credential);
  g_free (entry->action.read_credential);
  g_ptr_array_unref (entry->action.arguments);
  g_ptr_array_unref (entry->action.one_of);
  g_ptr_array_unref (entry->action.facts);
  g_ptr_array_unref (entry->action.settings);
  g_free (entry);
}

static ActionEntry *
action_entry_new (const ImageFile *file)
{
  ActionEntry *entry = g_new0 (ActionEntry, 1);

  entry->file = file;
  entry->action.id = g_strdup (file->name);
  entry->action.arguments = g_ptr_array_new_with_free_func (argument_free);
  entry->action.one_of = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  entry->action.facts = g_ptr_array_new_with_free_func (fact_free);
  entry->action.settings = g_ptr_array_new_with_free_func (setting_free);
  return entry;
}

/* --- [Argument] --- */

static gboolean
is_choice (const Type *type)
{
  return strcmp (type_name (type), "choice") == 0;
}

static gboolean
key_applies (const char *key, const Type *type)
{
  gboolean ordered = type_is_ordered (type);
  const struct
  {
    const char *key;
    gboolean applies;
  } rows[] = {
    { "Pattern", !ordered && !is_choice (type) && !type_is_file (type) &&
                     type_wire (type) != TYPE_WIRE_BOOLEAN },
    { "Minimum", ordered },
    { "Maximum", ordered },
    { "MaxItems", type_is_list (type) },
    { "Choices", is_choice (type) },
    { "Default", !type_is_file (type) },
    { "Value", !type_is_file (type) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strcmp (rows[i].key, key) == 0)
      return rows[i].applies;
  return TRUE;
}

/* A constraint on a type that has no use for it would be a constraint that does nothing. */
static void
check_applies (Loader *loader, const KeyFile *file, const KeySection *section, const Type *type)
{
  for (guint i = 0; i < section->entries->len; i++)
    {
      const KeyEntry *entry = g_ptr_array_index (section->entries, i);

      if (!key_applies (entry->key, type))
        faults_add (loader->faults, file->path, entry->line, "%s= does not apply to type %s",
                    entry->key, type_name (type));
    }
  if (is_choice (type) && key_section_entry (section, "Choices") == NULL)
    faults_add (loader->faults, file->path, section->line, "type choice needs Choices=");
}

/* entry_of: the key, where it is there and means something. */
static const KeyEntry *
entry_of (const KeySection *section, const char *key, const PolicyArgument *argument)
{
  return key_applies (key, argument->type) ? key_section_entry (section, key) : NULL;
}

/* A bound: a value of the argument's own type. */
static char *
load_bound (Loader *loader,
            const KeyFile *file,
            const KeySection *section,
            const char *key,
            const PolicyArgument *argument)
{
  g_autoptr (JsonTree) value = NULL;

  if (entry_of (section, key, argument) != NULL)
    value = load_value (loader, file, section, key, argument->type, argument->name);
  return value != NULL ? g_strdup (json_tree_string (value)) : NULL;
}

static void
load_choices (Loader *loader,
              const KeyFile *file,
              const KeySection *section,
              PolicyArgument *argument)
{
  const KeyEntry *entry = key_section_entry (section, "Choices");

  argument->choices = key_entry_words (file, entry, POLICY_MAX_WORDS, loader->faults);
  for (guint i = 0; argument->choices != NULL && argument->choices[i] != NULL; i++)
    {
      g_autoptr (JsonTree) value = json_tree_new_string (argument->choices[i]);
      g_autoptr (GError) error = NULL;

      if (!type_check (argument->type, argument->name, value, &error))
        load_fault (loader, file, entry->line, error);
    }
}

static void
load_constraints (Loader *loader,
                  const KeyFile *file,
                  const KeySection *section,
                  PolicyArgument *argument)
{
  const KeyEntry *items = entry_of (section, "MaxItems", argument);
  const KeyEntry *pattern = entry_of (section, "Pattern", argument);
  g_autoptr (GError) error = NULL;
  int order;

  argument->pattern = g_strdup (pattern != NULL ? pattern->value : NULL);
  if (argument->pattern != NULL)
    argument->compiled = pattern_new (argument->pattern, &error);
  if (argument->pattern != NULL && argument->compiled == NULL)
    load_fault (loader, file, key_section_line (section, "Pattern"), error);
  if (items != NULL)
    argument->max_items = load_number (
        loader, file, items, type_is_file (argument->type) ? RECORD_MAX_FILES : RECORD_MAX_ITEMS);
  if (entry_of (section, "Choices", argument) != NULL)
    load_choices (loader, file, section, argument);
  argument->minimum = load_bound (loader, file, section, "Minimum", argument);
  argument->maximum = load_bound (loader, file, section, "Maximum", argument);
  if (argument->minimum != NULL && argument->maximum != NULL &&
      (!type_compare (argument->type, argument->minimum, argument->maximum, &order) || order > 0))
    faults_add (loader->faults, file->path, key_section_line (section, "Minimum"),
                "Minimum= is more than Maximum=, or not comparable with it");
}

/* Required=, Default= and Value= are three answers to one question. */
static void
check_exclusive (Loader *loader,
                 const KeyFile *file,
                 const KeySection *section,
                 const PolicyArgument *argument)
{
  gboolean preset = key_section_entry (section, "Default") != NULL;

  if (preset && argument->required)
    faults_add (loader->faults, file->path, key_section_line (section, "Default"),
                "Default= and Required=yes exclude each other");
  if (key_section_entry (section, "Value") != NULL && (preset || argument->required))
    faults_add (loader->faults, file->path, key_section_line (section, "Value"),
                "Value= is a constant: it excludes Default= and Required=yes");
  if (argument->type != NULL && type_wire (argument->type) == TYPE_WIRE_FILE && !argument->required)
    faults_add (loader->faults, file->path, section->line,
                "an argument of type file needs Required=yes: use file-list for one left out");
}

static JsonTree *
load_preset (Loader *loader,
             const KeyFile *file,
             const KeySection *section,
             const char *key,
             const PolicyArgument *argument,
             gboolean constrained)
{
  g_autoptr (JsonTree) value = NULL;
  g_autoptr (GError) error = NULL;

  if (entry_of (section, key, argument) != NULL)
    value = load_value (loader, file, section, key, argument->type, argument->name);
  if (value != NULL && constrained && !constraint_check (argument, value, &error))
    load_fault (loader, file, key_section_line (section, key), error);
  return g_steal_pointer (&value);
}

static void
load_argument (Loader *loader, const KeyFile *file, const KeySection *section, PolicyAction *action)
{
  guint before = faults_count (loader->faults);
  gboolean constrained = FALSE;
  PolicyArgument *argument = g_new0 (PolicyArgument, 1);

  g_ptr_array_add (action->arguments, argument);
  argument->name = g_strdup (section->name);
  argument->label = load_text (loader, file, section, "Label", POLICY_MAX_LABEL);
  argument->type = load_type (loader, file, section);
  argument->required = key_section_yes_no (file, section, "Required", FALSE, loader->faults);
  check_exclusive (loader, file, section, argument);
  if (argument->type == NULL)
    return;
  check_applies (loader, file, section, argument->type);
  load_constraints (loader, file, section, argument);
  /* constraints with a fault say nothing of a value */
  constrained = faults_count (loader->faults) == before;
  argument->constant = load_preset (loader, file, section, "Value", argument, constrained);
  argument->fallback = load_preset (loader, file, section, "Default", argument, constrained);
  if (argument->fallback == NULL && argument->constant == NULL)
    argument->fallback = type_empty (argument->type);
}

/* --- [Fact] --- */

static void
load_fact (Loader *loader, const KeyFile *file, const KeySection *section, PolicyAction *action)
{
  PolicyFact *fact = g_new0 (PolicyFact, 1);

  g_ptr_array_add (action->facts, fact);
  fact->name = g_strdup (section->name);
  fact->label = load_text (loader, file, section, "Label", POLICY_MAX_LABEL);
  fact->type = load_type (loader, file, section);
  fact->recheck = key_section_yes_no (file, section, "Recheck", FALSE, loader->faults);
  if (fact->type != NULL && type_wire (fact->type) != TYPE_WIRE_STRING)
    faults_add (loader->faults, file->path, key_section_line (section, "Type"),
                "a fact cannot be of type %s: it is one text", type_name (fact->type));
  if (action_argument (action, fact->name) != NULL)
    faults_add (loader->faults, file->path, section->line, "%s is an argument too", fact->name);
}

/* --- [Executor] --- */

static JsonTree *
load_setting_value (Loader *loader,
                    const KeyFile *file,
                    const KeySection *section,
                    const ManifestSetting *setting)
{
  g_autoptr (JsonTree) value = NULL;

  if (key_section_entry (section, setting->key) == NULL)
    {
      if (setting->fallback != NULL)
        return json_tree_copy (setting->fallback);
      faults_add (loader->faults, file->path, section->line, "the module needs %s=", setting->key);
      return NULL;
    }
  value = load_value (loader, file, section, setting->key, setting->type, setting->name);
  if (value != NULL && setting->required && type_is_empty (setting->type, value))
    faults_add (loader->faults, file->path, key_section_line (section, setting->key),
                "the module needs %s=, which is empty", setting->key);
  return g_steal_pointer (&value);
}

static void
load_settings (Loader *loader,
               const KeyFile *file,
               const KeySection *section,
               const Manifest *manifest,
               PolicyAction *action)
{
  for (guint i = 0; i < manifest->settings->len; i++)
    {
      const ManifestSetting *known = g_ptr_array_index (manifest->settings, i);
      PolicySetting *setting = g_new0 (PolicySetting, 1);

      g_ptr_array_add (action->settings, setting);
      setting->name = g_strdup (known->name);
      setting->label = g_strdup (known->label);
      setting->type = known->type;
      setting->value = load_setting_value (loader, file, section, known);
    }
}

static gboolean
is_setting (const Manifest *manifest, const char *key)
{
  for (guint i = 0; i < manifest->settings->len; i++)
    {
      const ManifestSetting *known = g_ptr_array_index (manifest->settings, i);

      if (strcmp (known->key, key) == 0)
        return TRUE;
    }
  return FALSE;
}

static void
check_executor_keys (Loader *loader,
                     const KeyFile *file,
                     const KeySection *section,
                     const Manifest *manifest)
{
  for (guint i = 0; i < section->entries->len; i++)
    {
      const KeyEntry *entry = g_ptr_array_index (section->entries, i);
      const KeySpec *own = executor_keys;

      while (own->name != NULL && strcmp (own->name, entry->key) != 0)
        own++;
      if (own->name == NULL && !is_setting (manifest, entry->key))
        faults_add (loader->faults, file->path, entry->line, "%s= is not a setting of module %s",
                    entry->key, manifest->name);
    }
}

/* --- the arguments, against the module --- */

static const ManifestArgument *
manifest_argument (const Manifest *manifest, const char *name)
{
  for (guint i = 0; i < manifest->arguments->len; i++)
    {
      const ManifestArgument *known = g_ptr_array_index (manifest->arguments, i);

      if (strcmp (known->name, name) == 0)
        return known;
    }
  return NULL;
}

static char *
argument_names (const Manifest *manifest)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < manifest->arguments->len; i++)
    {
      const ManifestArgument *known = g_ptr_array_index (manifest->arguments, i);

      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", known->name);
    }
  return g_string_free (names, FALSE);
}

static void
check_argument (Loader *loader,
                const KeyFile *file,
                const KeySection *section,
                const Manifest *manifest)
{
  const ManifestArgument *known = manifest_argument (manifest, section->name);
  const char *type = key_section_value (section, "Type");

  if (known == NULL)
    {
      g_autofree char *names = argument_names (manifest);

      faults_add (loader->faults, file->path, section->line,
                  "module %s takes no argument %s; it takes %s", manifest->name, section->name,
                  names);
    }
  else if (type_find (type) != NULL && !g_strv_contains ((const char *const *) known->types, type))
    {
      g_autofree char *types = g_strjoinv (" or ", known->types);

      faults_add (loader->faults, file->path, key_section_line (section, "Type"),
                  "module %s takes %s of type %s, not %s", manifest->name, section->name, types,
                  type);
    }
}

static gboolean
argument_may_be_filled (const PolicyAction *action, const char *name)
{
  const PolicyArgument *argument = action_argument (action, name);

  return argument != NULL && argument->type != NULL &&
         (argument->constant == NULL || !type_is_empty (argument->type, argument->constant));
}

/* check_one_of: the group of @first; those of its arguments that can be filled are the action's. */
static void
check_one_of (Loader *loader,
              const KeyFile *file,
              const Manifest *manifest,
              const ManifestArgument *first,
              PolicyAction *action)
{
  g_autoptr (GStrvBuilder) known = g_strv_builder_new ();
  g_autoptr (GStrvBuilder) fillable = g_strv_builder_new ();
  g_auto (GStrv) names = NULL;
  g_auto (GStrv) all = NULL;

  for (guint i = 0; i < manifest->arguments->len; i++)
    {
      const ManifestArgument *argument = g_ptr_array_index (manifest->arguments, i);

      if (g_strcmp0 (argument->one_of, first->one_of) != 0)
        continue;
      g_strv_builder_add (known, argument->name);
      if (argument_may_be_filled (action, argument->name))
        g_strv_builder_add (fillable, argument->name);
    }
  names = g_strv_builder_end (fillable);
  all = g_strv_builder_end (known);
  if (names[0] != NULL)
    g_ptr_array_add (action->one_of, g_steal_pointer (&names));
  else
    {
      g_autofree char *text = g_strjoinv (", ", all);

      faults_add (loader->faults, file->path, 0,
                  "module %s needs one of these arguments, not empty: %s", manifest->name, text);
    }
}

/* group_is_new: whether no argument before this one has its word. */
static gboolean
group_is_new (const Manifest *manifest, guint index)
{
  const ManifestArgument *argument = g_ptr_array_index (manifest->arguments, index);

  for (guint i = 0; i < index; i++)
    if (g_strcmp0 (((const ManifestArgument *) g_ptr_array_index (manifest->arguments, i))->one_of,
                   argument->one_of) == 0)
      return FALSE;
  return argument->one_of != NULL;
}

/* Whoever signs should not find out afterwards that the module takes something else. */
static void
check_arguments (Loader *loader, const KeyFile *file, const Manifest *manifest, PolicyAction *action)
{
  if (manifest->arguments->len == 0)
    return;
  for (guint i = 0; i < file->sections->len; i++)
    {
      const KeySection *section = g_ptr_array_index (file->sections, i);

      if (strcmp (section->spec->kind, "Argument") == 0)
        check_argument (loader, file, section, manifest);
    }
  /* A section with a fault may be the one that is needed. */
  for (guint i = 0; !file->is_faulty && i < manifest->arguments->len; i++)
    {
      const ManifestArgument *known = g_ptr_array_index (manifest->arguments, i);

      if (known->required && action_argument (action, known->name) == NULL)
        faults_add (loader->faults, file->path, 0, "module %s needs an argument %s",
                    manifest->name, known->name);
      if (group_is_new (manifest, i))
        check_one_of (loader, file, manifest, known, action);
    }
}

/* "" where the key is absent. */
static char *
load_credential (Loader *loader, const KeyFile *file, const KeySection *section, const char *key)
{
  const char *name = key_section_value (section, key);

  if (name != NULL && !name_is_credential (name))
    {
      g_autofree char *quoted = quote_text (name);

      faults_add (loader->faults, file->path, key_section_line (section, key),
                  "%s is not the name of a credential", quoted);
    }
  return g_strdup (name != NULL ? name : "");
}

static const Manifest *
find_module (Loader *loader, const KeyFile *file, const KeySection *section)
{
  const char *name = key_section_value (section, "Module");
  const Manifest *manifest = g_hash_table_lookup (loader->policy->modules, name);
  g_autofree char *quoted = quote_text (name);
  guint line = key_section_line (section, "Module");

  if (manifest == NULL)
    {
      if (!loader_is_broken (loader, FOLDER_MODULES, name))
        faults_add (loader->faults, file->path, line, "there is no module %s", quoted);
    }
  else if (manifest->object == NULL && !loader_is_unread (loader, OBJECTS, name))
    faults_add (loader->faults, file->path, line, "module %s has a manifest but is not installed",
                quoted);
  return manifest;
}

static void
load_executor (Loader *loader, const KeyFile *file, ActionEntry *entry)
{
  const KeySection *section = key_file_section (file, "Executor");
  PolicyAction *action = &entry->action;
  gboolean described = key_section_entry (section, "DescribeCredential") != NULL;

  action->module = g_strdup (key_section_value (section, "Module"));
  action->credential = load_credential (loader, file, section, "Credential");
  if (described)
    action->read_credential = load_credential (loader, file, section, "DescribeCredential");
  if (described && strcmp (action->credential, action->read_credential) == 0)
    faults_add (loader->faults, file->path, key_section_line (section, "DescribeCredential"),
                "DescribeCredential= must be another, read-only credential");

  entry->manifest = find_module (loader, file, section);
  if (entry->manifest == NULL)
    return;
  check_executor_keys (loader, file, section, entry->manifest);
  check_arguments (loader, file, entry->manifest, action);
  load_settings (loader, file, section, entry->manifest, action);
  if (!entry->manifest->describes && (described || action->facts->len > 0))
    faults_add (loader->faults, file->path, section->line,
                "module %s looks up no facts: no [Fact] and no DescribeCredential= here",
                entry->manifest->name);
}

/* --- the whole --- */

static void
load_effect (Loader *loader, const KeyFile *file, const KeySection *section, PolicyAction *action)
{
  const char *effect = key_section_value (section, "Effect");

  action->effect = EFFECT_IRREVERSIBLE;
  if (effect == NULL || strcmp (effect, "irreversible") == 0)
    return;
  if (strcmp (effect, "reversible") == 0)
    action->effect = EFFECT_REVERSIBLE;
  else if (strcmp (effect, "read") == 0)
    action->effect = EFFECT_READ;
  else
    faults_add (loader->faults, file->path, key_section_line (section, "Effect"),
                "Effect= is irreversible, reversible or read");
}

static guint
count_sections (const KeyFile *file, const char *kind)
{
  guint count = 0;

  for (guint i = 0; i < file->sections->len; i++)
    {
      const KeySection *section = g_ptr_array_index (file->sections, i);

      if (strcmp (section->spec->kind, kind) == 0)
        count++;
    }
  return count;
}

typedef void (*LoadMember) (Loader *loader,
                            const KeyFile *file,
                            const KeySection *section,
                            PolicyAction *action);

static void
load_members (Loader *loader,
              const KeyFile *file,
              const char *kind,
              guint max,
              LoadMember load,
              PolicyAction *action)
{
  if (count_sections (file, kind) > max)
    {
      faults_add (loader->faults, file->path, 0, "more than %u sections [%s NAME]", max, kind);
      return;
    }
  for (guint i = 0; i < file->sections->len; i++)
    {
      const KeySection *section = g_ptr_array_index (file->sections, i);

      if (strcmp (section->spec->kind, kind) == 0)
        load (loader, file, section, action);
    }
}

void
load_action (Loader *loader, const ImageFile *image_file)
{
  guint before = faults_count (loader->faults);
  g_autoptr (KeyFile) file =
      key_file_parse_rest (image_file->path, image_file->content, action_schema, loader->faults);
  g_autoptr (ActionEntry) entry = NULL;
  const KeySection *section;

  if (file == NULL)
    return;
  entry = action_entry_new (image_file);
  section = key_file_section (file, "Action");
  if (section != NULL)
    {
      entry->action.summary = load_text (loader, file, section, "Summary", POLICY_MAX_SUMMARY);
      load_effect (loader, file, section, &entry->action);
    }
  load_members (loader, file, "Argument", RECORD_MAX_ARGUMENTS, load_argument, &entry->action);
  load_members (loader, file, "Fact", POLICY_MAX_MEMBERS, load_fact, &entry->action);
  if (key_file_section (file, "Executor") != NULL)
    load_executor (loader, file, entry);
  if (faults_count (loader->faults) == before && entry->manifest != NULL)
    {
      char *id = entry->action.id;

      g_hash_table_insert (loader->policy->actions, id, g_steal_pointer (&entry));
    }
}
