/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The service as an approver sees it: org.undersign1.Approver and .Request, typed. */
#pragma once

#include "module/card/model/card.h"
#include "module/card/tty/trust.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct Service Service;

/* service_open: pins the owner of org.undersign1.  Reason unreachable or bad-peer. */
Service *service_open (const Trust *trust, GError **error);
void service_close (Service *service);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Service, service_close)

typedef enum
{
  NEWS_ADDED,   /* a card came, or changed */
  NEWS_REMOVED, /* @word: its state */
  NEWS_CHANGED, /* a watched request; @word: its state */
  NEWS_LOST,    /* the owner left the bus: this Service is of no more use */
} ServiceNews;

/* @request: id, "" for NEWS_LOST.  Words of the bus: hints, to be escaped before they are shown. */
typedef void (*ServiceNotify) (ServiceNews news,
                               const char *request,
                               const char *word,
                               gpointer data);

/* service_listen: from now on; in the default main context.  One listener; NULL ends it. */
void service_listen (Service *service, ServiceNotify notify, gpointer data);

typedef struct
{
  char *id;
  char *state; /* escaped */
} ServiceRequest;

/* service_register: (element-type ServiceRequest): what waits for this person. */
GPtrArray *service_register (Service *service, GError **error);

/* service_check_id: that service_find() could find something so named; asks nobody. */
gboolean service_check_id (const char *text, GError **error);

/* service_find: the one request that waits and starts with @prefix, at least 4 digits of its id, or
 * any whole id.  (transfer full) */
char *service_find (Service *service, const char *prefix, GError **error);

Card *service_card (Service *service, const char *request, GError **error);

GBytes *service_statement (Service *service,
                           const char *request,
                           const char *decision,
                           GBytes *credential,
                           GError **error);

/* What a passkey signed, and the signature; all borrowed. */
typedef struct
{
  GBytes *statement, *credential;
  GBytes *client_data, *auth_data, *signature;
} ServiceAnswer;

/* service_approve, service_deny: the new state, escaped.  (transfer full) */
char *service_approve (Service *service,
                       const char *request,
                       const ServiceAnswer *answer,
                       GError **error);
/* @answer: (nullable): denies without a signature */
char *service_deny (Service *service,
                    const char *request,
                    const char *reason,
                    const ServiceAnswer *answer,
                    GError **error);

/* service_receipt: the bytes, unread. */
GBytes *service_receipt (Service *service, const char *request, GError **error);

typedef struct
{
  char *state, *executed, *reason, *result; /* escaped */
} ServiceOutcome;

void service_outcome_free (ServiceOutcome *outcome);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ServiceOutcome, service_outcome_free)

ServiceOutcome *service_state (Service *service, const char *request, GError **error);

/* service_wait: watches until the request has ended; runs the default main context. */
ServiceOutcome *service_wait (Service *service, const char *request, GError **error);

/* service_state_is_final: nothing more happens to a request in this state. */
gboolean service_state_is_final (const char *state);

G_END_DECLS
