/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a raw request to a record.  The broker's word is taken for agent uid, part, run, initiator
 * and claim, but only as far as policy knows them: an unknown uid is no agent, a part or initiator
 * that the agent's file does not list is refused.  Names, labels, types, summary, effect, settings
 * and owner come from policy alone; what a file contains is hashed from the descriptor at hand.
 */
#include "service/executor/proposal.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"

#include <string.h>

void
proposal_free (Proposal *proposal)
{
  if (proposal == NULL)
    return;
  g_clear_pointer (&proposal->request, g_variant_unref);
  g_clear_pointer (&proposal->values, g_ptr_array_unref);
  g_free (proposal);
}

gboolean
request_id_check (const char *id, GError **error)
{
  if (!id_is_valid (id))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "a request id is 32 lower-case hex digits");
  return TRUE;
}

static gboolean
files_hash (Proposal *proposal, GError **error)
{
  guint64 total = 0;

  for (guint i = 0; i < proposal->n_fds; i++)
    {
      gsize size = 0;

      if (!memfd_sha256 (proposal->fds[i], HANDOVER_FILE_MAX, &size, proposal->files[i].sha256,
                         error))
        return FALSE;
      proposal->files[i].size = size;
      total += size;
    }
  if (total > HANDOVER_FILES_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the files of a request are %d bytes together at most",
                         HANDOVER_FILES_MAX);
  return TRUE;
}

static gboolean
run_check (const Proposal *proposal, GError **error)
{
  g_autoptr (JsonTree) label = json_tree_new_string (proposal->run_label);

  if (!id_is_valid (proposal->run_id))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "a run id is 32 lower-case hex digits");
  if (*proposal->run_label == '\0')
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "a run has a label");
  return type_check (type_find ("line"), "run label", label, error);
}

static gboolean
strv_has (char **list, const char *text)
{
  return list != NULL && g_strv_contains ((const char *const *) list, text);
}

/* initiator_check: who is said to have opened the run for the agent is a user of this machine, and
 * one who may: the agent's owner, or named in Initiators=. */
static gboolean
initiator_check (Executor *executor, Proposal *proposal, const char *uid_text, GError **error)
{
  const PolicyNames *names = executor->config->names;
  g_autofree char *name = NULL;
  g_autofree char *again = NULL;
  uid_t uid = 0;

  if (*proposal->initiator == '\0' && *uid_text == '\0')
    {
      proposal->initiator = NULL;
      return TRUE;
    }
  if (!names->user_by_name (proposal->initiator, &uid) || !names->user_by_uid (uid, &name))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY,
                         "the initiator is not a user of this machine");

  again = g_strdup_printf ("%u", (guint) uid);
  if (strcmp (name, proposal->initiator) != 0 || strcmp (again, uid_text) != 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY,
                         "name and uid of the initiator are not each other's");
  if (strcmp (proposal->agent->owner, name) != 0 && !strv_has (proposal->agent->initiators, name))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_NOT_ELIGIBLE,
                         "the initiator of the run may not open one for agent %s any more",
                         proposal->agent->name);
  proposal->initiator_uid = uid;
  return TRUE;
}

static gboolean
supersedes_check (Proposal *proposal, const char *digest, GError **error)
{
  if (*proposal->supersedes == '\0' && *digest == '\0')
    {
      proposal->supersedes = NULL;
      return TRUE;
    }
  if (!id_is_valid (proposal->supersedes) ||
      !digest_from_string (digest, proposal->supersedes_digest))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "what is superseded is a request id and a digest");
  if (strcmp (proposal->supersedes, proposal->id) == 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                         "a request does not supersede itself");
  return TRUE;
}

static gboolean
claim_check (const Proposal *proposal, GError **error)
{
  if (strlen (proposal->claim) > RECORD_MAX_CLAIM)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "a claim is %d bytes at most", RECORD_MAX_CLAIM);
  return TRUE;
}

static gboolean
agent_find (const Policy *policy, Proposal *proposal, guint32 uid, GError **error)
{
  proposal->agent = policy_agent_by_uid (policy, (uid_t) uid);
  if (proposal->agent == NULL)
    return us_error_set (error, US_ERROR_NOT_AGENT, US_REASON_NOT_AGENT,
                         "no agent file names uid %u", uid);
  if (!policy_agent_check (policy, proposal->agent, error))
    return FALSE;
  if (!policy_agent_has_part (proposal->agent, proposal->part))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_UNKNOWN_PART,
                         "agent %s has no such part", proposal->agent->name);
  return TRUE;
}

