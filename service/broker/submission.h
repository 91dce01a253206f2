/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One call of Agent.Submit: what it asks, and what it holds until it is answered.  Each ends by
 * submission_fail(), submission_give() or submission_free().
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

typedef struct
{
  Broker *broker;
  Call *call;
  uid_t uid;
  char *id;
  char *key;        /* NULL for none */
  char *key_digest; /* NULL for none */
  char *turn;       /* of broker->turns; NULL where it has none */
  char *supersedes; /* request id, NULL for none */
  char *claim;
  char *action;
  GVariant *run;       /* (ssss) of WIRE_REQUEST */
  char *part;
  GVariant *arguments; /* a(sv) */
  GVariant *raw;       /* WIRE_REQUEST */
  Files *files;
  gboolean has_place;  /* of limits_reserve() */
  gboolean is_spooled;
  gboolean asks;
  Request *request;    /* what was prepared */
} Submission;

Submission *submission_new (Broker *broker, Call *call);

/* submission_read: everything that the call says, by itself and by what the broker knows. */
gboolean submission_read (Submission *submission, GError **error);

/*
 * submission_find_superseded: whose place it asks for, as long as that may be had.
 * @out_old: (nullable) (out) (transfer full) (nullable): NULL where it asks for none
 */
gboolean submission_find_superseded (const Submission *submission,
                                     Request **out_old,
                                     GError **error);

/* submission_free: gives back its place, its copies and its turn. */
void submission_free (Submission *submission);

/* submission_fail: answers with @error. */
void submission_fail (Submission *submission, const GError *error);
/* submission_give: answers with a request that was there already. */
void submission_give (Submission *submission, Request *request);

G_END_DECLS
