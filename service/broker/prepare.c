/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two ends of a prepare.  The decision is the executor's: a word that is neither ask nor allow,
 * or an "ask" that nobody could answer, is an error.  What its own set of policy refuses it is not
 * asked.
 */
#include "service/broker/prepare.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/pae.h"
#include "service/base/wire.h"

#include <string.h>

#define LOOKED_AT_MAX (16 * 1024) /* bytes of arguments */
#define ZERO_ID "00000000000000000000000000000000"
#define ZERO_DIGEST "sha256:" ZERO_ID ZERO_ID

/* Where this process knows of no such action, the executor calls no module for it either. */
static const char *
module_of (const Catalog *catalog, GVariant *raw)
{
  const Policy *policy = catalog_policy (catalog, NULL);
  const PolicyAction *action = NULL;
  const char *id = NULL;

  g_variant_get_child (raw, 4, "&s", &id);
  if (policy != NULL)
    action = policy_action (policy, id);
  return action != NULL ? action->module : "";
}

/* draft_refused: what a rule says of a record with these arguments.  No condition asks for the
 * members that are made up here. */
static gboolean
draft_refused (const Policy *policy,
               const PolicyAgent *agent,
               const PolicyAction *action,
               const GPtrArray *values,
               GVariant *raw,
               GError **error)
{
  g_autoptr (RecordBuilder) builder = NULL;
  g_autoptr (PolicyDecision) decision = NULL;
  g_autoptr (Record) record = NULL;
  const char *part = NULL;

  g_variant_get_child (raw, 2, "&s", &part);
  builder = policy_record_begin (ZERO_ID, agent, part, action, values);
  record_builder_run (builder, ZERO_ID, "", NULL, 0);
  record_builder_policy (builder, ZERO_DIGEST);
  record = record_builder_end (builder, NULL);
  if (record == NULL)
    return FALSE;
  decision = policy_decide (policy, record);
  return !policy_decision_check (decision, record, error);
}

/* A regular expression over what an agent chose takes its time: the executor has a clock for that. */
static gboolean
has_pattern (const PolicyAction *action)
{
  for (guint i = 0; i < action->arguments->len; i++)
    {
      const PolicyArgument *argument = action->arguments->pdata[i];

      if (argument->pattern != NULL)
        return TRUE;
    }
  return FALSE;
}

gboolean
prepare_refused (const Catalog *catalog, GVariant *raw, const Files *files, GError **error)
{
  const Policy *policy = catalog_current (catalog);
  const PolicyAgent *agent = NULL;
  const PolicyAction *action = NULL;
  g_autoptr (GVariant) arguments = NULL;
  g_autoptr (GPtrArray) values = NULL;
  const char *part = NULL, *initiator = NULL, *id = NULL;
  guint32 uid = 0;

  g_variant_get (raw, "(&su&s(&s&s&s&s)&s@a(sv)&s(&s&s))", NULL, &uid, &part, NULL, NULL, &initiator,
                 NULL, &id, &arguments, NULL, NULL, NULL);
  if (policy != NULL)
    agent = policy_agent_by_uid (policy, (uid_t) uid);
  if (agent == NULL || !policy_agent_has_part (agent, part) || initiator[0] != '\0')
    return FALSE;
  action = policy_action_for (policy, agent, id, error);
  if (action == NULL)
    return TRUE;
  /* what takes long holds others up here, and nobody there */
  if (files->n > 0 || g_variant_get_size (arguments) > LOOKED_AT_MAX || has_pattern (action))
    return FALSE;
  values = policy_bind_arguments (action, arguments, NULL, 0, error);
  if (values == NULL)
    return TRUE;
  return !policy_check_denied (policy, agent, part, action, error) ||
         (policy_may_deny (policy, agent, action) &&
          draft_refused (policy, agent, action, values, raw, error));
}

void
prepare_send (Executor *executor,
              const Catalog *catalog,
              GVariant *raw,
              const Files *files,
              ExecutorCallback callback,
              gpointer data)
{
  guint32 agent = 0;

  g_variant_get_child (raw, 1, "u", &agent);
  executor_call_module (executor, HANDOVER_PREPARE, agent, module_of (catalog, raw), raw,
                        files->fds, files->n, WIRE_PREPARE_REPLY, NULL, callback, data);
}

gboolean
prepare_take (Request *request,
              GVariant *raw,
              const Handover *reply,
              gboolean *out_asks,
              GError **error)
{
  const char *decision = NULL;
  const char *expires = NULL;
  guint64 deadline = 0;
  g_autoptr (GVariant) facts = NULL;
  g_autoptr (GVariant) record = NULL;
  g_autoptr (GVariant) seal = NULL;
  g_autoptr (GVariant) requirements = NULL;
  g_autoptr (GVariant) prepared = NULL;
  gboolean asks = FALSE;

  g_variant_get (reply->body, "(&s@" WIRE_FACTS "@ayt@ay&s@a" WIRE_REQUIREMENT ")", &decision,
                 &facts, &record, &deadline, &seal, &expires, &requirements);
  asks = strcmp (decision, "ask") == 0;
  if (!asks && strcmp (decision, "allow") != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                         "the executor's decision is neither ask nor allow");
  if (asks != (g_variant_n_children (requirements) > 0))
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                         "the executor's decision and its requirements disagree");

  prepared = g_variant_ref_sink (g_variant_new ("(@" WIRE_REQUEST "@" WIRE_FACTS "@ayt@ay)", raw,
                                                facts, record, deadline, seal));
  if (!request_set_prepared (request, prepared, requirements, error))
    return FALSE;
  g_free (request->expires);
  request->expires = g_strdup (expires);
  *out_asks = asks;
  return TRUE;
}

GVariant *
prepare_raw_of_successor (const Request *refused, const char *id)
{
  g_autoptr (GVariant) raw = request_raw (refused);
  g_autofree char *digest = digest_to_string (record_digest (refused->record));
  g_autoptr (GVariant) run = g_variant_get_child_value (raw, 3);
  g_autoptr (GVariant) arguments = g_variant_get_child_value (raw, 5);
  const char *part = NULL;
  const char *action = NULL;
  const char *claim = NULL;

  g_variant_get_child (raw, 2, "&s", &part);
  g_variant_get_child (raw, 4, "&s", &action);
  g_variant_get_child (raw, 6, "&s", &claim);
  return g_variant_ref_sink (g_variant_new ("(sus@(ssss)s@a(sv)s(ss))", id, (guint32) refused->uid,
                                            part, run, action, arguments, claim, refused->id,
                                            digest));
}
