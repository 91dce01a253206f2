/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A whole policy.  The input is an image where it begins with a NUL byte, and else files, each
 * after a line "@FOLDER/NAME.SUFFIX".  Of a set that loads everything is asked that can be asked:
 * no irreversible action may be allowed, and nobody barred may approve.
 */
#include "service/policy/image.h"
#include "service/policy/policy.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* --- users: whoever is named exists --- */

static GPtrArray *people;

static gboolean
user_by_name (const char *name, uid_t *out_uid)
{
  guint i = 0;

  while (i < people->len && strcmp (g_ptr_array_index (people, i), name) != 0)
    i++;
  if (i == people->len)
    g_ptr_array_add (people, g_strdup (name));
  *out_uid = strcmp (name, "root") == 0 ? 0 : 1000 + i;
  return TRUE;
}

static gboolean
user_by_uid (uid_t uid, char **out_name)
{
  if (uid != 0 && (uid < 1000 || uid - 1000 >= people->len))
    return FALSE;
  *out_name = g_strdup (uid == 0 ? "root" : g_ptr_array_index (people, uid - 1000));
  return TRUE;
}

static gboolean
user_in_group (const char *user, const char *group)
{
  return TRUE;
}

static const PolicyNames names = { user_by_name, user_by_uid, user_in_group };

/* --- the image --- */

typedef struct
{
  char *folder, *name;
  const char *text;
  gsize len;
} Part;

static void
part_free (gpointer data)
{
  Part *part = data;

  g_free (part->folder);
  g_free (part->name);
  g_free (part);
}

static int
compare_parts (gconstpointer a, gconstpointer b)
{
  const Part *left = *(const Part *const *) a;
  const Part *right = *(const Part *const *) b;
  int order = strcmp (left->folder, right->folder);

  return order != 0 ? order : strcmp (left->name, right->name);
}

/* @line: "@rules/x.rule", not ended; NULL for anything else */
static Part *
part_new (const char *line, gsize len)
{
  g_autofree char *text = g_strndup (line, len);
  g_auto (GStrv) halves = len > 0 && text[0] == '@' ? g_strsplit (text + 1, "/", 2) : NULL;
  char *dot =
      halves != NULL && halves[0] != NULL && halves[1] != NULL ? strrchr (halves[1], '.') : NULL;
  Part *part;

  if (dot == NULL || !g_utf8_validate (text, -1, NULL))
    return NULL;
  *dot = '\0';
  part = g_new0 (Part, 1);
  part->folder = g_strdup (halves[0]);
  part->name = g_strdup (halves[1]);
  return part;
}

static GPtrArray *
split (const char *text, gsize len)
{
  GPtrArray *parts = g_ptr_array_new_with_free_func (part_free);
  Part *last = NULL;

  while (len > 0)
    {
      const char *end = memchr (text, '\n', len);
      gsize line = end != NULL ? (gsize) (end - text) + 1 : len;
      Part *part = part_new (text, end != NULL ? line - 1 : line);

      if (part != NULL)
        {
          part->text = text + line;
          g_ptr_array_add (parts, part);
          last = part;
        }
      else if (last != NULL)
        last->len += line;
      text += line;
      len -= line;
    }
  g_ptr_array_sort (parts, compare_parts);
  return parts;
}

static GBytes *
bundle (const char *text, gsize len)
{
  g_autoptr (GPtrArray) parts = split (text, len);
  g_autoptr (GVariant) root = NULL;
  GVariantBuilder files, modules;

  g_variant_builder_init (&files, G_VARIANT_TYPE ("a" IMAGE_FILE_TYPE));
  g_variant_builder_init (&modules, G_VARIANT_TYPE ("a" IMAGE_MODULE_TYPE));
  for (guint i = 0; i < parts->len; i++)
    {
      const Part *part = g_ptr_array_index (parts, i);
      gboolean module = strcmp (part->folder, "modules") == 0;

      g_variant_builder_add (
          &files, "(ssbs@ay)", part->folder, part->name, module, "/f",
          g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, part->text, part->len, 1));
      if (module)
        g_variant_builder_add (&modules, "(ss@ay)", part->name, "/m",
                               g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, "", 0, 1));
    }
  root = g_variant_ref_sink (g_variant_new ("(s@a" IMAGE_FILE_TYPE "@a" IMAGE_MODULE_TYPE ")",
                                            IMAGE_FORMAT, g_variant_builder_end (&files),
                                            g_variant_builder_end (&modules)));
  return g_variant_get_data_as_bytes (root);
}

