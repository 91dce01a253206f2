/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request as it was handed over, checked against policy; and the record that is rebuilt from it.
 * What is believed of the broker ends here: see undersign-executor(8).
 */
#pragma once

#include "service/executor/executor.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  GVariant *request; /* WIRE_REQUEST; the strings below are borrowed from it */
  const char *id, *part;
  const char *run_id, *run_label;
  const char *initiator; /* NULL where the agent opened the run itself */
  uid_t initiator_uid;
  const char *claim;
  const char *supersedes; /* (nullable) */
  guint8 supersedes_digest[PAE_DIGEST_SIZE];

  const PolicyAgent *agent;
  const PolicyAction *action;
  GPtrArray *values; /* JsonTree, in the order of action->arguments */
  TypeFile files[HANDOVER_MAX_FILES];
  const int *fds; /* borrowed */
  guint n_fds;
} Proposal;

/*
 * proposal_new: every check that needs no record.
 * @fds: (array length=n_fds): sealed memfds, outliving the proposal
 */
Proposal *
proposal_new (Executor *executor, GVariant *request, const int *fds, guint n_fds, GError **error);
void proposal_free (Proposal *proposal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Proposal, proposal_free)

/* proposal_record: @facts: of type WIRE_FACTS: exactly those that the action declares. */
Record *
proposal_record (Executor *executor, const Proposal *proposal, GVariant *facts, GError **error);

/* proposal_draft: without its facts, to see what needs none; nobody is ever shown or asked it. */
Record *proposal_draft (Executor *executor, const Proposal *proposal, GError **error);

/* proposal_check_ledger: running, open, and of what it supersedes, that it may be. */
gboolean proposal_check_ledger (Executor *executor, const Proposal *proposal, GError **error);

/* decide: NULL with US_ERROR_REFUSED where policy denies. */
PolicyDecision *decide (Executor *executor, const Record *record, GError **error);

/* decision_lifetime: seconds from PREPARE to the deadline. */
guint64 decision_lifetime (const PolicyDecision *decision);

/* request_id_check: FALSE with reason bad-message. */
gboolean request_id_check (const char *id, GError **error);

G_END_DECLS
