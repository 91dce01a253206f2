/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A whole policy.  The input is an image where it begins with a NUL byte, and else files, each
 * after a line "@FOLDER/NAME.SUFFIX".  Of a set that loads everything is asked that can be asked:
 * no irreversible action may be allowed, and nobody barred may approve.
 */
#include "service/policy/fault.h"
#include "service/policy/load.h"
#include "service/policy/policy.h"
#include "tests/fuzz/policy-image.h"
#include "tests/fuzz/refusal.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

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
      for (guint j = 0; j < people_number (); j++)
        if (policy_agent_by_uid (policy, 1000 + j) != NULL)
          g_assert (!policy_may_approve (policy, requirement, record, people_name (j),
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

/* As where files could not be read: each is a fault, so that nothing can come of it. */
static void
check_beside_unread (GBytes *image)
{
  static const char *const away[] = { "modules/away", "agents/", OBJECTS "/" };
  g_autoptr (GHashTable) unread = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (away); i++)
    {
      faults_add (faults, away[i], 0, "cannot be read");
      g_hash_table_add (unread, g_strdup (away[i]));
    }
  g_assert (load_image (image, &people_names, faults, unread) == NULL);
  g_assert (!faults_report (faults, &error) && error != NULL);
}

/* Users that were looked up beforehand make no difference, and are not looked up again. */
static void
check_resolved (GBytes *image, const GError *error)
{
  g_autoptr (GBytes) resolved = policy_resolve (image, &people_names);
  g_autoptr (GError) found = NULL;
  g_autoptr (Policy) policy = policy_parse (resolved, &people_names, &found);

  g_assert ((policy == NULL) == (found != NULL));
  g_assert (g_strcmp0 (found != NULL ? found->message : NULL,
                       error != NULL ? error->message : NULL) == 0);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) image = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (Policy) policy = NULL;

  if (size > 0 && data[0] == '\0')
    image = g_bytes_new (data + 1, size - 1);
  else
    image = policy_image ((const char *) data, size);
  policy = policy_parse (image, &people_names, &error);
  g_assert ((policy == NULL) == (error != NULL));
  refusal_seen (error);
  if (policy != NULL)
    ask_everything (policy);
  check_beside_unread (image);
  check_resolved (image, error);
  people_forget ();
  return 0;
}
