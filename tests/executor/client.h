/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A broker, an administrator and people with passkeys, for tests.  It speaks to an executor that
 * is reached through two functions: one of this process (bench.h), or the installed one.
 */
#pragma once

#include "service/base/handover.h"
#include "service/record/record.h"
#include "tests/passkey/fixture.h"

#include <glib.h>

#define CLIENT_MAX_FILES 4

typedef struct Client Client;

struct Client
{
  /* a connection, as the broker or as the administrator */
  int (*connect) (Client *client, gboolean admin, GError **error);
  /* (nullable): called when the message is on its way: a worker's work */
  void (*serve) (Client *client);
  gboolean leaves; /* before it is served */
  char *host;
  guint32 agent_uid; /* of agent-offboarding */
};

/* What an agent asks for, as a broker tells it.  Strings are owned. */
typedef struct
{
  char *id;
  guint32 uid;
  char *part, *run, *label, *initiator, *initiator_uid, *action;
  GVariant *arguments; /* a(sv) */
  char *claim, *supersedes, *supersedes_digest;
  int fds[CLIENT_MAX_FILES];
  guint n_fds;
} Request;

/* request_new: of agent-offboarding, for @action with no arguments, under a new id. */
Request *request_new (Client *client, const char *action);
void request_free (Request *request);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Request, request_free)
/* request_set: replaces one of the strings. */
void request_set (char **member, const char *value);
/* request_arguments: in the text format of g_variant_parse(), e.g. "[('to', <['a@b.example']>)]" */
void request_arguments (Request *request, const char *text);
void request_file (Request *request, const char *content);
GVariant *request_variant (const Request *request);

/* What prepare gave. */
typedef struct
{
  char *decision;
  GVariant *facts;
  GBytes *record;
  guint64 deadline;
  GBytes *seal;
  char *expires;
  GVariant *requirements;
} Prepare;

void prepare_clear (Prepare *prepare);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Prepare, prepare_clear)

gboolean
client_prepare (Client *client, const Request *request, Prepare *out_prepare, GError **error);
GVariant *prepared_variant (const Request *request, const Prepare *prepare);

/* What a person answers, before it is sent; a test changes a member to make it wrong. */
typedef struct
{
  char *decision, *nonce, *issued, *expires;
  char *reason; /* of a denial; "" as it is made */
  GBytes *statement, *credential;
  Assertion assertion;
} Reply;

void reply_clear (Reply *reply);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reply, reply_clear)

void reply_sign (TestKey *key,
                 const Request *request,
                 const Prepare *prepare,
                 const char *decision,
                 guint32 counter,
                 Reply *out_reply);

/* client_answer: *@out_state is "pending", "approved" or "denied". */
gboolean client_answer (Client *client,
                        const Request *request,
                        const Prepare *prepare,
                        const Reply *reply,
                        char **out_state,
                        GError **error);

/* client_approve: signs and sends; for what should work. */
gboolean client_approve (
    Client *client, TestKey *key, const Request *request, const Prepare *prepare, GError **error);

/* client_execute: the outcome; FALSE where it was refused, so that nothing was consumed here. */
gboolean client_execute (Client *client,
                         const Request *request,
                         const Prepare *prepare,
                         char **out_outcome,
                         GError **error);

gboolean client_close (Client *client, const char *request, const char *why, GError **error);
/* client_state: "none", "closed", "executing", "done", "failed" or "unknown". */
char *client_state (Client *client, const char *request);

/* client_enrol: makes a software key and enrols it; aborts where that fails. */
TestKey *client_enrol (Client *client, const char *name, uid_t uid);
TestKey *key_new (Client *client, const char *name, uid_t uid);
/* enrolment_variant: what an administrator sends for @key. */
GVariant *enrolment_variant (TestKey *key, const char *kind, const char *rp, const char *origin);

/* client_call: one message, one reply. */
gboolean client_call (Client *client,
                      gboolean admin,
                      HandoverKind kind,
                      GVariant *body,
                      const int *fds,
                      guint n_fds,
                      const char *reply_type,
                      Handover *out_reply,
                      GError **error);

/* assert_refused: with this reason, and clears the error. */
void assert_refused (gboolean result, GError **error, const char *reason);
/* assert_good: the other way round; says what the error is. */
void assert_good (gboolean result, GError **error);
