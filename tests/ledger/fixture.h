/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A ledger in a folder of its own, and plausible records, passkeys and answers to put into it. */
#pragma once

#include "service/ledger/ledger.h"

#include <glib.h>

typedef struct
{
  char *root, *state, *runtime;
  Ledger *ledger;
} Fixture;

#define FIXTURE_AGENT 61184
#define FIXTURE_REQUEST "00000000000000000000000000000001"
#define FIXTURE_OTHER "00000000000000000000000000000002"
#define FIXTURE_THIRD "00000000000000000000000000000003"

void fixture_set_up (Fixture *fixture, gconstpointer data);
void fixture_tear_down (Fixture *fixture, gconstpointer data);
#define fixture_test(path, function)                                                               \
  g_test_add (path, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

void fixture_reopen (Fixture *fixture);
void fixture_close (Fixture *fixture);
char *fixture_state_path (Fixture *fixture, const char *name);
char *fixture_runtime_path (Fixture *fixture, const char *name);
/* Copies ledger.db (closed, so that it is whole) away and back. */
void fixture_backup (Fixture *fixture);
void fixture_restore (Fixture *fixture);

/* @to: the value of the only argument, a list; NULL-terminated */
Record *fixture_record (guint32 agent, const char *action, const char *const *to);
Record *fixture_record_to (const char *to);
Record *fixture_record_of_effect (const char *effect);
Record *fixture_record_of_line (const char *to); /* of type line, not a list of addresses */
Passkey *fixture_passkey (const char *name, uid_t uid, guint32 counter);
Answer *
fixture_answer (const Passkey *passkey, const char *request, const Record *record, guint32 counter);
GPtrArray *fixture_answers (void); /* an empty array of Answer */
GPtrArray *fixture_limits (void);  /* an empty array of PolicyLimit */
void fixture_limit (GPtrArray *limits, guint64 count, const char *per, gboolean all_agents);

gboolean
fixture_consume (Fixture *fixture, const char *request, const Record *record, GError **error);
gboolean
fixture_close_request (Fixture *fixture, const char *request, const char *why, GError **error);
LedgerState fixture_state (Fixture *fixture, const char *request);
void fixture_assert_reason (GError **error, const char *reason);
