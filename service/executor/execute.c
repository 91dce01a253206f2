/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * EXECUTE: the one way to an effect.  The order of the checks is that of undersign-executor(8), and
 * every one of them is made here and now, whatever was found before:
 *   seal, deadline, record rebuilt and equal; policy; halt, and that the request is open; each
 *   answer anew; requirements; no unknown outcome of the same intent; facts; limits;
 * then the ledger's transaction, which makes again those that others may have changed meanwhile,
 * and only when that is durable the module.
 */
#include "service/executor/executor.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/wire.h"
#include "service/executor/journal.h"
#include "service/executor/module.h"
#include "service/executor/prepared.h"

#include <string.h>

/* answers_used: those that satisfy the requirements; empty where policy allows without asking. */
static GPtrArray *
answers_used (Executor *executor,
              const Prepared *prepared,
              const PolicyDecision *decision,
              GError **error)
{
  g_autoptr (GPtrArray) used = NULL;
  guint taken = 0;
  guint needed = 0;

  if (decision->decision == DECISION_ALLOW)
    return g_ptr_array_new_with_free_func ((GDestroyNotify) answer_free);
  if (!answers_evaluate (executor, prepared, decision->requirements, NULL, &used, &taken, &needed,
                         error))
    return NULL;
  return g_steal_pointer (&used);
}

static gboolean
action_rechecks (const PolicyAction *action)
{
  for (guint i = 0; i < action->facts->len; i++)
    if (((const PolicyFact *) g_ptr_array_index (action->facts, i))->recheck)
      return TRUE;
  return FALSE;
}

/* facts_recheck: those with Recheck=yes still are what the person was shown. */
static gboolean
facts_recheck (Session *session, const Prepared *prepared, GError **error)
{
  Executor *executor = session->executor;
  const PolicyAction *action = prepared->proposal->action;
  g_autoptr (GVariant) facts = NULL;
  g_autoptr (Record) now = NULL;

  if (!action_rechecks (action))
    return TRUE;
  facts = module_describe (executor, prepared->proposal, error);
  if (facts == NULL)
    return FALSE;
  now = proposal_record (executor, prepared->proposal, facts, error);
  if (now == NULL)
    return FALSE;

  for (guint i = 0; i < action->facts->len; i++)
    {
      const PolicyFact *fact = g_ptr_array_index (action->facts, i);

      if (fact->recheck && !json_tree_equal (record_fact (prepared->record, fact->name, NULL),
                                             record_fact (now, fact->name, NULL)))
        return us_error_set (error, US_ERROR_REFUSED, US_REASON_FACT_CHANGED,
                             "fact %s is no longer what was shown", fact->name);
    }
  return TRUE;
}

static gboolean
consume (Session *session,
         const Prepared *prepared,
         const PolicyDecision *decision,
         GPtrArray *answers,
         GError **error)
{
  Ledger *ledger = session->executor->ledger;
  const Proposal *proposal = prepared->proposal;
  Consumption consumption = {
    .request = proposal->id,
    .record = prepared->record,
    .answers = answers,
    .limits = decision->limits,
    .deadline = prepared->deadline,
    .supersedes = proposal->supersedes,
    .supersedes_digest = proposal->supersedes_digest,
    .still_holds = executor_holds,
    .data = session->executor,
  };

  return ledger_check_intent (ledger, record_intent (prepared->record), proposal->id, error) &&
         facts_recheck (session, prepared, error) &&
         ledger_check_limits (ledger, prepared->record, decision->limits, error) &&
         ledger_consume (ledger, &consumption, error);
}

