/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PREPARE: whether a request may be put to a person at all.  Whatever would be refused at execution
 * is refused here, so that nobody is asked in vain; but nothing that is found here is relied on
 * later.  It changes nothing in the ledger.
 */
#include "service/executor/executor.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"
#include "service/executor/module.h"
#include "service/executor/prepared.h"
#include "service/executor/votes.h"

static gboolean
decision_check (Executor *executor,
                const Proposal *proposal,
                const Record *record,
                const PolicyDecision *decision,
                GError **error)
{
  return ledger_check_intent (executor->ledger, record_intent (record), proposal->id, error) &&
         ledger_check_limits (executor->ledger, record, decision->limits, error);
}

/* draft_check: no condition of a rule asks for a fact, so what policy or a limit refuses is refused
 * before a module looks anything up, for an agent that has chosen what; and where a rule denies whatever
 * is sent, before a record is made. */
static gboolean
draft_check (Executor *executor, const Proposal *proposal, GError **error)
{
  g_autoptr (Record) draft = NULL;
  g_autoptr (PolicyDecision) decision = NULL;

  if (!policy_check_denied (executor->policy, proposal->agent, proposal->part, proposal->action,
                            error))
    return FALSE;
  if (proposal->action->facts->len == 0)
    return TRUE;
  draft = proposal_draft (executor, proposal, error);
  decision = draft != NULL ? decide (executor, draft, error) : NULL;
  return decision != NULL && decision_check (executor, proposal, draft, decision, error);
}

/* votes_collect: the active passkeys of everybody who may satisfy something. */
static gboolean
votes_collect (Executor *executor,
               const Record *record,
               GPtrArray *requirements,
               GPtrArray *passkeys,
               GArray *votes,
               GError **error)
{
  g_autoptr (GError) local = NULL;
  guint taken = 0;
  guint needed = 0;

  for (guint i = 0; i < passkeys->len; i++)
    {
      const Passkey *passkey = g_ptr_array_index (passkeys, i);

      if (passkey->active)
        votes_of (executor, record, requirements, passkey, (gpointer) passkey, votes, NULL);
    }
  if (votes_match (votes, requirements, NULL, &taken, &needed, &local))
    return TRUE;
  return us_error_set (error, US_ERROR_NO_APPROVER, US_REASON_NO_APPROVER,
                       "%u %s needed who may approve and has a passkey of a kind that the rule takes; "
                       "there %s %u",
                       needed, needed == 1 ? "person is" : "persons are", taken == 1 ? "is" : "are",
                       taken);
}

static GVariant *
credential_variant (const Passkey *passkey)
{
  return g_variant_new ("(@ayssss)", variant_of_bytes (passkey->credential), passkey->kind,
                        passkey->rp, passkey->origin, passkey->label);
}

/* approver_variant: one person with all passkeys that count for this requirement. */
static GVariant *
approver_variant (GArray *votes, guint requirement, const Passkey *first)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a" WIRE_CREDENTIAL));
  for (guint i = 0; i < votes->len; i++)
    {
      const Vote *vote = &g_array_index (votes, Vote, i);

      if (vote->requirement == requirement && vote->uid == first->uid)
        g_variant_builder_add_value (&builder, credential_variant (vote->item));
    }
  return g_variant_new ("(sua" WIRE_CREDENTIAL ")", first->name, (guint32) first->uid, &builder);
}

static gboolean
person_is_new (GArray *votes, guint until)
{
  const Vote *vote = &g_array_index (votes, Vote, until);

  for (guint i = 0; i < until; i++)
    if (g_array_index (votes, Vote, i).uid == vote->uid &&
        g_array_index (votes, Vote, i).requirement == vote->requirement)
      return FALSE;
  return TRUE;
}

static GVariant *
requirements_variant (GPtrArray *requirements, GArray *votes)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a" WIRE_REQUIREMENT));
  for (guint i = 0; i < requirements->len; i++)
    {
      const PolicyRequirement *requirement = g_ptr_array_index (requirements, i);
      GVariantBuilder approvers;

      g_variant_builder_init (&approvers, G_VARIANT_TYPE ("a" WIRE_APPROVER));
      for (guint k = 0; k < votes->len; k++)
        {
          const Vote *vote = &g_array_index (votes, Vote, k);

          if (vote->requirement == i && person_is_new (votes, k))
            g_variant_builder_add_value (&approvers, approver_variant (votes, i, vote->item));
        }
      g_variant_builder_add (&builder, "(sua" WIRE_APPROVER ")", requirement->rule,
                             requirement->count, &approvers);
    }
  return g_variant_builder_end (&builder);
}