/* --- questions --- */

static void
check_decision (const Policy *policy,
                const PolicyAgent *agent,
                const PolicyAction *action,
                const Record *record)
{
  g_autoptr (PolicyDecision) decision = policy_decide (policy, record);

  g_assert (decision->decision != DECISION_ALLOW || action->effect != EFFECT_IRREVERSIBLE);
  g_assert ((decision->decision == DECISION_DENY) == (decision->reason != NULL));
  g_assert ((decision->decision == DECISION_ASK) == (decision->requirements->len > 0));
  g_assert (decision->lifetime > 0 && decision->lifetime <= POLICY_LIFETIME_MAX);
  for (guint i = 0; i < decision->requirements->len; i++)
    {
      const PolicyRequirement *requirement = g_ptr_array_index (decision->requirements, i);
      const PasskeyKinds kinds = requirement->passkeys;

      g_assert (kinds != 0 && requirement->count > 0 && requirement->approvers[0] != NULL);
      g_assert (!policy_may_approve (policy, requirement, record, "root", 0, kinds, NULL));
      for (guint j = 0; j < people->len; j++)
        if (policy_agent_by_uid (policy, 1000 + j) != NULL)
          g_assert (!policy_may_approve (policy, requirement, record, g_ptr_array_index (people, j),
                                         1000 + j, kinds, NULL));
    }
}

/* The record of an action of which only what must be given is: nothing. */
static Record *
empty_record (const PolicyAgent *agent, const PolicyAction *action, const char *digest)
{
  static const char *const effects[] = { "irreversible", "reversible", "read" };
  g_autoptr (GVariant) none =
      g_variant_ref_sink (g_variant_new_array (G_VARIANT_TYPE ("(sv)"), NULL, 0));
  g_autoptr (GPtrArray) values = policy_bind_arguments (action, none, NULL, 0, NULL);
  g_autoptr (RecordBuilder) builder = record_builder_new ("0123456789abcdef0123456789abcdef");

  if (values == NULL)
    return NULL;
  record_builder_agent (builder, agent->name, agent->uid, agent->owner, agent->parts[0]);
  record_builder_run (builder, "00000000000000000000000000000001", "", NULL, 0);
  record_builder_action (builder, action->id, action->summary, effects[action->effect]);
  for (guint i = 0; i < values->len; i++)
    {
      const PolicyArgument *argument = g_ptr_array_index (action->arguments, i);

      record_builder_argument (builder, argument->name, argument->label, type_name (argument->type),
                               json_tree_copy (g_ptr_array_index (values, i)));
    }
  record_builder_executor (builder, action->module, action->credential);
  for (guint i = 0; i < action->settings->len; i++)
    {
      const PolicySetting *setting = g_ptr_array_index (action->settings, i);

      record_builder_setting (builder, setting->name, setting->label, type_name (setting->type),
                              json_tree_copy (setting->value));
    }
  record_builder_policy (builder, digest);
  return record_builder_end (builder, NULL);
}

static void
ask_everything (const Policy *policy)
{
  g_autoptr (GPtrArray) agents = policy_agents (policy);

  for (guint i = 0; i < agents->len; i++)
    {
      const PolicyAgent *agent = g_ptr_array_index (agents, i);
      g_autoptr (GPtrArray) actions = policy_actions_of (policy, agent);

      g_assert (agent->uid != 0 && agent->uid != agent->owner_uid);
      g_assert (policy_uid_is_barred (policy, agent->uid));
      for (guint j = 0; j < actions->len; j++)
        {
          const PolicyAction *action = g_ptr_array_index (actions, j);
          g_autofree char *digest = policy_digest (policy, agent, action);
          g_autoptr (Record) record = empty_record (agent, action, digest);

          if (record != NULL)
            check_decision (policy, agent, action, record);
        }
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) image = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (Policy) policy = NULL;

  people = g_ptr_array_new_with_free_func (g_free);
  if (size > 0 && data[0] == '\0')
    image = g_bytes_new (data + 1, size - 1);
  else
    image = bundle ((const char *) data, size);
  policy = policy_parse (image, &names, &error);
  g_assert ((policy == NULL) == (error != NULL));
  if (policy != NULL)
    ask_everything (policy);
  g_ptr_array_unref (people);
  return 0;
}
