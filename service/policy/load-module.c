/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/NAME.module: what a module is called, whether it can describe, which arguments it takes and
 * which settings its actions give it.  The manifest is the module's; a policy cannot add to it.
 */
#include "service/policy/load.h"

#include "service/policy/constraint.h"
#include "service/policy/name.h"

#include <string.h>

static const KeySpec module_keys[] = {
  { "Summary", KEY_REQUIRED },
  { "Describe", KEY_PLAIN },
  { NULL, KEY_PLAIN },
};

static const KeySpec setting_keys[] = {
  { "Label", KEY_REQUIRED },       { "Type", KEY_REQUIRED }, { "Required", KEY_PLAIN },
  { "Default", KEY_MAY_BE_EMPTY }, { NULL, KEY_PLAIN },
};

static const KeySpec argument_keys[] = {
  { "Types", KEY_REQUIRED },
  { "Required", KEY_PLAIN },
  { "OneOf", KEY_PLAIN },
  { NULL, KEY_PLAIN },
};

const SectionSpec module_schema[] = {
  { "Module", NULL, SECTION_REQUIRED, module_keys },
  { "Argument", name_is_member, SECTION_PLAIN, argument_keys },
  { "Setting", name_is_setting, SECTION_PLAIN, setting_keys },
  { NULL, NULL, SECTION_PLAIN, NULL },
};

static void
setting_free (gpointer data)
{
  ManifestSetting *setting = data;

  g_free (setting->name);
  g_free (setting->key);
  g_free (setting->label);
  json_tree_free (setting->fallback);
  g_free (setting);
}

static void
argument_free (gpointer data)
{
  ManifestArgument *argument = data;

  g_free (argument->name);
  g_strfreev (argument->types);
  g_free (argument->one_of);
  g_free (argument);
}

void
manifest_free (Manifest *manifest)
{
  if (manifest == NULL)
    return;
  g_free (manifest->name);
  g_free (manifest->summary);
  g_ptr_array_unref (manifest->arguments);
  g_ptr_array_unref (manifest->settings);
  g_free (manifest);
}

/* "reply-to" → "ReplyTo" */
static char *
setting_key (const char *name)
{
  GString *key = g_string_new (NULL);
  gboolean upper = TRUE;

  for (; *name != '\0'; name++)
    {
      if (*name != '-')
        g_string_append_c (key, upper ? g_ascii_toupper (*name) : *name);
      upper = *name == '-';
    }
  return g_string_free (key, FALSE);
}

/* A setting travels to the module as one string. */
static void
check_setting (Loader *loader,
               const KeyFile *file,
               const KeySection *section,
               ManifestSetting *setting)
{
  static const char *const taken[] = { "Module", "Credential", "DescribeCredential", NULL };

  if (g_strv_contains (taken, setting->key))
    faults_add (loader->faults, file->path, section->line,
                "a setting cannot be called %s: %s= has a meaning of its own in [Executor]",
                setting->name, setting->key);
  if (setting->type != NULL && (type_wire (setting->type) != TYPE_WIRE_STRING ||
                                strcmp (type_name (setting->type), "choice") == 0))
    faults_add (loader->faults, file->path, key_section_line (section, "Type"),
                "a setting cannot be of type %s: it is one text", type_name (setting->type));
  if (setting->required && key_section_entry (section, "Default") != NULL)
    faults_add (loader->faults, file->path, key_section_line (section, "Default"),
                "Default= and Required=yes exclude each other");
}

static void
load_setting (Loader *loader, const KeyFile *file, const KeySection *section, Manifest *manifest)
{
  ManifestSetting *setting = g_new0 (ManifestSetting, 1);

  g_ptr_array_add (manifest->settings, setting);
  setting->name = g_strdup (section->name);
  setting->key = setting_key (section->name);
  setting->label = load_text (loader, file, section, "Label", POLICY_MAX_LABEL);
  setting->type = load_type (loader, file, section);
  setting->required = key_section_yes_no (file, section, "Required", FALSE, loader->faults);
  check_setting (loader, file, section, setting);
  if (setting->type == NULL || type_wire (setting->type) != TYPE_WIRE_STRING)
    return;
  setting->fallback = load_value (loader, file, section, "Default", setting->type, setting->name);
  if (setting->fallback == NULL && !setting->required)
    setting->fallback = type_empty (setting->type);
}

