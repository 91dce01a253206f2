/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a broker in hostile hands might try, as a list that runs against any executor: in a unit
 * test against one of this process (test-hostile.c), and as uid undersign against the installed one
 * (hostile-broker.c).  Each attempt must end in its named refusal, and the module must have run
 * exactly as often as the case says.
 */
#pragma once

#include "tests/executor/client.h"

#include <glib.h>

typedef struct
{
  Client *client;
  guint32 other_uid;                 /* of agent-other */
  guint32 owner_uid;                 /* of hr.jones, who owns the first agent */
  guint32 initiator_uid;             /* of hr.kim, who may open runs for it */
  TestKey *lead;                     /* of it.lead, who may approve */
  guint (*executed) (gpointer data); /* how often the module ran, in all */
  void (*backup) (gpointer data);    /* copies the ledger away, */
  void (*restore) (gpointer data);   /* and back, with the executor going on */
  gpointer data;
} Hostile;

#define HOSTILE_ACTION "hostile.act"
/* The policy that the cases need: actions/hostile.act.action and rules/hostile.rule. */
char *hostile_action (const char *marker);
extern const char *const hostile_rules;

guint hostile_count (void);
const char *hostile_name (guint i);
/* hostile_run: one case; aborts where it does not end as it must.  The last one leaves the ledger
 * behind its mark. */
void hostile_run (const Hostile *hostile, guint i);