/* run: from here on the request is used up, and what happened is said, not whether it may. */
static GVariant *
run (Session *session, const Prepared *prepared)
{
  Executor *executor = session->executor;
  g_autoptr (GError) error = NULL;
  g_autofree char *result = NULL;
  const char *outcome = NULL;

  /* a broker that is gone will ask the ledger; the person has approved this, once */
  if (!handover_send (session->sock, HANDOVER_REPLY,
                      g_variant_new (WIRE_EXECUTE_CONSUMED, "consumed"), NULL, 0, &error))
    g_info ("the broker did not hear that %s is consumed", prepared->proposal->id);
  g_clear_error (&error);
  journal_note (&session->used_up, JOURNAL_CONSUMED, AUDIT_EXECUTOR, prepared->proposal->id,
                "executing", NULL, NULL);

  session_extend (session);
  outcome = module_execute (executor, prepared->proposal, &result);
  if (!ledger_finish (executor->ledger, prepared->proposal->id, outcome, result, &error))
    {
      g_warning ("the outcome of %s (%s) could not be written", prepared->proposal->id, outcome);
      return g_variant_new (WIRE_EXECUTE_OUTCOME, "unknown",
                            "the outcome could not be written to the ledger");
    }
  journal_note (&session->note, JOURNAL_OUTCOME, AUDIT_EXECUTOR, prepared->proposal->id, outcome,
                NULL, NULL);
  return g_variant_new (WIRE_EXECUTE_OUTCOME, outcome, result);
}

/*
 * refusal_is_final: a check has found that this may not run.  Not, where nothing was found but that
 * something is away or halted, or that persons have yet to answer.
 */
gboolean
refusal_is_final (const GError *refusal)
{
  static const UsError nothing_found[] = { US_ERROR_UNAVAILABLE, US_ERROR_HALTED,
                                           US_ERROR_POLICY_INVALID };

  if (us_error_has_reason (refusal, US_REASON_NOT_APPROVED))
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (nothing_found); i++)
    if (g_error_matches (refusal, US_ERROR, (int) nothing_found[i]))
      return FALSE;
  return refusal->domain == US_ERROR;
}

/* approved_once: whether a person has approved it as it was sealed. */
static gboolean
approved_once (Executor *executor, const Sealed *sealed, const Answer *approval, GError **error)
{
  g_autoptr (GPtrArray) answers =
      ledger_answers (executor->ledger, sealed->request, sealed->record, error);

  if (answers == NULL)
    return FALSE;
  return answers->len > 0 ||
         (approval != NULL && answer_verify_sealed (executor, sealed, "approve", approval, error));
}

void
approval_refused_note (Session *session,
                       const Sealed *sealed,
                       const Answer *approval,
                       const GError *refusal)
{
  Executor *executor = session->executor;
  g_autoptr (GError) error = NULL;
  g_autofree char *reason = us_error_reason (refusal);
  gboolean new = FALSE;

  if (!refusal_is_final (refusal) || !approved_once (executor, sealed, approval, &error))
    return;
  if (!ledger_note_refusal (executor->ledger, sealed->request, sealed->record, reason, &new, &error))
    g_info ("the refusal of %s is not in the ledger: %s", sealed->request, error->message);
  if (new)
    journal_note (&session->note, JOURNAL_REFUSED, AUDIT_EXECUTOR, sealed->request, "refused", NULL,
                  reason);
}

static GVariant *
execute (Session *session, GVariant *prepared_body, GError **error)
{
  Executor *executor = session->executor;
  g_autoptr (Prepared) prepared = prepared_open (session, prepared_body, error);
  g_autoptr (PolicyDecision) decision = NULL;
  g_autoptr (GPtrArray) answers = NULL;

  if (prepared == NULL)
    return NULL;
  decision = decide (executor, prepared->record, error);
  if (decision == NULL || !proposal_check_ledger (executor, prepared->proposal, error))
    return NULL;
  answers = answers_used (executor, prepared, decision, error);
  if (answers == NULL)
    return NULL;

  session_extend (session);
  if (!consume (session, prepared, decision, answers, error))
    return NULL;
  return run (session, prepared);
}

GVariant *
handle_execute (Session *session, GVariant *body, GError **error)
{
  g_autoptr (GVariant) prepared_body = g_variant_get_child_value (body, 0);
  g_autoptr (GError) refusal = NULL;
  g_auto (Sealed) sealed = { 0 };
  GVariant *reply = execute (session, prepared_body, &refusal);

  if (reply != NULL)
    return reply;
  if (sealed_open (session, prepared_body, &sealed, NULL))
    approval_refused_note (session, &sealed, NULL, refusal);
  g_propagate_error (error, g_steal_pointer (&refusal));
  return NULL;
}