static void
load_one_of (Loader *loader, const KeyFile *file, const KeySection *section,
             ManifestArgument *argument)
{
  const char *word = key_section_value (section, "OneOf");
  guint line = key_section_line (section, "OneOf");

  if (word == NULL)
    return;
  argument->one_of = g_strdup (word);
  if (!name_is_member (word))
    {
      g_autofree char *quoted = quote_text (word);

      faults_add (loader->faults, file->path, line, "%s is not a name", quoted);
    }
  /* yes and no are answers, neither is empty */
  if (argument->types != NULL && g_strv_contains ((const char *const *) argument->types, "boolean"))
    faults_add (loader->faults, file->path, line, "OneOf= is not for an argument of type boolean");
}

static void
load_argument (Loader *loader, const KeyFile *file, const KeySection *section, Manifest *manifest)
{
  const KeyEntry *types = key_section_entry (section, "Types");
  ManifestArgument *argument = g_new0 (ManifestArgument, 1);

  g_ptr_array_add (manifest->arguments, argument);
  argument->name = g_strdup (section->name);
  argument->required = key_section_yes_no (file, section, "Required", FALSE, loader->faults);
  argument->types = key_entry_words (file, types, POLICY_MAX_WORDS, loader->faults);
  for (guint i = 0; argument->types != NULL && argument->types[i] != NULL; i++)
    if (type_find (argument->types[i]) == NULL)
      {
        g_autofree char *quoted = quote_text (argument->types[i]);

        faults_add (loader->faults, file->path, types->line, "there is no type %s", quoted);
      }
  load_one_of (loader, file, section, argument);
}

void
load_module (Loader *loader, const ImageFile *image_file)
{
  guint before = faults_count (loader->faults);
  g_autoptr (KeyFile) file =
      key_file_parse_rest (image_file->path, image_file->content, module_schema, loader->faults);
  g_autoptr (Manifest) manifest = NULL;
  const KeySection *section;

  if (file == NULL)
    return;
  section = key_file_section (file, "Module");
  manifest = g_new0 (Manifest, 1);
  manifest->name = g_strdup (image_file->name);
  manifest->file = image_file;
  manifest->object = g_hash_table_lookup (loader->policy->image->modules, image_file->name);
  manifest->arguments = g_ptr_array_new_with_free_func (argument_free);
  manifest->settings = g_ptr_array_new_with_free_func (setting_free);
  if (section != NULL)
    {
      manifest->summary = load_text (loader, file, section, "Summary", POLICY_MAX_SUMMARY);
      manifest->describes = key_section_yes_no (file, section, "Describe", FALSE, loader->faults);
    }
  for (guint i = 0; i < file->sections->len; i++)
    {
      section = g_ptr_array_index (file->sections, i);
      if (strcmp (section->spec->kind, "Setting") == 0 &&
          manifest->settings->len <= POLICY_MAX_MEMBERS)
        load_setting (loader, file, section, manifest);
      else if (strcmp (section->spec->kind, "Argument") == 0 &&
               manifest->arguments->len <= RECORD_MAX_ARGUMENTS)
        load_argument (loader, file, section, manifest);
    }
  if (manifest->settings->len > POLICY_MAX_MEMBERS)
    faults_add (loader->faults, file->path, 0, "more than %d settings", POLICY_MAX_MEMBERS);
  if (manifest->arguments->len > RECORD_MAX_ARGUMENTS)
    faults_add (loader->faults, file->path, 0, "more than %d arguments", RECORD_MAX_ARGUMENTS);
  if (faults_count (loader->faults) == before)
    {
      char *name = manifest->name;

      g_hash_table_insert (loader->policy->modules, name, g_steal_pointer (&manifest));
    }
}