Proposal *
proposal_new (Executor *executor, GVariant *request, const int *fds, guint n_fds, GError **error)
{
  g_autoptr (Proposal) proposal = g_new0 (Proposal, 1);
  g_autoptr (GVariant) arguments = NULL;
  const Policy *policy = executor_policy (executor, error);
  const char *initiator_uid = NULL;
  const char *action = NULL;
  const char *digest = NULL;
  guint32 uid = 0;

  if (policy == NULL)
    return NULL;

  proposal->request = g_variant_ref (request);
  proposal->fds = fds;
  proposal->n_fds = n_fds;
  g_variant_get (request, "(&su&s(&s&s&s&s)&s@a(sv)&s(&s&s))", &proposal->id, &uid, &proposal->part,
                 &proposal->run_id, &proposal->run_label, &proposal->initiator, &initiator_uid,
                 &action, &arguments, &proposal->claim, &proposal->supersedes, &digest);

  if (!request_id_check (proposal->id, error) || !agent_find (policy, proposal, uid, error) ||
      !run_check (proposal, error) || !initiator_check (executor, proposal, initiator_uid, error) ||
      !supersedes_check (proposal, digest, error) || !claim_check (proposal, error) ||
      (proposal->action = policy_action_for (policy, proposal->agent, action, error)) == NULL ||
      !files_hash (proposal, error))
    return NULL;

  proposal->values =
      policy_bind_arguments (proposal->action, arguments, proposal->files, n_fds, error);
  if (proposal->values == NULL)
    return NULL;
  g_assert (proposal->values->len == proposal->action->arguments->len);
  return g_steal_pointer (&proposal);
}

static JsonTree *
fact_value (const PolicyFact *fact, GVariant *facts, GError **error)
{
  const char *found = NULL;
  const char *name = NULL;
  const char *text = NULL;
  JsonTree *value = NULL;
  GVariantIter iter;

  g_variant_iter_init (&iter, facts);
  while (g_variant_iter_next (&iter, "(&s&s)", &name, &text))
    if (strcmp (name, fact->name) == 0)
      {
        if (found != NULL)
          {
            us_error_set (error, US_ERROR_REFUSED, US_REASON_FACTS, "fact %s came twice", name);
            return NULL;
          }
        found = text;
      }
  if (found == NULL)
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_FACTS, "fact %s is missing", fact->name);
      return NULL;
    }
  value = type_from_text (fact->type, fact->name, found, NULL);
  if (value == NULL) /* what is wrong with it is not for the agent, who never sees a fact */
    us_error_set (error, US_ERROR_REFUSED, US_REASON_FACTS, "fact %s is not of type %s", fact->name,
                  type_name (fact->type));
  return value;
}

static gboolean
facts_add (RecordBuilder *builder, const PolicyAction *action, GVariant *facts, GError **error)
{
  if (g_variant_n_children (facts) != action->facts->len)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_FACTS, "action %s has %u facts, not %u",
                         action->id, action->facts->len, (guint) g_variant_n_children (facts));

  for (guint i = 0; i < action->facts->len; i++)
    {
      const PolicyFact *fact = g_ptr_array_index (action->facts, i);
      JsonTree *value = fact_value (fact, facts, error);

      if (value == NULL)
        return FALSE;
      record_builder_fact (builder, fact->name, fact->label, type_name (fact->type), value,
                           fact->recheck);
    }
  return TRUE;
}

/* record_build: @facts: (nullable): none yet */
static Record *
record_build (Executor *executor, const Proposal *proposal, GVariant *facts, GError **error)
{
  const PolicyAgent *agent = proposal->agent;
  const PolicyAction *action = proposal->action;
  g_autofree char *digest = policy_digest (executor->policy, agent, action);
  g_autoptr (RecordBuilder) builder = policy_record_begin (
      executor->config->host, agent, proposal->part, action, proposal->values);

  record_builder_run (builder, proposal->run_id, proposal->run_label, proposal->initiator,
                      (guint32) proposal->initiator_uid);
  if (facts != NULL && !facts_add (builder, action, facts, error))
    return NULL;
  record_builder_claim (builder, proposal->claim);
  record_builder_policy (builder, digest);
  return record_builder_end (builder, error);
}

Record *
proposal_record (Executor *executor, const Proposal *proposal, GVariant *facts, GError **error)
{
  g_assert (facts != NULL);
  return record_build (executor, proposal, facts, error);
}

Record *
proposal_draft (Executor *executor, const Proposal *proposal, GError **error)
{
  return record_build (executor, proposal, NULL, error);
}

gboolean
proposal_check_ledger (Executor *executor, const Proposal *proposal, GError **error)
{
  Ledger *ledger = executor->ledger;

  if (!ledger_check_running (ledger, error) || !ledger_check_open (ledger, proposal->id, error))
    return FALSE;
  return proposal->supersedes == NULL ||
         ledger_check_superseded (ledger, proposal->supersedes, proposal->supersedes_digest, error);
}

PolicyDecision *
decide (Executor *executor, const Record *record, GError **error)
{
  g_autoptr (PolicyDecision) decision = policy_decide (executor->policy, record);

  if (!policy_decision_check (decision, record, error))
    return NULL;
  return g_steal_pointer (&decision);
}

guint64
decision_lifetime (const PolicyDecision *decision)
{
  guint64 lifetime = decision->lifetime > 0 ? decision->lifetime : POLICY_LIFETIME_DEFAULT;

  return MIN (lifetime, POLICY_LIFETIME_MAX);
}