static GVariant *
reply_new (Executor *executor,
           const Proposal *proposal,
           const Record *record,
           GVariant *facts,
           const PolicyDecision *decision,
           GArray *votes,
           GError **error)
{
  const char *word = decision->decision == DECISION_ALLOW ? "allow" : "ask";
  guint64 lifetime = decision_lifetime (decision);
  guint64 deadline = 0;
  guint8 seal[PAE_DIGEST_SIZE];
  g_autofree char *expires = NULL;

  deadline = clock_boottime () + lifetime * G_USEC_PER_SEC;
  expires = clock_format (clock_wall () + (gint64) lifetime);
  if (!ledger_seal (executor->ledger, proposal->id, record_digest (record), deadline, seal, error))
    return NULL;
  return g_variant_new ("(s@" WIRE_FACTS "@ayt@ays@a" WIRE_REQUIREMENT ")", word, facts,
                        variant_of_bytes (record_bytes (record)), deadline,
                        variant_of_digest (seal), expires,
                        requirements_variant (decision->requirements, votes));
}

GVariant *
handle_prepare (Session *session, GVariant *body, GError **error)
{
  Executor *executor = session->executor;
  g_autoptr (Proposal) proposal = NULL;
  g_autoptr (GVariant) facts = NULL;
  g_autoptr (Record) record = NULL;
  g_autoptr (PolicyDecision) decision = NULL;
  g_autoptr (GPtrArray) passkeys = NULL;
  g_autoptr (GArray) votes = g_array_new (FALSE, FALSE, sizeof (Vote));

  proposal = proposal_new (executor, body, session->fds, session->n_fds, error);
  if (proposal == NULL || !proposal_check_ledger (executor, proposal, error) ||
      !draft_check (executor, proposal, error))
    return NULL;

  session_extend (session);
  facts = module_describe (executor, proposal, error);
  if (facts == NULL)
    return NULL;
  record = proposal_record (executor, proposal, facts, error);
  if (record == NULL)
    return NULL;
  decision = decide (executor, record, error);
  if (decision == NULL || !decision_check (executor, proposal, record, decision, error))
    return NULL;

  passkeys = ledger_passkeys (executor->ledger, error);
  if (passkeys == NULL)
    return NULL;
  if (decision->decision == DECISION_ASK &&
      !votes_collect (executor, record, decision->requirements, passkeys, votes, error))
    return NULL;
  if (!module_check (executor, proposal->action, error))
    return NULL;
  return reply_new (executor, proposal, record, facts, decision, votes, error);
}

GVariant *
handle_approver (Session *session, GVariant *body, GError **error)
{
  g_autoptr (GPtrArray) passkeys = ledger_passkeys (session->executor->ledger, error);
  GVariantBuilder builder;
  guint32 uid = 0;

  if (passkeys == NULL)
    return NULL;
  g_variant_get (body, WIRE_APPROVER_QUERY, &uid);
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a" WIRE_CREDENTIAL));
  for (guint i = 0; i < passkeys->len; i++)
    {
      const Passkey *passkey = g_ptr_array_index (passkeys, i);

      if (passkey->active && passkey->uid == (uid_t) uid)
        g_variant_builder_add_value (&builder, credential_variant (passkey));
    }
  return g_variant_new (WIRE_APPROVER_REPLY, &builder);
}

GVariant *
handle_may_pause (Session *session, GVariant *body, GError **error)
{
  Executor *executor = session->executor;
  const Policy *policy = executor_policy (executor, error);
  g_autoptr (GPtrArray) passkeys = NULL;
  const PolicyAgent *agent = NULL;
  const char *name = NULL;
  gboolean may = FALSE;
  guint32 uid = 0;

  if (policy == NULL)
    return NULL;
  passkeys = ledger_passkeys (executor->ledger, error);
  if (passkeys == NULL)
    return NULL;
  g_variant_get (body, "(u&s)", &uid, &name);
  agent = policy_agent_by_name (policy, name);
  for (guint i = 0; agent != NULL && !may && i < passkeys->len; i++)
    {
      const Passkey *passkey = g_ptr_array_index (passkeys, i);

      may = passkey->active && passkey->uid == (uid_t) uid &&
            policy_may_pause (policy, agent, passkey->name, passkey->uid);
    }
  return g_variant_new (WIRE_MAY_PAUSE_REPLY, may);
}
